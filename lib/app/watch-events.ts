/**
 * Watch events: a job's record from a version on, waiting a while for the next commit where there is none yet (contract §11).
 * Guards: a page is bounded in commits and bytes whatever a record holds, and a wait in time, whatever becomes of the caller.
 */
import type { Commit } from '../job/event.ts';
import type { View } from '../job/view.ts';
import type { Ports } from './ports.ts';

export const EVENTS_COMMITS = 200;
/** A commit may weigh 300 KB, and an answer of a function 6 MB. */
export const EVENTS_BYTES = 1024 * 1024;
/** Between two looks at the record while waiting. One small read each: a watch of 25 s costs at most 25. */
const LOOK_MS = 1000;

export interface Watched {
  readonly commits: readonly Commit[];
  /** More follow than fitted. */
  readonly more: boolean;
}

/** `signal`: the caller is gone; what is answered then is read by nobody. */
export const watchEvents = async (
  ports: Ports,
  view: View,
  asked: { readonly after: number; readonly waitSeconds: number },
  signal: AbortSignal,
): Promise<Watched> => {
  const { after } = asked;
  // What was read to see whether the caller may look is good enough to say that there is something.
  if (after < view.version) return page(await ports.store.read(view.job, after));
  const until = ports.now() + asked.waitSeconds * 1000;
  // Nothing follows job_ended, and nothing between the job's version and one that it has not reached.
  while (!view.ended && after === view.version && ports.now() < until && !signal.aborted) {
    await ports.sleep(Math.min(LOOK_MS, until - ports.now()));
    if (await ports.store.readAt(view.job, after + 1)) return page(await ports.store.read(view.job, after));
  }
  return { commits: [], more: false };
};

const page = (commits: readonly Commit[]): Watched => {
  let bytes = 0;
  let count = 0;
  for (const commit of commits.slice(0, EVENTS_COMMITS)) {
    bytes += JSON.stringify(commit).length;
    // The first always fits: a page without progress would never end.
    if (count > 0 && bytes > EVENTS_BYTES) break;
    count += 1;
  }
  return { commits: commits.slice(0, count), more: count < commits.length };
};
