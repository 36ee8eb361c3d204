/**
 * Evolve: one event onto a view. One case per event type, none with a choice of its own: what an event means was decided
 * by whoever committed it.
 */
import { assert, never } from './assertion.ts';
import type { Commit, Event, EventOf } from './event.ts';
import { FRESH, observed, requeued, withDuplicate, without } from './evolve-attempt.ts';
import type { AttemptView, Question, View } from './view.ts';

type Meta = Pick<Commit, 'job' | 'version' | 'at' | 'commitId'>;

const NO_FACTS = { kind: 'observed', landingBoundSeconds: 0, credentialLifeSeconds: 0, pollEverySeconds: 60 };

const born = (
  job: string,
  at: number,
  of: Pick<View, 'name' | 'principal' | 'project' | 'login' | 'planDigest' | 'idempotencyKey' | 'facts'>,
): View => ({
  job,
  version: 0,
  submittedAt: at,
  updatedAt: at,
  attempts: [],
  decisions: [],
  questions: [],
  ...of,
});

/** Replaces attempt n. */
const patch = (view: View, n: number, change: (attempt: AttemptView) => AttemptView): View => {
  const old = view.attempts[n - 1];
  assert(old, `job ${view.job}: attempt ${n} is not in the record`);
  const attempts = view.attempts.slice();
  attempts[n - 1] = change(old);
  return { ...view, attempts };
};

const close = (view: View, id: string, closed: NonNullable<Question['closed']>): View => {
  const at = view.questions.findIndex((question) => question.id === id);
  const question = view.questions[at];
  assert(question && !question.closed, `job ${view.job}: question ${id} is not open`);
  const questions = view.questions.slice();
  questions[at] = { ...question, closed };
  return { ...view, questions };
};

export const evolve = (view: View | undefined, event: Event, meta: Meta): View => {
  if (event.type === 'job_submitted') {
    assert(!view, `job ${meta.job}: submitted twice`);
    const { spec, planDigest, idempotencyKey, principal, project, login, facts } = event;
    return { ...born(meta.job, meta.at, { name: spec.name, principal, project, login, planDigest, idempotencyKey, facts }), spec };
  }
  if (event.type === 'job_adopted') return adopted(view, event, meta);
  assert(view, `job ${meta.job}: '${event.type}' comes before the job`);
  switch (event.type) {
    case 'attempt_planned':
      return planned(view, event, meta);
    case 'attempt_bound':
      return patch(view, event.n, (a) => ({ ...without(a, 'deferred'), state: 'gated', since: meta.at, receipt: event.receipt }));
    case 'attempt_submission_deferred':
      return patch(view, event.n, (a) => ({
        ...a,
        state: 'planned',
        since: meta.at,
        deferred: { reason: event.reason, notBefore: event.notBefore },
      }));
    case 'attempt_uncertain':
      return patch(view, event.n, (a) => ({ ...a, state: 'uncertain', since: meta.at }));
    case 'attempt_refused':
    case 'attempt_never_landed':
      return patch(view, event.n, (a) => ({
        ...without(a, 'deferred'),
        state: 'ended',
        since: meta.at,
        endedAt: meta.at,
        endedIn: meta.version,
        outcome: event.outcome,
        processes: 'gone',
      }));
    case 'release_intended':
      return patch(view, event.n, (a) => ({ ...a, releaseIntendedAt: meta.at }));
    case 'attempt_released':
      return patch(view, event.n, (a) => ({ ...a, releasedAt: meta.at }));
    case 'attempt_observed':
      return patch(view, event.n, (a) => observed(a, event, meta));
    case 'requeue_intended':
      return patch(view, event.n, (a) => ({ ...without(a, 'requeueRefused'), requeueIntendedAt: meta.at }));
    case 'attempt_requeued':
      return without(
        patch(view, event.n, (a) => requeued(a, event, meta, view.decision)),
        'decision',
      );
    case 'requeue_refused':
      return without(
        patch(view, event.n, (a) => ({ ...without(a, 'requeueIntendedAt'), requeueRefused: event.reason })),
        'decision',
      );
    case 'cancel_intended':
      return patch(view, event.n, (a) => ({
        ...a,
        cancel: { why: event.why, intendedAt: meta.at, ...(event.said === undefined ? {} : { said: event.said }) },
      }));
    case 'attempt_cancel_sent':
      return patch(view, event.n, (a) => (a.cancel ? { ...a, cancel: { ...a.cancel, sentAt: meta.at } } : a));
    case 'attempt_ended':
      return patch(view, event.n, (a) => ({
        ...without(a, 'deferred', 'pending'),
        state: 'ended',
        since: meta.at,
        endedAt: meta.at,
        endedIn: meta.version,
        outcome: event.outcome,
        processes: event.processes,
        runs: event.runs,
        ...(event.look ? { look: event.look } : {}),
      }));
    case 'duplicate_found':
      return patch(view, event.n, (a) => withDuplicate(a, event, meta));
    case 'duplicate_discarded':
      return patch(view, event.n, (a) => ({
        ...a,
        duplicates: a.duplicates.map((d) => (d.receipt.schedulerId === event.schedulerId ? { ...d, discarded: true } : d)),
      }));
    case 'recovery_decided': {
      const decision = { n: event.n, by: event.by, action: event.action, notBefore: event.notBefore, decidedAt: meta.at };
      return { ...view, decisions: [...view.decisions, decision], decision };
    }
    case 'escalation_raised': {
      const { type: _, ...question } = event;
      return { ...view, questions: [...view.questions, { ...question, raisedAt: meta.at }] };
    }
    case 'escalation_answered':
      return close(view, event.id, { how: 'answered', answer: event.answer, by: event.by, at: meta.at, version: meta.version });
    case 'escalation_expired':
      return close(view, event.id, { how: 'expired', answer: event.answer, at: meta.at, version: meta.version });
    case 'escalation_withdrawn':
      return close(view, event.id, { how: 'withdrawn', at: meta.at, version: meta.version, says: event.moot });
    case 'cancel_requested':
      return view.cancel ? view : { ...view, cancel: { at: meta.at, principal: event.principal, reason: event.reason } };
    case 'checkpoint_published':
      return reported(view, event, meta);
    case 'job_ended':
      return { ...without(view, 'decision'), ended: { outcome: event.outcome, because: event.because, at: meta.at } };
    default:
      return never(event);
  }
};

const planned = (view: View, event: EventOf<'attempt_planned'>, meta: Meta): View => {
  const { type: _, rendering: __, ...said } = event;
  const times = { plannedAt: meta.at, plannedCommit: meta.commitId, since: meta.at, state: 'planned' as const };
  if (event.try > 1) {
    return patch(view, event.n, (a) => {
      assert(
        a.deferred && event.try === a.try + 1,
        `job ${view.job}: try ${event.try} of attempt ${a.n} follows try ${a.try} without a deferral`,
      );
      return { ...without(a, 'deferred'), ...said, ...times };
    });
  }
  assert(event.n === view.attempts.length + 1, `job ${view.job}: attempt ${event.n} follows ${view.attempts.length}`);
  assert(
    view.attempts.every((a) => a.state === 'ended'),
    `job ${view.job}: attempt ${event.n} is planned while another is outstanding`,
  );
  return { ...without(view, 'decision'), attempts: [...view.attempts, { ...FRESH, ...said, ...times, firstTriedAt: meta.at }] };
};

const reported = (view: View, event: EventOf<'checkpoint_published'>, meta: Meta): View => {
  const last = view.reported;
  if (event.late || (last && (last.epoch > event.epoch || (last.epoch === event.epoch && last.step >= event.step)))) return view;
  return { ...view, reported: { epoch: event.epoch, step: event.step, path: event.path, at: meta.at } };
};

const adopted = (view: View | undefined, event: EventOf<'job_adopted'>, meta: Meta): View => {
  assert(!view, `job ${meta.job}: adopted twice`);
  const { name, principal, project, receipt } = event;
  const of = { name, principal, project, login: receipt.login, planDigest: '', idempotencyKey: '', facts: NO_FACTS };
  const attempt: AttemptView = {
    ...FRESH,
    n: 1,
    try: 1,
    identity: receipt.identity,
    cluster: receipt.cluster,
    login: receipt.login,
    gate: { mechanism: 'hold', selfDestructs: false },
    requeueable: true,
    resume: { epoch: 0, step: -1, path: '' },
    resources: { timeLimitSeconds: 1 },
    excludeNodes: [],
    firstTriedAt: meta.at,
    plannedAt: meta.at,
    plannedCommit: meta.commitId,
    clusterNow: 0,
    clusterBoundAt: 0,
    clusterSettleAt: 0,
    state: 'queued',
    since: meta.at,
    receipt,
    releasedAt: meta.at,
    leftGate: true,
  };
  return { ...born(meta.job, meta.at, of), attempts: [attempt] };
};
