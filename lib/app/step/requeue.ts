/**
 * Requeue: the same object put back in its queue (contract §5). Whether it happened is decided by a look, never by an exit
 * code: run + 1 seen reopens the attempt; a certain refusal, or the old run still ended after the settle time, does not.
 */
import type { Session } from '../../cluster/port.ts';
import { nextStep } from '../../job/next-step.ts';
import { TIMING } from '../../job/timing.ts';
import { type AttemptView, attemptOf, type View } from '../../job/view.ts';
import { isBoundTo } from '../bound.ts';
import { refresh } from '../load.ts';
import type { Ports } from '../ports.ts';
import { readWatch, writeWatch } from '../watch.ts';
import { commitFact, done, intend, isUnreachable, nothing, type Performed, unlearnt, withSession } from './work.ts';

export const requeue = async (ports: Ports, view: View, n: number): Promise<Performed> => {
  const by = view.decision?.action.kind === 'requeue' ? view.decision.action.by : 'scheduler';
  // What the scheduler does by itself is nobody's intention here.
  const isIntended = (at: View): boolean => by === 'scheduler' || attemptOf(at, n).requeueIntendedAt !== undefined;
  const { view: newest, instead } = await intend(ports, view, { do: 'requeue', n }, { type: 'requeue_intended', n }, isIntended);
  if (instead) return instead;
  const attempt = attemptOf(newest, n);
  const result = await withSession(ports, attempt.cluster, attempt.login, (session) => actAndLook(ports, newest, attempt, by, session));
  return isUnreachable(result) ? unlearnt(newest, result) : result;
};

const actAndLook = async (
  ports: Ports,
  view: View,
  attempt: AttemptView,
  by: 'scheduler' | 'supervisor',
  session: Session,
): Promise<Performed> => {
  const { receipt, n } = attempt;
  if (!receipt) return nothing(view, 'nothing is bound');
  const seen = await lookForRun(ports, view, attempt, session);
  if (seen) return seen;
  if (by === 'scheduler') return settled(ports, view, attempt, view.decision?.decidedAt ?? ports.now());
  if (!session.requeue) return refuse(ports, view, attempt, 'this cluster cannot requeue');
  // Read again after the look, before the effect: a cancel may have come meanwhile, or another supervisor been faster (S5).
  const now = await refresh(ports.store, view);
  const next = nextStep(now, ports.now());
  if (next.do !== 'requeue' || next.n !== n || attemptOf(now, n).run !== attempt.run) return { kind: 'committed', view: now };
  const answer = await session.requeue(receipt);
  if (answer.kind === 'unreachable') return nothing(now, answer.says);
  // What is refused may be so because an earlier request, or a person's, has landed meanwhile.
  if (answer.kind === 'refused') return (await lookForRun(ports, now, attempt, session)) ?? refuse(ports, now, attempt, answer.says);
  const sentAt = await firstSent(ports, now, attempt);
  return (await lookForRun(ports, now, attempt, session)) ?? settled(ports, now, attempt, sentAt);
};

/** Since when the next run may show: the intention may be older by as long as the cluster could not be reached. Kept in WATCH. */
const firstSent = async (ports: Ports, view: View, { n, run }: AttemptView): Promise<number> => {
  const watch = await readWatch(ports.store, view.job);
  if (watch.requeue?.n === n && watch.requeue.run === run) return watch.requeue.sentAt;
  const sentAt = ports.now();
  await writeWatch(ports.store, view.job, { ...watch, requeue: { n, run, sentAt } });
  return sentAt;
};

const settled = async (ports: Ports, view: View, attempt: AttemptView, since: number): Promise<Performed> =>
  ports.now() - since < TIMING.requeueSettleSeconds * 1000
    ? nothing(view, 'the next run does not show yet', 'settle')
    : refuse(ports, view, attempt, `run ${attempt.run} is still ended ${TIMING.requeueSettleSeconds} s later`);

/** Committed when the next run shows; `nothing` when the look failed; undefined when the old run is what is there. */
const lookForRun = async (ports: Ports, view: View, attempt: AttemptView, session: Session): Promise<Performed | undefined> => {
  const asked = await session.clock();
  const found = await session.find(view.job);
  if (found.kind === 'unreachable') return nothing(view, found.says);
  if (asked === undefined) return nothing(view, 'the cluster does not tell its time');
  // What a source remembers of an earlier moment says nothing of what was done since.
  if (found.clusterNow < asked) return nothing(view, 'the look shows an earlier moment');
  if (found.kind === 'absent') return undefined;
  const object = found.objects.find(isBoundTo(attempt));
  if (!object && !found.complete) return nothing(view, 'not every source answered');
  // Also one that has ended since: it was begun, it counts, and its end is for a poll to tell.
  if (!object || object.run <= attempt.run) return undefined;
  const look = { fence: attempt.look?.fence ?? 0, clusterStartedAt: found.clusterNow };
  return done(
    await commitFact(ports, view, (newest) => {
      const now = attemptOf(newest, attempt.n);
      return now.state === 'ended' && object.run > now.run ? [{ type: 'attempt_requeued', n: attempt.n, run: object.run, look }] : [];
    }),
  );
};

const refuse = async (ports: Ports, view: View, { n, run }: AttemptView, reason: string): Promise<Performed> =>
  done(
    await commitFact(ports, view, (newest) => {
      const now = attemptOf(newest, n);
      // About the run that was looked at: a later one that has ended, too, has a decision of its own.
      return now.state === 'ended' && now.run === run && newest.decision?.action.kind === 'requeue'
        ? [{ type: 'requeue_refused', n, reason: reason.slice(0, 1024) }]
        : [];
    }),
  );
