/**
 * The evidence of an end: the raw words of every source, so that a person can judge the judgement.
 *
 * Invariant: bounded whatever a node, a site or a program printed: one entry per source, four for steps, each text cut, 8 KiB together.
 */
import type { Evidence } from '../../job/cause.ts';
import type { Sources } from './classify.ts';
import { cut, cutStart } from './cut.ts';
import type { AccountingRow } from './sacct.ts';

/** Of one event, as JSON (contract §8). */
const MOST_BYTES = 8 * 1024;

export const evidenceOf = (sources: Sources, row: AccountingRow | undefined): Evidence[] => {
  // What JSON writes of a text may be six times its bytes; only hostile text is more than twice.
  for (const most of [1024, 512, 256]) {
    const evidence = collect(sources, row, most);
    if (Buffer.byteLength(JSON.stringify(evidence)) <= MOST_BYTES) return evidence;
  }
  return collect(sources, row, 64);
};

const collect = (sources: Sources, row: AccountingRow | undefined, most: number): Evidence[] => {
  const { controller, files, stderr } = sources;
  const evidence: Evidence[] = [];
  const text = (value: string): string => cut(value, most);
  const word = (value: string): string => cut(value, Math.min(most, 256));
  if (controller) {
    evidence.push({
      source: 'squeue',
      state: word(controller.state),
      reason: text(controller.reason),
      ...(controller.exit ? { exitCode: `${controller.exit.code}:${controller.exit.signal}` } : {}),
      ...(controller.nodes ? { nodes: text(controller.nodes) } : {}),
      ...(controller.end === undefined ? {} : { at: controller.end * 1000 }),
    });
  }
  if (row) {
    evidence.push({
      source: 'sacct',
      state: word(row.state),
      ...(row.exit ? { exitCode: `${row.exit.code}:${row.exit.signal}` } : {}),
      ...(row.nodes ? { nodes: text(row.nodes) } : {}),
      ...(row.end === undefined ? {} : { at: row.end * 1000 }),
    });
    for (const step of row.steps.filter((one) => one.state !== 'COMPLETED').slice(0, 4)) {
      evidence.push({
        source: cut(`sacct step ${step.step}`, 64),
        state: word(step.state),
        ...(step.exit ? { exitCode: `${step.exit.code}:${step.exit.signal}` } : {}),
      });
    }
  }
  if (files?.result) evidence.push({ source: 'result file', exitCode: String(files.result.exit), at: files.result.endedAt });
  if (files?.refused) evidence.push({ source: 'wrapper', reason: text(files.refused.says) });
  const last = stderr.trimEnd();
  if (last !== '') evidence.push({ source: 'stderr', message: cutStart(last, most) });
  return evidence;
};
