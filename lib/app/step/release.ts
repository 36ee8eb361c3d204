/**
 * Release: fence, look, act (protocols §4.3).
 * Guards S1 and S2: the intention is committed, then the mark is written (from now on nothing else of this job can begin),
 * then every live object of the *job* is looked for; only the bound object alone is released. A look that finds more is
 * believed only if the record, read again after it, has not moved.
 */
import type { FindAnswer, FoundObject, Session } from '../../cluster/port.ts';
import { never } from '../../job/assertion.ts';
import type { Event } from '../../job/event.ts';
import { nextStep } from '../../job/next-step.ts';
import { type AttemptView, attemptOf, type View } from '../../job/view.ts';
import { fenceWaitMs } from '../alive.ts';
import { isBoundTo } from '../bound.ts';
import { refresh } from '../load.ts';
import type { Ports } from '../ports.ts';
import { commitFact, commitIfNext, done, intend, isUnreachable, nothing, type Performed, TOLD_MS, unlearnt, withSession } from './work.ts';

export const release = async (ports: Ports, view: View, n: number): Promise<Performed> => {
  const isIntended = (at: View): boolean => attemptOf(at, n).releaseIntendedAt !== undefined;
  const { view: newest, instead } = await intend(ports, view, { do: 'release', n }, { type: 'release_intended', n }, isIntended);
  if (instead) return instead;
  const attempt = attemptOf(newest, n);
  const result = await withSession(ports, attempt.cluster, attempt.login, (session) => fenceLookAct(ports, newest, attempt, session));
  return isUnreachable(result) ? unlearnt(newest, result) : result;
};

const fenceLookAct = async (ports: Ports, view: View, attempt: AttemptView, session: Session): Promise<Performed> => {
  const receipt = attempt.receipt;
  if (!receipt) return nothing(view, 'nothing is bound');
  const mark = await session.fence(view.job, { n: attempt.n, schedulerId: receipt.schedulerId });
  if (mark.kind === 'unreachable') return nothing(view, mark.says);
  if (mark.holds !== receipt.schedulerId)
    return nothing(view, `the mark of attempt ${attempt.n} names ${mark.holds}, not ${receipt.schedulerId}`);
  const untilFenced = (clusterNow: number, seen: readonly FoundObject[]): Performed | undefined => {
    const now = ports.now();
    // By both clocks: the cluster's may jump ahead, and the intention is not younger than its mark.
    const markAgeMs = Math.min(clusterNow - mark.clusterWrittenAt, now - (attempt.releaseIntendedAt ?? now));
    const fencesInMs = fenceWaitMs(view, attempt, markAgeMs, now, seen);
    if (fencesInMs <= 0) return undefined;
    return { ...nothing(view, 'an earlier run may still be alive: waiting until it is fenced'), decidesAt: now + fencesInMs + TOLD_MS };
  };
  const known = untilFenced(mark.clusterNow, []);
  if (known) return known;
  const found = await session.find(view.job);
  if (found.kind === 'unreachable') return nothing(view, found.says);
  const objects = found.kind === 'found' ? found.objects : [];
  const isBound = isBoundTo(attempt);
  const others = objects.filter((object) => object.state !== 'ended' && !isBound(object));
  if (others.length > 0) return recordOthers(ports, view, attempt, others);
  // What was found stands, but only a complete look shows that there is nobody else (P3.6).
  if (found.kind === 'found' && !found.complete) return nothing(view, 'not every source answered: another object may be alive');
  // A stranger may have put an earlier attempt back and lost it again, between two polls.
  const unknown = found.kind === 'found' && untilFenced(found.clusterNow, objects);
  if (unknown) return unknown;
  const bound = objects.find(isBound);
  // Absent or ended: there is nothing to release, and only evidence ends an attempt (a poll brings it).
  if (!bound || bound.state === 'ended') return nothing(view, 'the bound object is not there to release');
  // Read again after the look, before the effect: a cancel may have come meanwhile (S5).
  const now = await refresh(ports.store, view);
  const next = nextStep(now, ports.now());
  // Of this attempt: meanwhile it may have been given up, and the next one be waiting for its release.
  if (next.do !== 'release' || next.n !== attempt.n) return { kind: 'committed', view: now };
  const answer = await session.release(receipt, attempt.gate);
  switch (answer.kind) {
    case 'unreachable':
      return nothing(now, answer.says);
    case 'refused':
      ports.log('warn', 'release refused', { job: view.job, n: attempt.n, says: answer.says });
      return attempt.releasedAt === undefined ? done(await released(ports, now, attempt.n)) : nothing(now, answer.says);
    case 'sent':
      if (attempt.releasedAt !== undefined) return nothing(now, 'released again');
      return done(await released(ports, now, attempt.n, await session.find(view.job)));
    default:
      return never(answer);
  }
};

/**
 * Exit codes prove nothing; this only says that it was asked for. A look on the same connection mostly shows at once that the gate is
 * open, and saves the supervisor the wake at which it would release again; whatever else it shows is left to the next poll.
 */
const released = (ports: Ports, view: View, n: number, look?: FindAnswer) =>
  commitFact(ports, view, (newest) => {
    const attempt = attemptOf(newest, n);
    if (attempt.releasedAt !== undefined || attempt.state === 'ended') return [];
    return [{ type: 'attempt_released', n }, ...pastItsGate(attempt, look)];
  });

const pastItsGate = (attempt: AttemptView, look: FindAnswer | undefined): readonly Event[] => {
  if (look?.kind !== 'found' || attempt.state !== 'gated') return [];
  const bound = look.objects.find(isBoundTo(attempt));
  if (!bound || bound.state === 'gated' || bound.state === 'ended' || bound.run !== attempt.run) return [];
  const seen = { fence: attempt.look?.fence ?? 0, clusterStartedAt: look.clusterNow };
  return [{ type: 'attempt_observed', n: attempt.n, state: bound.state, run: bound.run, look: seen }];
};

const recordOthers = async (ports: Ports, view: View, attempt: AttemptView, others: readonly FoundObject[]): Promise<Performed> => {
  const now = await refresh(ports.store, view);
  if (now.version !== view.version) return { kind: 'committed', view: now };
  const known = new Set(attempt.duplicates.filter((d) => !d.discarded).map((d) => d.receipt.schedulerId));
  const committed = await commitIfNext(ports, now, { do: 'release', n: attempt.n }, () =>
    others
      .filter((object) => !known.has(object.receipt.schedulerId))
      .map((object) => ({ type: 'duplicate_found' as const, n: attempt.n, receipt: object.receipt, running: object.state === 'running' })),
  );
  return committed.commitId ? done(committed) : nothing(committed.view, 'another object of this job is alive');
};
