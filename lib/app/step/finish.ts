/**
 * Finish: the end of a job is fence, look, act too (protocols §7).
 * Guards S4: `stop` is written, then one complete look at every object of the job, then what is alive is discarded and looked
 * for again, then `job_ended`. A job of which nothing could ever have reached its cluster ends without.
 */
import type { Session } from '../../cluster/port.ts';
import { jobOutcome } from '../../job/ending.ts';
import type { Because } from '../../job/event.ts';
import { type AttemptView, isObserved, lastAttempt, type View } from '../../job/view.ts';
import { isBoundTo } from '../bound.ts';
import type { Ports } from '../ports.ts';
import { commitIfNext, done, isUnreachable, nothing, type Performed, unlearnt, withSession } from './work.ts';

export const finish = async (ports: Ports, view: View, because: Because): Promise<Performed> => {
  if (!isObserved(view)) {
    for (const place of placesOf(view)) {
      const left = await withSession(ports, place.cluster, place.login, (session) => stopAndClear(session, view, because));
      if (isUnreachable(left)) return unlearnt(view, left);
      if (left !== undefined) return nothing(view, left);
    }
  }
  return done(
    await commitIfNext(ports, view, { do: 'finish', because }, (newest, now) => [
      { type: 'job_ended', outcome: jobOutcome(newest, because, now), because },
    ]),
  );
};

/** A refused or deferred attempt left nothing behind; every other may have. */
const mayHaveLanded = (attempt: AttemptView): boolean =>
  attempt.receipt !== undefined || !(attempt.outcome && attempt.outcome.cause !== 'never_landed');

const placesOf = (view: View): readonly { cluster: string; login: string }[] => {
  const places = new Map(
    view.attempts.filter(mayHaveLanded).map((a) => [`${a.cluster}#${a.login}`, { cluster: a.cluster, login: a.login }]),
  );
  return [...places.values()];
};

/** Ends that follow from the last outcome alone; all others are somebody's word, or the clock's. */
const ON_ITS_WORD: ReadonlySet<Because['kind']> = new Set(['rule', 'unmatched', 'limit']);

/**
 * That every source forgot an object is provisional (contract §3), and `stop` can never be taken back: so a look comes before it, too.
 * Why the job does not end then: a poll will tell that its attempt goes on.
 */
const showsAgain = async (session: Session, view: View): Promise<string | undefined> => {
  const last = lastAttempt(view);
  if (last?.outcome?.cause !== 'vanished') return undefined;
  const found = await session.find(view.job);
  if (found.kind === 'unreachable') return found.says;
  if (found.kind === 'absent') return undefined;
  const bound = found.objects.find(isBoundTo(last));
  if (bound && bound.state !== 'ended') return 'what seemed to have vanished is alive';
  return found.complete ? undefined : 'not every source answered';
};

/** Undefined when nothing of the job is alive; else why it cannot end yet. */
const stopAndClear = async (session: Session, view: View, because: Because): Promise<string | undefined> => {
  const shown = ON_ITS_WORD.has(because.kind) ? await showsAgain(session, view) : undefined;
  if (shown !== undefined) return shown;
  const mark = await session.fence(view.job, 'stop');
  if (mark.kind === 'unreachable') return mark.says;
  for (let looks = 0; looks < 2; looks++) {
    const found = await session.find(view.job);
    if (found.kind === 'unreachable') return found.says;
    if (found.kind === 'absent') return undefined;
    if (!found.complete) return 'not every source answered';
    const alive = found.objects.filter((object) => object.state !== 'ended');
    if (alive.length === 0) return undefined;
    for (const object of alive) {
      const answer = await session.discard(object.receipt);
      if (answer.kind === 'unreachable') return answer.says;
    }
  }
  return 'objects of this job are still alive after they were discarded';
};
