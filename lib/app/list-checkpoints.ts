/**
 * List checkpoints: what a job's saves stand for (protocols §8.2): from the record alone, or, on request, from a listing of `pub/` on
 * its cluster. Guards: without a complete listing nothing is said to be what the next run resumes from.
 */
import { resolve, type Shown } from '../checkpoint/resolve.ts';
import { fixedByBase, type Published } from '../job/point.ts';
import { fold, isObserved, lastAttempt, type View } from '../job/view.ts';
import { isUnreachable, withSession } from './cluster/session.ts';
import type { Ports } from './ports.ts';
import { pointsOf, type Reported, reportedOf } from './publish-checkpoint.ts';

export interface ShownCheckpoint extends Shown {
  readonly sizeBytes?: number;
  readonly reportedAt?: number;
}

export type Checkpoints =
  | {
      readonly kind: 'listed';
      /** `pub/` was listed completely just now; else this is what the record holds. */
      readonly refreshed: boolean;
      /** The greatest last. */
      readonly items: readonly ShownCheckpoint[];
    }
  | { readonly kind: 'unreachable'; readonly says: string }
  | { readonly kind: 'observe_only' };

export const listCheckpoints = async (ports: Ports, view: View, refresh: boolean): Promise<Checkpoints> => {
  const commits = await ports.store.read(view.job);
  const newest = fold(commits) ?? view;
  const reported = reportedOf(commits);
  const points = pointsOf(newest);
  if (!refresh) {
    const known = dedupe(newest.attempts.flatMap(({ resume, runs }) => [resume, ...runs.flatMap((run) => run.latest ?? [])]));
    return { kind: 'listed', refreshed: false, items: shown(resolve(points, known, reported).publications, reported) };
  }
  const { spec } = newest;
  const attempt = lastAttempt(newest);
  if (isObserved(newest) || !spec) return { kind: 'observe_only' };
  if (!attempt) return { kind: 'listed', refreshed: true, items: [] };
  const listed = await withSession(
    ports,
    attempt.cluster,
    attempt.login,
    (session) => session.listPublications(newest.job, spec),
    'output',
  );
  if (isUnreachable(listed)) return { kind: 'unreachable', says: listed.unreachable };
  if (!listed) return { kind: 'unreachable', says: 'the publications could not be listed completely' };
  const all = [...points, ...listed.bases.map(fixedByBase)].sort((a, b) => a.epoch - b.epoch);
  return { kind: 'listed', refreshed: true, items: shown(resolve(all, listed.publications, reported).publications, reported) };
};

const dedupe = (points: readonly Published[]): readonly Published[] => [
  ...new Map(points.filter((one) => one.step >= 0).map((one) => [`${one.epoch} ${one.step} ${one.path}`, one])).values(),
];

const shown = (publications: readonly Shown[], reported: readonly Reported[]): readonly ShownCheckpoint[] =>
  publications.map((one) => {
    const report = reported.find((other) => other.epoch === one.epoch && other.step === one.step && other.path === one.path);
    if (!report) return one;
    return { ...one, reportedAt: report.at, ...(report.sizeBytes === undefined ? {} : { sizeBytes: report.sizeBytes }) };
  });
