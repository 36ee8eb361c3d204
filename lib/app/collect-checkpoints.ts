/**
 * Collect checkpoints: removes old saves of a job, when somebody asks for it and never otherwise (protocols §8.4). What may go is decided by
 * checkpoint/collect.ts; here it is given what it must know, and carried out on the cluster where the saves are.
 *
 * Invariant guarded: the listing comes first and the record is read after it, so a point that was fixed in between is seen; and what
 * cannot be listed completely is left as it is.
 */
import { collect, type Doomed } from '../checkpoint/collect.ts';
import { fixedByBase } from '../job/point.ts';
import { isObserved, lastAttempt, type View } from '../job/view.ts';
import { isLive } from './alive.ts';
import { readOnlyWords } from './cluster/read-only.ts';
import { isUnreachable, withSession } from './cluster/session.ts';
import { refresh } from './load.ts';
import type { Ports } from './ports.ts';
import { pointsOf } from './publish-checkpoint.ts';

/** Of one call: what is more is left for the next, so that a caller gets an answer in time. */
export const MOST_COLLECTED = 200;

export interface Collecting {
  /** How many of those that could be resumed from stay: at least two. */
  readonly keep: number;
  /** Tells what would go, and removes nothing. */
  readonly dry: boolean;
}

export type Collected =
  | {
      readonly kind: 'collected';
      /** Of all that are there. */
      readonly kept: number;
      /** What goes, or would go, the oldest first; at most MOST_COLLECTED. */
      readonly items: readonly (Doomed & { readonly failed?: string })[];
      /** What there was no room or no time for: ask again. */
      readonly left: number;
    }
  | { readonly kind: 'unreachable'; readonly says: string }
  | { readonly kind: 'observe_only' | 'unsupported' | 'read_only'; readonly says: string };

export const collectCheckpoints = async (ports: Ports, view: View, asked: Collecting): Promise<Collected> => {
  const { spec } = view;
  const attempt = lastAttempt(view);
  if (isObserved(view) || !spec) return { kind: 'observe_only', says: 'this job was submitted by someone else: its saves are not known' };
  if (!attempt) return { kind: 'collected', kept: 0, items: [], left: 0 };
  if (!asked.dry && ports.clusters.get(attempt.cluster)?.readOnly) return { kind: 'read_only', says: readOnlyWords(attempt.cluster) };
  const said = await withSession(ports, attempt.cluster, attempt.login, async (session): Promise<Collected> => {
    if (!session.collect) return { kind: 'unsupported', says: 'this cluster keeps no saves that could be removed from here' };
    const listed = await session.listPublications(view.job, spec);
    if (!listed) return { kind: 'unreachable', says: 'the publications could not be listed completely' };
    if (listed.unread) return { kind: 'unreachable', says: 'the base of a run cannot be read, so what is still needed is not known' };
    const newest = await refresh(ports.store, view);
    const doomed = collect({
      listed: listed.publications,
      points: [...pointsOf(newest), ...listed.bases.map(fixedByBase)].sort((a, b) => a.epoch - b.epoch),
      isLive: isLive(newest, ports.now()),
      keep: asked.keep,
    });
    const now = doomed.slice(0, MOST_COLLECTED);
    const told = { kind: 'collected' as const, kept: listed.publications.length - doomed.length, items: now };
    if (asked.dry) return { ...told, left: doomed.length - now.length };
    // Also where nothing goes: what an earlier call put aside may be left.
    const answer = await session.collect(view.job, spec, now);
    if (answer.kind === 'unreachable') return answer;
    const { markers, saves, failed, left } = answer;
    ports.log('info', 'checkpoints collected', { job: view.job, keep: asked.keep, markers, saves, failed: failed.length, left });
    const why = new Map(failed.map(({ path, says }) => [path, says]));
    const items = now.slice(0, now.length - left).map((one) => {
      const says = why.get(one.publication.path);
      return says === undefined ? one : { ...one, failed: says };
    });
    return { ...told, items, left: doomed.length - items.length };
  });
  return isUnreachable(said) ? { kind: 'unreachable', says: said.unreachable } : said;
};
