/**
 * Submit: one attempt planned, looked up, sent once, and its answer recorded (protocols §3).
 * Guards S3 and promise 5: nothing is sent that `attempt_planned` did not name, under a bound that this very commit holds, by
 * anyone but its committer; and what the answer leaves open is settled before anything else may begin.
 */
import type { Session, Submission, SubmitAnswer } from '../../cluster/port.ts';
import { assert } from '../../job/assertion.ts';
import type { Probe } from '../../job/capability.ts';
import { submissionWords } from '../../job/cluster-why.ts';
import type { Event, EventOf, Point } from '../../job/event.ts';
import { NOTHING } from '../../job/event.ts';
import { epochOf, identityOf } from '../../job/identity.ts';
import { requeueOf } from '../../job/plan-input.ts';
import { fixedByBase, fixedByPlan, lastFixed, latest } from '../../job/point.ts';
import { seeded } from '../../job/seed.ts';
import type { Spec } from '../../job/spec.ts';
import { TIMING } from '../../job/timing.ts';
import { type AttemptView, attemptOf, lastAttempt, type View } from '../../job/view.ts';
import { clusterView } from '../cluster/load.ts';
import { readOnlyWords } from '../cluster/read-only.ts';
import type { Ports } from '../ports.ts';
import { bindFound } from './bind.ts';
import { commitFact, commitIfNext, done, isUnreachable, nothing, type Performed, unlearnt, withSession } from './work.ts';

export const submit = async (ports: Ports, view: View, n: number): Promise<Performed> => {
  const spec = view.spec;
  const configuration = spec && ports.clusters.get(spec.cluster);
  if (!spec || !configuration) return nothing(view, `the configuration does not name cluster ${spec?.cluster ?? '?'}`);
  if (configuration.readOnly) return nothing(view, readOnlyWords(spec.cluster));
  // The answer `block_submissions` holds back what was accepted before it, too (contract §8).
  const refused = submissionWords(await clusterView(ports.store, spec.cluster));
  if (refused) return nothing(view, refused);
  const probe = await ports.probeOf(spec.cluster, view.login);
  if (!probe) return nothing(view, `cluster ${spec.cluster} was never probed`);
  const whole = await withScript(ports, view.job, spec);
  const result = await withSession(ports, spec.cluster, view.login, (session) => planAndSend(ports, view, n, whole, probe, session));
  return isUnreachable(result) ? unlearnt(view, result) : result;
};

/** The spec with its script in place of the blob's digest. */
export const withScript = async (ports: Ports, job: string, spec: Spec): Promise<Spec> => {
  const digest = spec.program.script?.startsWith('sha256:') ? spec.program.script.slice(7) : undefined;
  if (digest === undefined) return spec;
  const script = await ports.store.getBlob(job, digest);
  // Stored before the event that names it: without it nothing may be sent, least of all its digest.
  assert(script !== undefined, `job ${job}: the blob of its script is gone`);
  return { ...spec, program: { ...spec.program, script } };
};

const planAndSend = async (ports: Ports, view: View, n: number, spec: Spec, probe: Probe, session: Session): Promise<Performed> => {
  const resume = await resumePoint(view, n, spec, session);
  if (!resume) return nothing(view, 'the publications could not be listed, or the base of a run not be read');
  const clusterNow = await session.clock();
  if (clusterNow === undefined) return nothing(view, 'the cluster did not tell its time');
  const options = { requeue: requeueOf(spec.policy), patienceSeconds: spec.patienceSeconds };
  const gate = session.gateFor(spec, probe, options, clusterNow);
  const planned = await commitIfNext(ports, view, { do: 'submit', n }, (newest) => [
    plan(ports, newest, n, spec, { resume, clusterNow, gate, requeueable: options.requeue !== 'never' }),
  ]);
  // Not ours any more: somebody else planned, cancelled or ended it. Nothing was sent.
  if (!planned.commitId) return done(planned);
  const attempt = attemptOf(planned.view, n);
  const found = await session.find(view.job);
  if (found.kind === 'unreachable') return done(await defer(ports, planned.view, attempt, `look-up before sending: ${found.says}`));
  if (found.kind === 'found' && found.objects.some((object) => object.n === n)) return bindFound(ports, planned.view, n, found);
  const answer = await session.submit(submissionOf(planned.view, attempt, spec, probe));
  return done(await record(ports, planned.view, attempt, answer));
};

/** One attempt as it is sent: everything in it but the probe was committed by `attempt_planned`. */
export const submissionOf = (view: View, attempt: AttemptView, spec: Spec, probe: Probe): Submission => ({
  job: view.job,
  n: attempt.n,
  identity: attempt.identity,
  spec,
  probe,
  gate: attempt.gate,
  requeue: requeueOf(spec.policy),
  resume: attempt.resume,
  resources: attempt.resources,
  excludeNodes: attempt.excludeNodes,
  patienceSeconds: spec.patienceSeconds,
  clusterNow: attempt.clusterNow,
  clusterBoundAt: attempt.clusterBoundAt,
});

type Planning = Pick<EventOf<'attempt_planned'>, 'resume' | 'clusterNow' | 'gate' | 'requeueable'>;

const plan = (ports: Ports, view: View, n: number, spec: Spec, planning: Planning): EventOf<'attempt_planned'> => {
  const again = view.attempts[n - 1];
  const decided = view.decision?.action.kind === 'relaunch' ? view.decision.action : undefined;
  const memory = spec.resources.memoryPerNodeMi;
  const asked = { timeLimitSeconds: spec.timeLimitSeconds, ...(memory === undefined ? {} : { memoryPerNodeMi: memory }) };
  const clusterBoundAt = planning.clusterNow + view.facts.landingBoundSeconds * 1000;
  return {
    type: 'attempt_planned',
    n,
    try: (again?.try ?? 0) + 1,
    identity: identityOf(ports.tag, view.job, n),
    cluster: spec.cluster,
    login: view.login,
    ...planning,
    resume: again?.resume ?? planning.resume,
    clusterBoundAt,
    clusterSettleAt: clusterBoundAt + (view.facts.credentialLifeSeconds + TIMING.settleMarginSeconds) * 1000,
    resources: again?.resources ?? decided?.resources ?? asked,
    excludeNodes: [...(again?.excludeNodes ?? decided?.excludeNodes ?? [])],
    rendering: view.planDigest,
  };
};

/** Fixed from a listing made now (protocols §6.2); undefined: it could not be listed, and so nothing is planned. */
const resumePoint = async (view: View, n: number, spec: Spec, session: Session): Promise<Point | undefined> => {
  const again = view.attempts[n - 1];
  if (again) return again.resume;
  const last = lastAttempt(view);
  const decided = view.decision?.action;
  if (!last || (decided?.kind === 'relaunch' && decided.from === 'scratch')) return NOTHING(epochOf(n, 0));
  const listed = await session.listPublications(view.job, spec);
  // A base that cannot be read fixes a point that nobody knows.
  if (!listed || listed.unread) return undefined;
  const fixed = [...view.attempts.map((a) => fixedByPlan(a.n, a.resume)), ...listed.bases.map(fixedByBase)];
  return latest(lastFixed(fixed), listed.publications);
};

const defer = (ports: Ports, view: View, attempt: AttemptView, reason: string, seconds: number = TIMING.retrySeconds) =>
  commitFact(ports, view, (newest) => {
    const now = attemptOf(newest, attempt.n);
    if (now.state !== 'planned' || now.deferred || now.plannedCommit !== attempt.plannedCommit) return [];
    const notBefore = ports.now() + Math.max(seconds, growing(view.job, attempt)) * 1000;
    return [{ type: 'attempt_submission_deferred', n: attempt.n, reason: reason.slice(0, 1024), notBefore }];
  });

/** 30 s ×2 to 15 min with jitter (protocols §2.1): each try is two commits, and a full queue may stay full for days. */
const growing = (job: string, { n, try: tries }: AttemptView): number => {
  const ceiling = Math.min(TIMING.retrySeconds * 2 ** (tries - 1), TIMING.retryMostSeconds);
  return Math.ceil(ceiling / 2 + (seeded(`${job}:${n}:${tries}`) * ceiling) / 2);
};

/** What an answer teaches, offered to whatever the record says by now. */
export const record = (ports: Ports, view: View, attempt: AttemptView, answer: SubmitAnswer) => {
  if (answer.kind === 'not_now') return defer(ports, view, attempt, answer.reason, answer.retryAfterSeconds);
  if (answer.kind === 'uncertain' && answer.sent === 'no') return defer(ports, view, attempt, `nothing was sent: ${answer.answer}`);
  return commitFact(ports, view, (newest) => answered(attemptOf(newest, attempt.n), attempt, answer));
};

const answered = (now: AttemptView, sent: AttemptView, answer: Exclude<SubmitAnswer, { kind: 'not_now' }>): readonly Event[] => {
  const n = sent.n;
  switch (answer.kind) {
    case 'accepted':
      if (now.receipt)
        return now.receipt.schedulerId === answer.receipt.schedulerId
          ? []
          : [{ type: 'duplicate_found', n, receipt: answer.receipt, running: false }];
      return now.state === 'ended'
        ? [{ type: 'duplicate_found', n, receipt: answer.receipt, running: false }]
        : [{ type: 'attempt_bound', n, receipt: answer.receipt }];
    case 'refused':
      return now.receipt || now.state === 'ended' ? [] : [{ type: 'attempt_refused', n, outcome: answer.outcome }];
    case 'uncertain':
      return now.state === 'planned' && !now.deferred
        ? [{ type: 'attempt_uncertain', n, sent: `${sent.identity}, try ${sent.try}`, answer: answer.answer.slice(0, 1024) }]
        : [];
  }
};
