/**
 * Given: the record of one job, told as an operator would tell it. Every verb is one commit, made by the real commands and
 * withdrawals and folded by the real `fold`; each comes one second after the one before, `after` lets more time pass.
 */
import { type Cause, type Outcome, type OutcomeParts, outcomeOf } from '../../lib/job/cause.ts';
import { answer, cancel, expire } from '../../lib/job/command.ts';
import { jobOutcome } from '../../lib/job/ending.ts';
import {
  type Answer,
  type Because,
  type CancelWhy,
  type Commit,
  type Event,
  eventSchema,
  type Finding,
  type LiveState,
  NOTHING,
  type PendingGroup,
  type Point,
  type Receipt,
  type Resources,
  type Run,
  SCHEMA,
} from '../../lib/job/event.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { withWithdrawals } from '../../lib/job/moot.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import { overOf } from '../../lib/job/over.ts';
import type { Policy, Rule } from '../../lib/job/policy.ts';
import { raise } from '../../lib/job/question.ts';
import type { Spec } from '../../lib/job/spec.ts';
import type { Step } from '../../lib/job/step.ts';
import { type AttemptView, fold, jobState, lastAttempt, openQuestions, type Question, type View } from '../../lib/job/view.ts';

export const JOB = '01h5j6k7m8n9p0qr';
export const NOON = Date.UTC(2030, 0, 1, 12);
export const MINUTE = 60;
export const HOUR = 3600;
export const DAY = 86_400;

export type SpecChanges = Partial<Omit<Spec, 'policy'>> & {
  readonly policy?: {
    readonly rules?: readonly Rule[];
    readonly unmatched?: Policy['unmatched'];
    readonly limits?: Partial<Policy['limits']>;
  };
};

export const specOf = ({ policy, ...changes }: SpecChanges = {}): Spec => ({
  name: 'train',
  cluster: 'alps',
  resources: { nodes: 2, tasksPerNode: 1, gpusPerNode: 0 },
  program: { command: ['./train'], env: {}, secrets: {} },
  timeLimitSeconds: DAY,
  patienceSeconds: 7 * DAY,
  labels: {},
  extensions: {},
  ...changes,
  policy: { unmatched: 'stop', ...policy, rules: [...(policy?.rules ?? [])], limits: { attempts: 10, ...policy?.limits } },
});

const BACKOFF = { initialSeconds: 30, factor: 2, maxSeconds: 900 };
type On = Rule['on'][number] | Rule['on'];
type Relaunch = Extract<Rule['do'], { relaunch: unknown }>['relaunch'];
const rule = (on: On, action: Rule['do'], when?: Rule['when']): Rule => ({
  on: Array.isArray(on) ? on : [on],
  do: action,
  ...(when ? { when } : {}),
});
export const relaunch = (on: On, its: Partial<Relaunch> = {}, when?: Rule['when']): Rule =>
  rule(on, { relaunch: { max: 3, backoff: BACKOFF, from: 'checkpoint', ...its } }, when);
export const requeue = (on: On, by: 'scheduler' | 'supervisor', max = 3): Rule => rule(on, { requeue: { max, by } });
export const stop = (on: On, when?: Rule['when']): Rule => rule(on, { stop: {} }, when);
export const asks = (
  on: On,
  options: readonly Extract<Answer, 'stop' | 'relaunch' | 'wait'>[],
  onExpiry: 'stop' | 'relaunch' | 'wait',
): Rule => rule(on, { escalate: { options: [...options], expiresAfterSeconds: DAY, onExpiry } });

export interface EndedAs extends Partial<OutcomeParts> {
  readonly processes?: 'gone' | 'unknown';
  /** The steps that its one run published, of which the last is its latest. */
  readonly saved?: number;
  readonly runs?: readonly Run[];
}
interface Seen {
  readonly run?: number;
  readonly pending?: PendingGroup;
  readonly reason?: string;
  readonly finding?: Finding['kind'];
  readonly said?: string;
  readonly lastRunCause?: Cause;
}

export const savedBy = (n: number, run: number, step: number): Point => ({
  epoch: epochOf(n, run),
  step,
  path: `exec/${n}-${run}/${step}`,
});

export class Given {
  readonly log: Commit[] = [];
  now = NOON;
  /** What the cluster's clock is ahead of ours, in milliseconds. */
  skewMs = 0;
  #view: View | undefined;

  get view(): View {
    return this.#view!;
  }
  get attempt(): AttemptView {
    return lastAttempt(this.view)!;
  }
  get open(): readonly Question[] {
    return openQuestions(this.view);
  }
  get state(): string {
    return jobState(this.view);
  }
  /** What is next, now or so many seconds later. */
  next(seconds = 0): Step {
    return nextStep(this.view, this.now + seconds * 1000);
  }
  /** What an operator would say of the next step: its name, and of a decision, question or end also which. */
  says(seconds = 0): string {
    return words(this.next(seconds), this.now + seconds * 1000);
  }

  after(seconds: number): this {
    this.now += seconds * 1000;
    return this;
  }

  commit(...events: readonly Event[]): this {
    this.now += 1000;
    const version = this.log.length + 1;
    const meta = { job: JOB, version, at: this.now, commitId: `c${version}` };
    const over = this.#view && overOf(this.#view, this.now);
    const timeIsUp = over && over.kind !== 'cancel' && over.kind !== 'answer' ? 'the time is up' : undefined;
    const all = withWithdrawals(this.#view, events, meta, timeIsUp).map((event) => eventSchema.parse(event));
    const commit: Commit = { ...meta, actor: 'supervisor', schema: SCHEMA, events: all };
    this.#view = fold([commit], this.#view);
    this.log.push(commit);
    return this;
  }

  submitted(spec: Spec): this {
    return this.commit({
      type: 'job_submitted',
      spec,
      planDigest: 'sha256:0',
      idempotencyKey: 'key',
      principal: 'mara',
      project: 'language',
      login: 'main',
      facts: { kind: 'slurm', landingBoundSeconds: 90, credentialLifeSeconds: 300, pollEverySeconds: 60 },
    });
  }

  planned(its: { readonly resume?: Point; readonly resources?: Resources; readonly selfDestructs?: boolean } = {}): this {
    const again = this.#view && lastAttempt(this.#view)?.deferred ? this.attempt : undefined;
    const n = again?.n ?? this.view.attempts.length + 1;
    const decided = this.view.decision?.action.kind === 'relaunch' ? this.view.decision.action : undefined;
    const memory = this.view.spec?.resources.memoryPerNodeMi;
    const clusterNow = this.now + 1000 + this.skewMs;
    return this.commit({
      type: 'attempt_planned',
      n,
      try: (again?.try ?? 0) + 1,
      identity: `d0t4g-${JOB}-${n}`,
      cluster: 'alps',
      login: 'main',
      gate: { mechanism: 'begin', selfDestructs: its.selfDestructs ?? false },
      requeueable: false,
      clusterNow,
      clusterBoundAt: clusterNow + 90_000,
      clusterSettleAt: clusterNow + 420_000,
      resume: again?.resume ?? its.resume ?? NOTHING(),
      resources: its.resources ??
        decided?.resources ?? { timeLimitSeconds: DAY, ...(memory === undefined ? {} : { memoryPerNodeMi: memory }) },
      excludeNodes: [...(decided?.excludeNodes ?? [])],
      rendering: 'sha256:0',
    });
  }

  receipt(schedulerId = `70000${this.attempt.n}`): Receipt {
    return { cluster: 'alps', login: 'main', schedulerId, identity: this.attempt.identity, submittedAt: this.now + this.skewMs };
  }
  bound(): this {
    return this.commit({ type: 'attempt_bound', n: this.attempt.n, receipt: this.receipt() });
  }
  released(): this {
    const { n } = this.attempt;
    return this.commit({ type: 'release_intended', n }).commit({ type: 'attempt_released', n });
  }
  deferred(seconds = 30): this {
    return this.commit({
      type: 'attempt_submission_deferred',
      n: this.attempt.n,
      reason: 'queue full',
      notBefore: this.now + seconds * 1000,
    });
  }
  uncertain(): this {
    return this.commit({ type: 'attempt_uncertain', n: this.attempt.n, sent: 'it', answer: 'timed out' });
  }
  neverLanded(): this {
    const outcome = outcomeOf('never_landed', { ran: 'no', observedAt: this.now });
    return this.commit({ type: 'attempt_never_landed', n: this.attempt.n, proof: 'two looks', outcome });
  }

  seen(state: LiveState, its: Seen = {}): this {
    const { run = this.attempt.run, pending, reason = 'Reason', finding, said = 'words', lastRunCause } = its;
    return this.commit({
      type: 'attempt_observed',
      n: this.attempt.n,
      state,
      run,
      look: this.look(),
      ...(pending ? { pending: { group: pending, reason } } : {}),
      ...(finding ? { finding: { kind: finding, since: this.now + this.skewMs, said } } : {}),
      ...(lastRunCause ? { lastRunCause } : {}),
    });
  }
  look() {
    return { fence: this.log.length, clusterStartedAt: this.now + this.skewMs };
  }

  ended(cause: Cause, its: EndedAs = {}): this {
    const { processes = 'gone', saved, runs, ...parts } = its;
    const { n, run, resume } = this.attempt;
    const one: Run = {
      run,
      base: resume,
      ...(saved === undefined ? {} : { latest: savedBy(n, run, saved) }),
      publications: saved === undefined ? 0 : 1,
    };
    const outcome: Outcome = outcomeOf(cause, { observedAt: this.now, ...parts });
    return this.commit({ type: 'attempt_ended', n, outcome, processes, runs: [...(runs ?? [one])], look: this.look() });
  }

  /** Planned, bound, released, queued and running. */
  running(its: Parameters<Given['planned']>[0] = {}): this {
    return this.planned(its).bound().released().seen('queued').seen('running');
  }
  /** A whole attempt, from its plan to its end. */
  tried(cause: Cause, its: EndedAs & NonNullable<Parameters<Given['planned']>[0]> = {}): this {
    const { resume, resources, ...end } = its;
    return this.running({ ...(resume ? { resume } : {}), ...(resources ? { resources } : {}) }).ended(cause, end);
  }

  cancelIntended(why: CancelWhy, said?: string): this {
    return this.commit({ type: 'cancel_intended', n: this.attempt.n, why, ...(said === undefined ? {} : { said }) });
  }
  cancelSent(): this {
    return this.commit({ type: 'attempt_cancel_sent', n: this.attempt.n });
  }
  duplicate(schedulerId: string, running = false): this {
    return this.commit({ type: 'duplicate_found', n: this.attempt.n, receipt: this.receipt(schedulerId), running });
  }
  discarded(schedulerId: string): this {
    return this.commit({ type: 'duplicate_discarded', n: this.attempt.n, schedulerId });
  }
  published(step: number, its: { late?: boolean; run?: number } = {}): this {
    const { epoch, path } = savedBy(this.attempt.n, its.run ?? this.attempt.run, step);
    return this.commit({ type: 'checkpoint_published', epoch, step, path, ...(its.late ? { late: true } : {}) });
  }

  /** Carries out the next step as far as it needs no cluster: decide, escalate, expire, finish. */
  acts(): this {
    const step = this.next();
    switch (step.do) {
      case 'decide':
        return this.commit({
          type: 'recovery_decided',
          n: step.n,
          by: step.verdict.by,
          action: step.verdict.action,
          notBefore: this.now + step.verdict.delaySeconds * 1000,
        });
      case 'escalate':
        return this.commit(raise(this.view, step.question, this.now));
      case 'expire':
        return this.commits(expire(this.view, step.question));
      case 'finish':
        return this.commit({ type: 'job_ended', outcome: jobOutcome(this.view, step.because, this.now), because: step.because });
      default:
        throw new Error(`the next step is ${words(step, this.now)}`);
    }
  }
  requeueIntended(): this {
    return this.commit({ type: 'requeue_intended', n: this.attempt.n });
  }
  requeued(run = this.attempt.run + 1): this {
    return this.commit({ type: 'attempt_requeued', n: this.attempt.n, run, look: this.look() });
  }
  requeueRefused(reason = 'no'): this {
    return this.commit({ type: 'requeue_refused', n: this.attempt.n, reason });
  }

  answered(choice: string, question = this.open[0]?.id ?? 'none', by = 'mara'): this {
    return this.commits(answer(this.view, { question, answer: choice, by }));
  }
  cancelRequested(): this {
    return this.commits(cancel(this.view, { principal: 'mara', reason: 'enough' }));
  }
  private commits(decided: { readonly kind: string; readonly events?: readonly Event[]; readonly says?: string }): this {
    if (!decided.events) throw new Error(`${decided.kind}: ${decided.says}`);
    return this.commit(...decided.events);
  }

  /** What the last commit holds, by name. */
  get lastEvents(): string[] {
    return this.log.at(-1)!.events.map((event) => event.type);
  }
  /** The version as it would be after so many commits: for the limits of a long record. */
  atVersion(version: number): View {
    return { ...this.view, version };
  }
}

/** A submitted job. */
export const given = (changes: SpecChanges = {}): Given => new Given().submitted(specOf(changes));

/** A job that somebody else submitted. */
export const adopted = (name = 'llama'): Given =>
  new Given().commit({
    type: 'job_adopted',
    name,
    principal: 'mara',
    project: 'language',
    receipt: { cluster: 'alps', login: 'main', schedulerId: '4711', identity: name, submittedAt: NOON },
  });

const becauseWords = (because: Because): string => {
  switch (because.kind) {
    case 'rule':
      return `rule ${because.rule}`;
    case 'answer':
      return `${because.expired ? 'expiry' : 'answer'} ${because.answer}`;
    case 'limit':
      return `limit: ${because.limit}`;
    default:
      return because.kind;
  }
};

export const words = (step: Step, now: number): string => {
  switch (step.do) {
    case 'await':
      return step.question
        ? `await the answer to ${step.question}`
        : step.until - now > 3650 * DAY * 1000
          ? 'await'
          : `await ${(step.until - now) / 1000} s`;
    case 'cancel':
      return `cancel for ${step.why}`;
    case 'decide':
      return step.verdict.action.kind === 'relaunch' ? `relaunch from ${step.verdict.action.from}` : `requeue by ${step.verdict.action.by}`;
    case 'escalate':
      return `ask ${step.question.kind}`;
    case 'finish':
      return `finish by ${becauseWords(step.because)}`;
    case 'done':
      return 'done';
    case 'expire':
      return `expire ${step.question}`;
    default:
      return `${step.do} ${step.n}`;
  }
};

export const outcomeNow = (cause: Cause, parts: Partial<OutcomeParts> = {}): Outcome => outcomeOf(cause, { observedAt: NOON, ...parts });
