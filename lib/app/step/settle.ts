/**
 * Settle: to find out whether a submission whose answer was lost did land (protocols §3.5, §3.6).
 * Guards S8: "absent" is believed only from complete answers, after the settle time by the cluster's clock read in the same
 * look-up and by our own, twice, at least 30 s apart. What is not yet a fact waits in WATCH.
 */
import type { FindAnswer } from '../../cluster/port.ts';
import { outcomeOf } from '../../job/cause.ts';
import { TIMING } from '../../job/timing.ts';
import { type AttemptView, attemptOf, isUnsettled, type View } from '../../job/view.ts';
import type { Ports } from '../ports.ts';
import { readWatch, writeWatch } from '../watch.ts';
import { bindFound } from './bind.ts';
import { record, submissionOf, withScript } from './submit.ts';
import { commitFact, done, isUnreachable, nothing, type Performed, TOLD_MS, unlearnt, withSession } from './work.ts';

type Looked = Exclude<FindAnswer, { kind: 'unreachable' }>;

export const settle = async (ports: Ports, view: View, n: number): Promise<Performed> => {
  const attempt = attemptOf(view, n);
  // A look shows what was there when it began, however long its answer takes.
  const askedAt = ports.now();
  const found = await withSession(ports, attempt.cluster, attempt.login, (session) => session.find(view.job));
  if (isUnreachable(found)) return unlearnt(view, found, 'settle');
  if (found.kind === 'unreachable') return nothing(view, found.says, 'settle');
  if (found.kind === 'found' && found.objects.some((object) => object.n === n)) return bindFound(ports, view, n, found);
  if (found.kind === 'found' && !found.complete) return nothing(view, 'not every source answered', 'settle');
  return attempt.gate.mechanism === 'suspend'
    ? createAgain(ports, view, attempt, found, askedAt)
    : believeAbsent(ports, view, attempt, found, askedAt);
};

/**
 * Kubernetes: a create has no bound, so no absence is ever final; but its name is created once and comes up suspended, so the same
 * create is repeated, by whomever, until it answers (protocols §3.5). Nothing is ever "never landed" there. A refusal speaks of the
 * repeat alone: it is the attempt's once no earlier create is likely to be under way; one that lands later is swept.
 */
const createAgain = async (ports: Ports, view: View, attempt: AttemptView, found: Looked, askedAt: number): Promise<Performed> => {
  const probe = await ports.probeOf(attempt.cluster, attempt.login);
  if (!probe || !view.spec) return nothing(view, `cluster ${attempt.cluster} was never probed`, 'settle');
  const spec = await withScript(ports, view.job, view.spec);
  const submission = submissionOf(view, attempt, spec, probe);
  const answer = await withSession(ports, attempt.cluster, attempt.login, (session) => session.submit(submission));
  if (isUnreachable(answer)) return unlearnt(view, answer, 'settle');
  if (answer.kind === 'refused' && !isPast(attempt, found, askedAt)) {
    const waits = nothing(view, 'the repeat was refused, and what was sent before may still land', 'settle');
    return { ...waits, decidesAt: mayDecideAt(attempt, found, ports.now()) };
  }
  if (answer.kind === 'accepted' || answer.kind === 'refused') return done(await record(ports, view, attempt, answer));
  return nothing(view, answer.kind === 'not_now' ? answer.reason : answer.answer, 'settle');
};

/** When absence may count at all: both clocks past the settle time. */
const isPast = (attempt: AttemptView, found: Looked, now: number): boolean =>
  found.clusterNow > attempt.clusterSettleAt && now > settledAt(attempt);

/** The settle time by our own clock, counted from that commit. */
const settledAt = (attempt: AttemptView): number => attempt.plannedAt + (attempt.clusterSettleAt - attempt.clusterNow);

/** When a look can count by both clocks, as they run now: the cluster's has its own seconds, and may be behind where it was. */
const mayDecideAt = (attempt: AttemptView, found: Looked, now: number): number =>
  Math.max(settledAt(attempt), now + attempt.clusterSettleAt - found.clusterNow) + TOLD_MS;

const onceMore = (view: View, firstAt: number): Performed => ({
  ...nothing(view, 'absent after its bound; one more look decides', 'settle'),
  decidesAt: firstAt + TIMING.settleAgainSeconds * 1000,
});

const believeAbsent = async (ports: Ports, view: View, attempt: AttemptView, found: Looked, askedAt: number): Promise<Performed> => {
  const now = ports.now();
  if (!isPast(attempt, found, askedAt)) {
    return { ...nothing(view, 'not found yet, and it may still land', 'settle'), decidesAt: mayDecideAt(attempt, found, now) };
  }
  const watch = await readWatch(ports.store, view.job);
  const firstAt = watch.settle?.commit === attempt.plannedCommit ? watch.settle.absentAt : undefined;
  if (firstAt === undefined) {
    await writeWatch(ports.store, view.job, { ...watch, settle: { commit: attempt.plannedCommit, absentAt: now } });
    return onceMore(view, now);
  }
  if (askedAt - firstAt < TIMING.settleAgainSeconds * 1000) return onceMore(view, firstAt);
  const proof = `looked up completely at ${firstAt} and ${askedAt}, both after the settle time (cluster ${attempt.clusterSettleAt})`;
  const committed = await commitFact(ports, view, (newest) => {
    const latest = attemptOf(newest, attempt.n);
    if (!isUnsettled(latest) || latest.plannedCommit !== attempt.plannedCommit) return [];
    const outcome = outcomeOf('never_landed', { ran: 'no', observedAt: now, evidence: [{ source: 'look-up', message: proof }] });
    return [{ type: 'attempt_never_landed', n: attempt.n, proof, outcome }];
  });
  await writeWatch(ports.store, view.job, {});
  return done(committed);
};
