/**
 * Publish a checkpoint: what a run reports of a save it has announced (protocols §8.1). Guards promise 5: a token speaks for its own
 * attempt alone, what is late is refused and noted once per run, and a report never becomes a resume point.
 */
import { judgeReport, type Report } from '../checkpoint/report.ts';
import { checkToken, type TokenKeys } from '../checkpoint/token.ts';
import type { Commit, Event } from '../job/event.ts';
import { JOB_ID } from '../job/identity.ts';
import { type Fixed, fixedByBase, fixedByPlan } from '../job/point.ts';
import { fold, isObserved, type View } from '../job/view.ts';
import { commit } from './commit.ts';
import type { Ports } from './ports.ts';

/** From here on a record has no room for publications: they are kept in `pub/` only (contract §8). */
export const LOG_PUBLICATIONS_STOP = 9000;

export type PublishAnswer =
  | { readonly kind: 'recorded' | 'kept' | 'exists' | 'late' | 'bad_token' | 'observe_only' }
  | { readonly kind: 'invalid'; readonly says: string };

export const publishCheckpoint = async (
  ports: Ports,
  keys: TokenKeys | undefined,
  job: string,
  token: string,
  report: Report,
): Promise<PublishAnswer> => {
  const who = keys && JOB_ID.test(job) ? checkToken(keys, token, job) : undefined;
  if (who?.kind !== 'valid') return { kind: 'bad_token' };
  const commits = await ports.store.read(job);
  const view = fold(commits);
  // Sealed by us for an attempt that this record does not know: a restored table, or another deployment's key.
  if (!view?.attempts[who.n - 1]) return isAdopted(view) ? { kind: 'observe_only' } : { kind: 'bad_token' };
  const judged = judgeReport(report, { n: who.n, ended: view.ended !== undefined, points: pointsOf(view), reported: reportedOf(commits) });
  if (judged.kind === 'invalid') return judged;
  if (judged.kind === 'exists') return { kind: 'exists' };
  const full = view.version >= LOG_PUBLICATIONS_STOP;
  if (judged.kind === 'late') {
    if (judged.note && !full) await record(ports, view, report, who.n, true);
    return { kind: 'late' };
  }
  if (full) return { kind: 'kept' };
  return { kind: await record(ports, view, report, who.n, false) };
};

const isAdopted = (view: View | undefined): boolean => view !== undefined && isObserved(view);

/** Judged again by the newest points: one that was fixed meanwhile makes this report late, and an end of the job, too. */
const record = async (ports: Ports, view: View, report: Report, n: number, late: boolean): Promise<'recorded' | 'late' | 'exists'> => {
  const { epoch, step, path, size } = report;
  const event: Event = {
    type: 'checkpoint_published',
    ...{ epoch, step, path },
    ...(size === undefined ? {} : { sizeBytes: size }),
    ...(late ? { late: true } : {}),
  };
  let answer: 'recorded' | 'late' | 'exists' = 'recorded';
  const committed = await commit(ports, view, `attempt:${n}`, (newest) => {
    const judged = judgeReport(report, { n, ended: newest.ended !== undefined, points: pointsOf(newest), reported: [] });
    answer = judged.kind === 'late' ? 'late' : 'recorded';
    if (late) return [event];
    const same = newest.reported?.epoch === epoch && newest.reported.step === step && newest.reported.path === path;
    if (same) answer = 'exists';
    return judged.kind === 'accepted' && !same ? [event] : undefined;
  });
  return committed.view.ended && !committed.commitId ? 'late' : answer;
};

/** Every point in the order in which it was fixed: by the plan of each attempt, and by the claims of its runs. */
export const pointsOf = (view: View): readonly Fixed[] =>
  view.attempts.flatMap((attempt) => [
    fixedByPlan(attempt.n, attempt.resume),
    ...attempt.runs.map(({ run, base }) => fixedByBase({ n: attempt.n, run, base })),
  ]);

export interface Reported {
  readonly epoch: number;
  readonly step: number;
  readonly path: string;
  readonly sizeBytes?: number;
  readonly late?: boolean;
  readonly at: number;
}

export const reportedOf = (commits: readonly Commit[]): readonly Reported[] =>
  commits.flatMap(({ at, events }) =>
    events.flatMap((event): Reported[] => {
      if (event.type !== 'checkpoint_published') return [];
      const { epoch, step, path, sizeBytes, late } = event;
      return [{ epoch, step, path, at, ...(sizeBytes === undefined ? {} : { sizeBytes }), ...(late === undefined ? {} : { late }) }];
    }),
  );
