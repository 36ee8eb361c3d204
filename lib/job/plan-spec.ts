/**
 * What a spec says to a cluster of this kind: program, times and checkpoint, checked with numbers before anything starts
 * (contract §4, §5; C061).
 */
import { nearest } from './nearest.ts';
import { evidenceOf, named, type PlanInput, type Remark, refusal, supportOf, warning } from './plan-input.ts';
import { formatDuration } from './quantity.ts';
import { counted, quote } from './refusal.ts';

/** A rendered submission as it is stored with its plan. */
export const SUBMISSION_CHARACTERS = 256 * 1024;
const TELLTALE = ['TOKEN', 'SECRET', 'PASSWORD', 'KEY'] as const;

export const specRemarks = (input: PlanInput): Remark[] => [
  ...programRemarks(input),
  ...timeRemarks(input),
  ...checkpointRemarks(input),
  ...progressRemarks(input),
  ...renderingRemarks(input),
];

const programRemarks = ({ spec, cluster, probe, secrets }: PlanInput): Remark[] => {
  const { program } = spec;
  const remarks: Remark[] = [];
  if (cluster.kind === 'kubernetes') {
    if (program.image === undefined) remarks.push(refusal('program.image', 'is required on Kubernetes'));
    if (program.script !== undefined) remarks.push(refusal('program.script', 'cannot run on Kubernetes; use command'));
  }
  if (cluster.kind === 'slurm' && program.image !== undefined && probe && !['yes', 'partly'].includes(supportOf(probe, 'containers')))
    remarks.push(refusal('program.image', `${cluster.id} runs no containers; leave it out`, evidenceOf(probe, 'containers')));
  for (const name of Object.keys(program.env)) {
    const found = TELLTALE.find((word) => name.toUpperCase().includes(word));
    if (found)
      remarks.push(warning(`program.env.${name}`, `its name contains ${found}, and env is kept in the record; put it into secrets`));
  }
  // Kubernetes keeps its own, beside its jobs.
  for (const [name, { ref }] of Object.entries(program.secrets))
    if (cluster.kind !== 'kubernetes' && secrets && !secrets.includes(ref))
      remarks.push(refusal(`program.secrets.${name}.ref`, noSecret(ref, secrets)));
  return remarks;
};

const noSecret = (ref: string, known: readonly string[]): string => {
  if (known.length === 0) return 'this deployment gives you no secrets here; ask who operates it';
  const near = nearest(ref, known);
  return `${quote(ref)} is no secret that you may use here;${near === undefined ? '' : ` did you mean "${near}"?`} known: ${named(known)}`;
};

const timeRemarks = ({ spec, now }: PlanInput): Remark[] => {
  const { deadline, timeLimitSeconds } = spec;
  const { wallClockSeconds, attempts } = spec.policy.limits;
  const remarks: Remark[] = [];
  if (deadline !== undefined && deadline <= now) remarks.push(refusal('deadline', 'has already passed; choose a later one'));
  else if (deadline !== undefined && now + timeLimitSeconds * 1000 > deadline)
    remarks.push(warning('deadline', `comes before one whole time limit, ${formatDuration(timeLimitSeconds)}, could pass`));
  if (wallClockSeconds !== undefined && wallClockSeconds < timeLimitSeconds)
    remarks.push(
      warning('policy.limits.wallClock', `is shorter than one whole time limit, ${formatDuration(timeLimitSeconds)}, queueing not counted`),
    );
  if (spec.policy.unmatched === 'relaunch_once' && attempts === 1)
    remarks.push(warning('policy.unmatched', 'relaunch_once never happens: limits.attempts is 1'));
  return remarks;
};

const checkpointRemarks = ({ spec, probe }: PlanInput): Remark[] => {
  if (!spec.checkpoint?.root?.startsWith('s3://') || !probe || supportOf(probe, 'checkpoint_files') === 'yes') return [];
  const { support, evidence } = probe.capabilities.checkpoint_files;
  const why = `checkpoint_files is "${support}" here`;
  return [
    warning('checkpoint.root', `nodes may not reach it: ${why}; publications may fail`, evidence),
    ...spec.policy.rules.flatMap((rule, i) =>
      'requeue' in rule.do
        ? [refusal(`policy.rules[${i}].do.requeue`, `nobody can resume the next run from an s3:// root: ${why}; use relaunch`, evidence)]
        : [],
    ),
  ];
};

const progressRemarks = ({ spec, probe }: PlanInput): Remark[] => {
  const { attemptsWithoutProgress, stalledAfterSeconds } = spec.policy.limits;
  const remarks: Remark[] = [];
  if (attemptsWithoutProgress !== undefined && !spec.checkpoint)
    remarks.push(refusal('policy.limits.attemptsWithoutProgress', 'progress is told by publications; add checkpoint or leave it out'));
  if (stalledAfterSeconds !== undefined && probe && supportOf(probe, 'detects_progress') === 'no')
    remarks.push(
      refusal(
        'policy.limits.stalledAfter',
        'nobody can enforce it: no progress is seen here; leave it out',
        evidenceOf(probe, 'detects_progress'),
      ),
    );
  for (const [i, rule] of spec.policy.rules.entries())
    if (rule.on.includes('stalled') && stalledAfterSeconds === undefined)
      remarks.push(warning(`policy.rules[${i}].on`, 'stalled never happens without policy.limits.stalledAfter'));
  return remarks;
};

const renderingRemarks = ({ rendering }: PlanInput): Remark[] => {
  if (!rendering) return [];
  const size = rendering.text.length;
  return [
    ...rendering.refusals.map(({ path, says }) => refusal(path, says)),
    ...rendering.warnings.map(({ path, says }) => warning(path, says)),
    ...(size > SUBMISSION_CHARACTERS
      ? [refusal('program', `the submission has ${counted(size)} characters; at most ${counted(SUBMISSION_CHARACTERS)} are allowed`)]
      : []),
  ];
};
