/**
 * planText: the plan as people read it in a terminal (contract §6). No colour and no width of its own: lines of text.
 */
import type { Plan } from './plan-schema.ts';
import { formatDuration, formatMemory } from './quantity.ts';

export const planText = (plan: Plan): string[] => [
  ...headLines(plan),
  '',
  ...ruleLines(plan),
  '',
  ...table(enforcerRows(plan)),
  ...remarkLines('warning', plan.warnings),
  ...remarkLines('refused', plan.refusals),
  '',
  plan.refusals.length === 0
    ? `can be submitted as planned; digest ${plan.digest}`
    : `cannot be submitted: ${count(plan.refusals.length, 'refusal')}`,
];

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

const headLines = ({ summary, cluster, login }: Plan): string[] => {
  const gpus = summary.gpusPerNode === 0 ? '' : ` × ${gpuWords(summary)}`;
  const memory = summary.memoryPerNodeMi === undefined ? '' : `, ${formatMemory(summary.memoryPerNodeMi)} per node`;
  const limits = `${formatDuration(summary.timeLimitSeconds)} each, at most ${count(summary.attempts, 'attempt')}`;
  const who = login ? `as ${login.user}` : 'as nobody';
  return [`${summary.name} on ${cluster.id} (${cluster.kind}) ${who}: ${count(summary.nodes, 'node')}${gpus}${memory}, ${limits}`];
};

const gpuWords = ({ gpuType, gpusPerNode }: Plan['summary']): string => (gpuType ? `${gpusPerNode} ${gpuType}` : count(gpusPerNode, 'GPU'));

const ruleLines = ({ rules, summary }: Plan): string[] => {
  const rows = rules.map((rule) => [
    `rule ${rule.index}`,
    rule.on.join(', '),
    rule.enforcer,
    rule.says,
    `told apart: ${rule.detects.support}${weakest(rule.detects.by)}`,
  ]);
  const unmatched = {
    escalate: 'asks',
    stop: 'ends the job with its outcome',
    relaunch_once: 'relaunches once from the latest checkpoint',
  };
  const lines = rows.flatMap(([name, on, who, what, told]) => [[name, on, who, what] as const, ['', '', '', told] as const]);
  return table([...lines, ['else', '', 'supervisor', unmatched[summary.unmatched]]]);
};

/** The capabilities behind a detection that is not a plain yes, with what the probe said. */
const weakest = (by: Plan['rules'][number]['detects']['by']): string => {
  const weak = by.filter((told) => told.support !== 'yes').map((told) => `${told.by} ${told.support}: ${told.evidence}`);
  return weak.length > 0 ? ` (${weak.join('; ')})` : '';
};

const enforcerRows = ({ gate, enforces }: Plan): string[][] => [
  [
    'gate',
    gate
      ? `${gate.mechanism}: ${gate.says}${gate.selfDestructs ? '' : '; an unreleased attempt stays until it is discarded'}`
      : 'not known',
  ],
  ['time limit', enforces.timeLimit],
  ['deadline', enforces.deadline],
  ['patience', enforces.patience],
  ['stalls', enforces.stalls],
  ['cancel', enforces.cancellation],
  ['one task fails', enforces.oneTaskFails],
];

const remarkLines = (word: string, remarks: Plan['warnings']): string[] =>
  remarks.length === 0
    ? []
    : ['', ...table(remarks.map(({ path, says, evidence }) => [word, path, evidence === undefined ? says : `${says} (${evidence})`]))];

const WIDEST_COLUMN = 44;
/** Columns aligned but for the last; a cell wider than most pushes only its own line. A cluster's words steer no terminal. */
const table = (rows: readonly (readonly (string | undefined)[])[]): string[] => {
  const plain = rows.map((row) => row.map((cell) => (cell ?? '').replace(/\p{Cc}+/gu, ' ')));
  const columns = Math.max(0, ...plain.map((row) => row.length - 1));
  const widths = Array.from({ length: columns }, (_, i) => Math.min(WIDEST_COLUMN, Math.max(...plain.map((row) => row[i]?.length ?? 0))));
  return plain.map((row) =>
    row
      .map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell))
      .join('  ')
      .trimEnd(),
  );
};
