/**
 * What an adapter's author writes to run the adapter contract on a cluster, real or not, and what the cases use of it.
 * No case assumes that time is virtual: they wait with `until`, or let time pass with `advance`, both in seconds of the cluster.
 */
import type { Adapter, Observation, RenderOptions, Session, Submission, Target } from '../../../lib/cluster/port.ts';
import { seenOf } from '../../../lib/cluster/port.ts';
import type { CapabilityName, Probe } from '../../../lib/job/capability.ts';
import type { Cause } from '../../../lib/job/cause.ts';
import type { Gate, Point, Receipt } from '../../../lib/job/event.ts';
import { NOTHING } from '../../../lib/job/event.ts';
import { identityOf } from '../../../lib/job/identity.ts';
import type { Spec } from '../../../lib/job/spec.ts';

/** Cases that only some clusters can show. What is not named is not run; `capability` cases hold this against the probe. */
export type Support =
  | 'marks'
  | 'landing_bound'
  | 'create_by_name'
  | 'queued'
  | 'second_object'
  | 'foreign'
  | 'gate_self_destructs'
  | 'start_deadline'
  | 'requeue_in_place'
  | 'not_now'
  | 'excludes_nodes'
  | 'output_bytes';

/** `quick` exits 0 soon; `publishes` first announces training steps 5 and 10 on top of its base; `long` runs till it is cancelled. */
export type Program = 'quick' | 'publishes' | 'long' | 'waits';

/** How the cluster is made to end an attempt so. `provoke` is called when the attempt is seen running. */
export interface Provocation {
  readonly spec: Spec;
  readonly requeue?: RenderOptions['requeue'];
  readonly provoke?: (attempt: Attempt) => Promise<void>;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly ran?: 'yes' | 'no';
}

export interface Harness {
  readonly adapter: Adapter;
  readonly tag: string;
  readonly cluster: string;
  readonly login: string;
  /** A fresh job id. */
  newJob(): string;
  /** `waits` asks for what the cluster cannot give now, so that a released attempt stays queued. */
  makeSpec(program: Program, overrides?: Partial<Spec>): Spec;
  /** Lets this many seconds pass on the cluster. */
  advance(seconds: number): Promise<void>;
  /** Looks until it is true; throws after that many seconds of the cluster. */
  until(predicate: () => Promise<boolean>, seconds: number): Promise<void>;
  /** Dispatch's clock, milliseconds. */
  now(): number;
  cause(kind: Cause): Provocation;
  /** With support `not_now`: a spec whose first submission the cluster does not take now, and whose second it takes. */
  busy?(): Spec;
  /** The environment that the last execution of the attempt saw, as it wrote it down. */
  environmentOf(attempt: Attempt): Promise<Readonly<Record<string, string>> | undefined>;
  /** The scheduler's name of the first node of the attempt's last execution. */
  nodeOf(attempt: Attempt): Promise<string>;
  /** How often the program of this attempt really began: the ground truth, not the scheduler's word. */
  executionsOf(attempt: Attempt): Promise<number>;
  /** Somebody else, with other means than the adapter. */
  readonly others: {
    /** An object of that name, submitted by others; its id. */
    submit(name: string): Promise<Receipt>;
    /** The same submission once more, not gated: the second object under an identity. */
    submitAgain(attempt: Attempt): Promise<Receipt>;
    isAlive(receipt: Receipt): Promise<boolean>;
  };
  readonly limits: {
    /** From release to running on an idle cluster; from a program's end or a cancel to its evidence being complete. */
    readonly startSeconds: number;
    readonly endSeconds: number;
    /** How long an unreleased attempt is watched. */
    readonly watchSeconds: number;
    /** The shortest patience whose gate can be waited for, and how long after it the end must show. */
    readonly gateSeconds: number;
    readonly expireSeconds: number;
    /** From a requeue to the next run's start. */
    readonly requeueSeconds: number;
  };
}

export interface Facts {
  readonly supports: ReadonlySet<Support>;
  readonly causes: readonly Cause[];
  /** Capabilities said to be there that no case can show on this cluster, with why. */
  readonly unexercised: Partial<Record<CapabilityName, string>>;
  readonly timeoutMs: number;
  /** Real clusters wait in real time: their cases run beside each other. */
  readonly concurrent?: boolean;
  open(): Promise<Harness>;
}

/** An attempt that was submitted. */
export interface Attempt {
  readonly job: string;
  readonly n: number;
  readonly receipt: Receipt;
  readonly gate: Gate;
  readonly submission: Submission;
}

export interface Launch {
  readonly job?: string;
  readonly n?: number;
  readonly spec?: Spec;
  readonly requeue?: RenderOptions['requeue'];
  readonly patienceSeconds?: number;
  readonly resume?: Point;
  readonly excludeNodes?: readonly string[];
  /** Seconds from the cluster's now to the landing bound. */
  readonly boundSeconds?: number;
}

const HOUR = 3600;

/** One connection and the steps that every case is made of. */
export class Bench {
  readonly harness: Harness;
  readonly session: Session;
  readonly probe: Probe;

  constructor(harness: Harness, session: Session, probe: Probe) {
    this.harness = harness;
    this.session = session;
    this.probe = probe;
  }

  async submission(launch: Launch = {}): Promise<Submission> {
    const { harness, probe, session } = this;
    const clusterNow = await session.clock();
    if (clusterNow === undefined) throw new Error('the cluster does not tell its time');
    const spec = launch.spec ?? harness.makeSpec('quick');
    const options: RenderOptions = { requeue: launch.requeue ?? 'never', patienceSeconds: launch.patienceSeconds ?? HOUR };
    const [job, n] = [launch.job ?? harness.newJob(), launch.n ?? 1];
    const memory = spec.resources.memoryPerNodeMi;
    return {
      ...{ job, n, spec, probe, clusterNow, requeue: options.requeue, patienceSeconds: options.patienceSeconds },
      identity: identityOf(harness.tag, job, n),
      gate: session.gateFor(spec, probe, options, clusterNow),
      resume: launch.resume ?? NOTHING(),
      resources: { timeLimitSeconds: spec.timeLimitSeconds, ...(memory === undefined ? {} : { memoryPerNodeMi: memory }) },
      excludeNodes: launch.excludeNodes ?? [],
      clusterBoundAt: clusterNow + (launch.boundSeconds ?? 90) * 1000,
    };
  }

  /** Submitted and accepted. */
  async launch(launch: Launch = {}): Promise<Attempt> {
    const submission = await this.submission(launch);
    const answer = await this.session.submit(submission);
    if (answer.kind !== 'accepted') throw new Error(`submit answered ${JSON.stringify(answer)}`);
    const { job, n, gate } = submission;
    return { job, n, gate, submission, receipt: answer.receipt };
  }

  /** Fence, then release: what a supervisor does. */
  async release(attempt: Attempt): Promise<void> {
    await this.session.fence(attempt.job, { n: attempt.n, schedulerId: attempt.receipt.schedulerId });
    await this.session.release(attempt.receipt, attempt.gate);
  }

  target(attempt: Attempt, seen: Partial<Target> = {}): Target {
    const root = attempt.submission.spec.checkpoint?.root;
    return {
      job: attempt.job,
      n: attempt.n,
      receipt: attempt.receipt,
      released: true,
      requeueable: attempt.submission.requeue !== 'never',
      run: 0,
      seen: '',
      timeLimitSeconds: attempt.submission.resources.timeLimitSeconds,
      ...(root === undefined ? {} : { checkpointRoot: root }),
      ...seen,
    };
  }

  /** What one look says of the attempt; undefined: nothing to say, absent, or nobody could look. */
  async look(attempt: Attempt, seen: Partial<Target> = {}): Promise<Observation | undefined> {
    const answer = await this.session.observe([this.target(attempt, seen)]);
    return answer.kind === 'observed' ? answer.changed[0] : undefined;
  }

  async stateOf(attempt: Attempt, seen: Partial<Target> = {}): Promise<string | undefined> {
    const said = await this.look(attempt, seen);
    return said && (said.kind === 'ended' ? 'ended' : said.state);
  }

  async untilState(attempt: Attempt, states: readonly string[], seconds: number, seen: Partial<Target> = {}): Promise<void> {
    await this.harness.until(async () => states.includes((await this.stateOf(attempt, seen)) ?? 'absent'), seconds);
  }

  /** Its end, once nothing of the evidence is missing. */
  async ended(
    attempt: Attempt,
    seconds = this.harness.limits.endSeconds,
    run = 0,
    seen: Partial<Target> = {},
  ): Promise<Observation & { kind: 'ended' }> {
    let end: (Observation & { kind: 'ended' }) | undefined;
    await this.harness.until(async () => {
      const said = await this.look(attempt, { run, seen: seenOf('running', run), ...seen });
      if (said?.kind === 'ended' && said.missing.length === 0 && said.run >= run) end = said;
      return end !== undefined;
    }, seconds);
    return end!;
  }

  /** Running is the scheduler's word: the program begins a moment later. */
  async begun(attempt: Attempt): Promise<void> {
    const { startSeconds } = this.harness.limits;
    await this.untilState(attempt, ['running'], startSeconds);
    await this.harness.until(async () => (await this.harness.executionsOf(attempt)) === 1, startSeconds);
  }

  /** Submitted, released and its program running. */
  async running(launch: Launch = {}): Promise<Attempt> {
    const attempt = await this.launch({ ...launch, spec: launch.spec ?? this.harness.makeSpec('long') });
    await this.release(attempt);
    await this.begun(attempt);
    return attempt;
  }

  async objectsOf(job: string) {
    const answer = await this.session.find(job);
    if (answer.kind === 'unreachable') throw new Error(`nobody could look: ${answer.says}`);
    return answer.kind === 'found' ? answer.objects : [];
  }
}
