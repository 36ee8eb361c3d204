/**
 * How a submission reaches the memory cluster, or does not (protocols §3).
 * Guards S3: nothing lands after its bound and the life of its credential (slurm shape); a name is created once (kubernetes shape).
 */
import { outcomeOf } from '../../job/cause.ts';
import type { Submission, SubmitAnswer } from '../port.ts';
import type { Fault } from './fault.ts';
import { land } from './lifecycle.ts';
import { receiptOf, type Viewer } from './look.ts';
import type { ClusterObject } from './object.ts';
import { attemptScriptOf } from './script.ts';
import { clusterNow, isKnown, jobKey, markLive, putObject, record, type State } from './state.ts';

const LOST = { kind: 'uncertain', sent: 'maybe', answer: 'the answer was lost' } as const;

export const submitTo = (state: State, viewer: Viewer, submission: Submission, fault: Fault | undefined): SubmitAnswer => {
  const note = { verb: 'submit', tag: viewer.tag, identity: submission.identity } as const;
  const slurm = state.settings.shape === 'slurm';
  if (fault?.kind === 'unreachable') return { kind: 'uncertain', sent: 'no', answer: 'the cluster cannot be reached' };
  if (state.settings.readOnly) return refusal(state, 'read_only', 'the cluster is read-only');
  // The submitter's own check, by the cluster's clock, before it sends: past the bound nothing is sent.
  if (slurm && clusterNow(state) > submission.clusterBoundAt) {
    record(state, { ...note, result: 'expired' });
    return { kind: 'uncertain', sent: 'no', answer: 'past the landing bound' };
  }
  if (fault?.kind === 'request_lost') {
    record(state, { ...note, result: 'lost' });
    return LOST;
  }
  if (fault?.kind === 'delayed') {
    state.agenda.at(state.agenda.nowMs + fault.seconds * 1000, () => {
      // A request is honoured as long as its credential lives, and the youngest is of the submitter's last try, at the bound.
      const lives = !slurm || clusterNow(state) <= submission.clusterBoundAt + state.settings.credentialLifeSeconds * 1000;
      if (lives) arrive(state, viewer, submission);
      else record(state, { ...note, result: 'expired' });
    });
    return LOST;
  }
  const answer = arrive(state, viewer, submission);
  return fault?.kind === 'reply_lost' ? LOST : answer;
};

/** The scheduler has it. */
const arrive = (state: State, viewer: Viewer, submission: Submission): SubmitAnswer => {
  const { identity, spec, n } = submission;
  const note = { verb: 'submit', tag: viewer.tag, identity } as const;
  const hash = JSON.stringify(sorted(askedFor(submission)));
  if (state.settings.shape === 'kubernetes') {
    const taken = state.byJob.get(jobKey(viewer.tag, submission.job))?.find((object) => object.name === identity && isKnown(state, object));
    if (taken) return takenName(state, viewer, taken, hash);
  }
  const script = attemptScriptOf(state.settings.script, spec, n);
  if ('fault' in script) return refusal(state, 'bad_script', script.fault);
  const { maxSeconds } = state.settings;
  if (maxSeconds !== undefined && submission.resources.timeLimitSeconds > maxSeconds) {
    record(state, { ...note, result: 'refused' });
    return refusal(state, 'PartitionTimeLimit', `the limit is ${maxSeconds} s`, 'unsatisfiable');
  }
  const made = { name: identity, login: viewer.login, submission, runs: script.runs, hash };
  const tries = state.triesByIdentity.get(identity) ?? 0;
  state.triesByIdentity.set(identity, tries + 1);
  const met = script.tries[tries];
  if (met && 'notNow' in met) {
    record(state, { ...note, result: 'not_now' });
    return { kind: 'not_now', ...met.notNow };
  }
  if (met) {
    const { cause, reason, message, leavesRecord } = met.refuse;
    record(state, { ...note, result: 'refused' });
    if (leavesRecord && state.settings.shape === 'slurm') {
      const object = putObject(state, made);
      const ending = { cause, detail: { by: 'scheduler', reason, message }, word: 'FAILED', message };
      Object.assign(object, { state: 'ended', refused: true, ending, endedAtMs: state.agenda.nowMs } satisfies Partial<ClusterObject>);
      markLive(state, object, false);
    }
    return refusal(state, reason, message, cause);
  }
  const object = land(state, made);
  record(state, { ...note, schedulerId: object.id, result: 'done' });
  return { kind: 'accepted', receipt: receiptOf(object, viewer.cluster) };
};

/** AlreadyExists binds when it is what we would have created; a name is never used twice. */
const takenName = (state: State, viewer: Viewer, taken: ClusterObject, hash: string): SubmitAnswer => {
  const ours = taken.hash === hash && taken.login === viewer.login;
  record(state, { verb: 'submit', tag: viewer.tag, identity: taken.name, schedulerId: taken.id, result: ours ? 'nothing' : 'refused' });
  return ours
    ? { kind: 'accepted', receipt: receiptOf(taken, viewer.cluster) }
    : refusal(state, 'AlreadyExists', `${taken.name} exists and asks for something else`);
};

const refusal = (state: State, reason: string, message: string, cause: 'rejected' | 'unsatisfiable' = 'rejected'): SubmitAnswer => ({
  kind: 'refused',
  outcome: outcomeOf(cause, {
    detail: { by: 'scheduler', reason, message: message.slice(0, 1024) },
    evidence: [{ source: `memory/${state.settings.shape}`, reason: reason.slice(0, 1024), message: message.slice(0, 1024) }],
    ran: 'no',
    observedAt: state.clock.now(),
  }),
});

/** What makes two creates the same: all but when they were sent. */
const askedFor = ({ spec, resources, excludeNodes, resume, requeue }: Submission) => ({ spec, resources, excludeNodes, resume, requeue });

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
};
