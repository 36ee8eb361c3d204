/**
 * Requeue: the same object put back in its queue (contract §5). Whether it happened is decided by a look, never by an exit
 * code: run + 1 seen reopens the attempt; a certain refusal, or the old run still ended after the settle time, does not.
 */
import type { Session } from '../../cluster/port.ts';
import { TIMING } from '../../job/timing.ts';
import { type AttemptView, attemptOf, type View } from '../../job/view.ts';
import type { Ports } from '../ports.ts';
import { commitFact, commitIfNext, done, isUnreachable, nothing, type Performed, withSession } from './work.ts';

export const requeue = async (ports: Ports, view: View, n: number): Promise<Performed> => {
  const step = { do: 'requeue' as const, n };
  const by = view.decision?.action.kind === 'requeue' ? view.decision.action.by : 'scheduler';
  let newest = view;
  if (by === 'supervisor' && attemptOf(view, n).requeueIntendedAt === undefined) {
    const intended = await commitIfNext(ports, view, step, () => [{ type: 'requeue_intended', n }]);
    if (!intended.commitId) return done(intended);
    newest = intended.view;
  }
  const attempt = attemptOf(newest, n);
  const result = await withSession(ports, attempt.cluster, attempt.login, (session) => actAndLook(ports, newest, attempt, by, session));
  return isUnreachable(result) ? nothing(newest, result.unreachable) : result;
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
  if (by === 'supervisor') {
    if (!session.requeue) return refuse(ports, view, n, 'this cluster cannot requeue');
    const answer = await session.requeue(receipt);
    if (answer.kind === 'unreachable') return nothing(view, answer.says);
    if (answer.kind === 'refused') return refuse(ports, view, n, answer.says);
    const again = await lookForRun(ports, view, attempt, session);
    if (again) return again;
  }
  const since = by === 'supervisor' ? (attempt.requeueIntendedAt ?? ports.now()) : (view.decision?.decidedAt ?? ports.now());
  if (ports.now() - since < TIMING.requeueSettleSeconds * 1000) return nothing(view, 'the next run does not show yet', 'settle');
  return refuse(ports, view, n, `run ${attempt.run} is still ended ${TIMING.requeueSettleSeconds} s later`);
};

/** Committed when the next run shows; `nothing` when the look failed; undefined when the old run is what is there. */
const lookForRun = async (ports: Ports, view: View, attempt: AttemptView, session: Session): Promise<Performed | undefined> => {
  const found = await session.find(view.job);
  if (found.kind === 'unreachable') return nothing(view, found.says);
  if (found.kind === 'absent') return undefined;
  const object = found.objects.find((o) => o.receipt.schedulerId === attempt.receipt?.schedulerId);
  if (!object || object.state === 'ended' || object.run <= attempt.run) return undefined;
  const look = { fence: attempt.look?.fence ?? 0, clusterStartedAt: found.clusterNow };
  return done(
    await commitFact(ports, view, (newest) => {
      const now = attemptOf(newest, attempt.n);
      return now.state === 'ended' && object.run > now.run ? [{ type: 'attempt_requeued', n: attempt.n, run: object.run, look }] : [];
    }),
  );
};

const refuse = async (ports: Ports, view: View, n: number, reason: string): Promise<Performed> =>
  done(
    await commitFact(ports, view, (newest) =>
      attemptOf(newest, n).state === 'ended' && newest.decision?.action.kind === 'requeue'
        ? [{ type: 'requeue_refused', n, reason: reason.slice(0, 1024) }]
        : [],
    ),
  );
