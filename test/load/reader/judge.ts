/**
 * Judge: every invariant that a record at rest can show, by rules written from the protocols and from nothing else: this folder imports
 * no code of dispatch, so a mistake in its folding or deciding cannot hide itself here.
 */
import { type RawItem, tableOf } from './items.ts';
import { judgeAttempts, judgeOrder } from './log.ts';
import { judgePoints } from './points.ts';
import { judgeQuestions } from './questions.ts';
import { judgeEnd, judgeRecovery } from './recovery.ts';
import { judgeClusters, judgeHead, judgeNotices, judgeTable, judgeTokens, type Outside } from './rest.ts';
import type { Wrong } from './wrong.ts';

const OF_A_JOB = [judgeOrder, judgeAttempts, judgeRecovery, judgeEnd, judgeQuestions, judgePoints, judgeHead];

export const judge = (items: readonly RawItem[], outside: Outside): readonly Wrong[] => {
  const table = tableOf(items);
  return [
    ...table.jobs.flatMap((job) => OF_A_JOB.flatMap((rule) => rule(job))),
    ...judgeTable(table),
    ...judgeClusters(table),
    ...judgeTokens(table, outside),
    ...judgeNotices(table, outside),
  ];
};
