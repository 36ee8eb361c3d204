/**
 * The evidence of an end: the raw words of every source, so that a person can judge the judgement.
 *
 * Invariant: bounded whatever a node, a site or a program printed: one entry per source, four for steps, each text cut.
 */
import type { Evidence } from '../../job/cause.ts';
import type { Sources } from './classify.ts';
import type { AccountingRow } from './sacct.ts';

export const evidenceOf = (sources: Sources, row: AccountingRow | undefined): Evidence[] => {
  const { controller, files, stderr } = sources;
  const evidence: Evidence[] = [];
  const text = (value: string, most = 1024): string => value.slice(0, most);
  if (controller) {
    evidence.push({
      source: 'squeue',
      state: controller.state,
      reason: text(controller.reason),
      ...(controller.exit ? { exitCode: `${controller.exit.code}:${controller.exit.signal}` } : {}),
      ...(controller.nodes ? { nodes: text(controller.nodes) } : {}),
      ...(controller.end === undefined ? {} : { at: controller.end * 1000 }),
    });
  }
  if (row) {
    evidence.push({
      source: 'sacct',
      state: text(row.state, 256),
      ...(row.exit ? { exitCode: `${row.exit.code}:${row.exit.signal}` } : {}),
      ...(row.nodes ? { nodes: text(row.nodes) } : {}),
      ...(row.end === undefined ? {} : { at: row.end * 1000 }),
    });
    for (const step of row.steps.filter((one) => one.state !== 'COMPLETED').slice(0, 4)) {
      evidence.push({
        source: `sacct step ${step.step}`.slice(0, 64),
        state: text(step.state, 256),
        ...(step.exit ? { exitCode: `${step.exit.code}:${step.exit.signal}` } : {}),
      });
    }
  }
  if (files?.result) evidence.push({ source: 'result file', exitCode: String(files.result.exit), at: files.result.endedAt });
  if (files?.refused) evidence.push({ source: 'wrapper', reason: text(files.refused.says) });
  const last = stderr.trimEnd();
  if (last !== '') evidence.push({ source: 'stderr', message: last.slice(-1024) });
  return evidence;
};
