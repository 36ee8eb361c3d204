/**
 * A world: jobs, supervisors, pollers, people, strangers and a cluster, drawn from one seed, run until faults are over and everything
 * has come to rest, and judged after every step.
 */
import { MACHINE } from '../../lib/app/advance.ts';
import { poll } from '../../lib/app/poll.ts';
import type { ClusterConfiguration, Ports } from '../../lib/app/ports.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import type { Submitted } from '../../lib/app/submit-job.ts';
import { adapter as memoryAdapter } from '../../lib/cluster/memory/adapter.ts';
import { type World as Cluster, createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import type { Probe } from '../../lib/job/capability.ts';
import { identityOf, newJobId, newTag } from '../../lib/job/identity.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import { type Plan, plan } from '../../lib/job/plan.ts';
import { requeueOf } from '../../lib/job/plan-input.ts';
import type { Spec } from '../../lib/job/spec.ts';
import type { View } from '../../lib/job/view.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import { digestOf } from '../../lib/record/log.ts';
import { createMemoryStore, type MemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { type Climate, climateOf } from './climate.ts';
import { adapterFor, chooseFault, type Disorder } from './cluster.ts';
import { createClusterCheck } from './cluster-check.ts';
import { drawSpec, type Shape } from './draw.ts';
import { Kernel, type Process } from './kernel.ts';
import type { Mutant } from './mutants.ts';
import { calmDown, type Elements, willHappen } from './nature.ts';
import { willLook, willSubmit } from './people.ts';
import { forbid } from './purity.ts';
import { type Random, randomOf } from './random.ts';
import { judgeCommit } from './record-check.ts';
import { isAtRest, judgeRest, type Resting } from './rest.ts';
import { type Line, lineTo, storeFor } from './store.ts';
import { createSupervision, supervisorsFor } from './supervision.ts';
import { Broken, holds } from './verdict.ts';
import { createWakeCheck, type WakeCheck } from './wake-check.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly trace?: boolean;
  /** Stops after this step, whatever was found. */
  readonly stopAt?: number;
  readonly mutant?: Mutant;
  /** Kinds of faults that do not happen. */
  readonly without?: ReadonlySet<string>;
}

export interface Ran {
  readonly seed: number;
  readonly steps: number;
  readonly virtualSeconds: number;
  readonly faults: ReadonlyMap<string, number>;
  /** What was reached, by kind: `step …`, `event …`, `cause …`, `question …`. */
  readonly reached: ReadonlyMap<string, number>;
  readonly broken?: { readonly invariant: Broken['invariant']; readonly says: string; readonly step: number };
  readonly trace: readonly string[];
  /** Record and ground truth, when it was stopped or broke with a trace. */
  readonly dump?: unknown;
}

const START_MS = Date.UTC(2026, 0, 1);
const CLUSTER = 'c';
const LOGIN = 'l';
const POLL_MS = 50_000;
const RECONCILE_MS = 300_000;
/** After faults are over: how long a world may take to come to rest, and how many steps. */
const REST_MS = 8 * 3_600_000;
const REST_STEPS = 60_000;

/** Errors that the world itself causes; everything else that a process ends with is a mistake of ours. */
const EXPECTED = new Set(['RecordFailure', 'ClusterFailure', 'SupervisorsFailure', 'StaleDecision', 'Superseded', 'Lambda.Unknown']);

export const runWorld = async (options: WorldOptions): Promise<Ran> => {
  let world: SimulatedWorld | undefined;
  const allow = forbid(() => world?.nowMs() ?? START_MS);
  try {
    world = new SimulatedWorld(options);
    await world.run();
    return world.ran();
  } finally {
    allow();
  }
};

interface Tracked {
  view?: View;
  endedAt?: number;
  /** Of the last commit judged: what was appended stays as it was. */
  commitId?: string;
  headVersion?: number;
}

class SimulatedWorld {
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #climate: Climate;
  readonly #kernel: Kernel;
  readonly #trace: string[] = [];
  readonly #shape: Shape;
  readonly #cluster: Cluster;
  readonly #store: MemoryStore;
  readonly #line: Line;
  readonly #tag: string;
  readonly #adapter: Adapter;
  readonly #engine: Engine;
  readonly #jobs = new Map<string, Tracked>();
  readonly #authors = new Map<string, number>();
  readonly #sent = new Set<string>();
  readonly #reached = new Map<string, number>();
  readonly #copies = new Set<string>();
  readonly #disorder: Disorder = { controllerDown: false };
  readonly #wakes: WakeCheck;
  readonly #check: ReturnType<typeof createClusterCheck>;
  readonly #pollSeconds: number;
  readonly #elements: Elements;
  readonly #foreign: { readonly name: string; readonly id: string }[] = [];
  #probe: Probe | undefined;
  #plan: ((spec: Spec) => Plan) | undefined;
  #broken: Broken | undefined;
  #brokenAt = 0;
  #calmAt = Number.POSITIVE_INFINITY;
  /** Reconciles of every job under way. */
  #restarts = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    const random = randomOf(options.seed);
    this.#random = random;
    this.#climate = climateOf(random, options.without);
    this.#kernel = new Kernel({ startMs: START_MS, random, climate: this.#climate, ...(options.trace ? { trace: this.#trace } : {}) });
    this.#shape = random.pick(['slurm', 'slurm', 'kubernetes'] as const);
    this.#cluster = drawCluster(random, this.#shape, this.#kernel);
    this.#tag = newTag(random.next);
    this.#store = createMemoryStore({ pageItems: random.pick([1, 1000]) });
    const { mutant } = options;
    const base: RecordStore = this.#watched(mutant?.store ? mutant.store(this.#store) : this.#store);
    this.#line = lineTo(this.#kernel, base);
    const adapter = memoryAdapter(this.#cluster, { tag: this.#tag, cluster: CLUSTER });
    this.#adapter = mutant?.adapter ? mutant.adapter(adapter, this.#cluster) : adapter;
    this.#pollSeconds = random.pick([10, 30, 60, 60]);
    const life = this.#cluster.state.settings.credentialLifeSeconds;
    this.#cluster.faults.choose((call) =>
      call.tag === this.#tag ? chooseFault(this.#kernel, this.#disorder, 90 + life + 20, call) : undefined,
    );
    this.#engine = createSupervision({
      kernel: this.#kernel,
      limits: this.#climate.limits,
      portsFor: (process) => this.#portsFor(process),
      failed: (name, error) => this.#failed(name, error),
      endedBadly: () => this.#reconcileSoon(),
    });
    this.#wakes = createWakeCheck();
    const truth = this.#cluster.state;
    this.#check = createClusterCheck({
      cluster: truth,
      tag: this.#tag,
      viewOf: (job) => this.#jobs.get(job)?.view,
      endedAt: (job) => this.#jobs.get(job)?.endedAt,
      copies: this.#copies,
    });
    this.#elements = {
      kernel: this.#kernel,
      cluster: this.#cluster,
      shape: this.#shape,
      tag: this.#tag,
      line: this.#line,
      disorder: this.#disorder,
      engine: () => this.#engine,
      generations: () =>
        [...this.#store.dump().jobs].flatMap(([job, { head }]) => (head ? [{ job, generation: head.supervisor.generation }] : [])),
      restart: () => this.#reconcile(true),
      copies: this.#copies,
    };
  }

  nowMs(): number {
    return this.#kernel.nowMs;
  }

  async run(): Promise<void> {
    try {
      await this.#prepare();
      await this.#go(() => this.#kernel.nowMs < START_MS + this.#climate.troubledMs);
      if (this.#stopped()) return;
      this.#kernel.calm = true;
      this.#calmAt = this.#kernel.nowMs;
      calmDown(this.#elements);
      await this.#comeToRest();
    } catch (error) {
      this.#breaks(error);
    } finally {
      this.#engine.close();
    }
  }

  /** A second deployment on the same cluster, the jobs, and everyone who looks after them. */
  async #prepare(): Promise<void> {
    const kernel = this.#kernel;
    const random = this.#random;
    this.#probe = await this.#probed();
    await this.#neighbours();
    const world = {
      kernel,
      limits: this.#climate.limits,
      portsFor: (process: Process) => this.#portsFor(process),
      engine: () => this.#engine,
      failed: (name: string, error: unknown) => this.#failed(name, error),
      views: () => this.#views(),
    };
    const jobs = random.pick([1, 1, 2, 2, 3, 4]);
    for (let i = 1; i <= jobs; i++) willSubmit(world, () => this.#submitted(`job${i}`), random.between(1, random.pick([1000, 300_000])));
    willLook(world, {
      cancels: random.pick([0, 0, 0.01, 0.05]),
      answers: random.pick([0, 0.1, 0.4]),
      everyMs: random.pick([20_000, 120_000]),
    });
    const pollers = random.pick([1, 1, 2]);
    for (let i = 0; i < pollers; i++) kernel.after(random.between(1, this.#pollSeconds * 1000), () => this.#polls(), 'poll');
    kernel.after(random.between(1, RECONCILE_MS), () => this.#reconciles(), 'reconcile');
    willHappen(this.#elements);
  }

  async #probed(): Promise<Probe> {
    const session = await memoryAdapter(this.#cluster, { tag: 'zzzz', cluster: CLUSTER }).connect(LOGIN);
    const probe = await session.probe(this.#kernel.nowMs);
    this.#plan = (spec) => this.#planOf(spec, probe);
    return probe;
  }

  #planOf(spec: Spec, probe: Probe): Plan {
    const rendering = this.#adapter.render(spec, probe, { requeue: requeueOf(spec.policy), patienceSeconds: spec.patienceSeconds });
    const cluster = { id: CLUSTER, kind: 'memory' as const, readOnly: false, landingBoundSeconds: 90, pollEverySeconds: this.#pollSeconds };
    return plan({ spec, cluster, login: { id: LOGIN, user: LOGIN }, probe, rendering, now: this.#kernel.nowMs }, digestOf);
  }

  /** Objects of another deployment, in every state: nobody of ours may touch them. */
  async #neighbours(): Promise<void> {
    const tag = newTag(this.#random.next);
    const session = await memoryAdapter(this.#cluster, { tag, cluster: CLUSTER }).connect(LOGIN);
    for (let i = 0; i < 2; i++) {
      const job = newJobId(START_MS, this.#random.next);
      const spec = drawSpec(this.#random, 'neighbour', CLUSTER, this.#shape, START_MS);
      const clusterNow = (await session.clock())!;
      const gate = session.gateFor(spec, this.#probe!, { requeue: 'never', patienceSeconds: spec.patienceSeconds }, clusterNow);
      const answer = await session.submit({
        ...{ job, n: 1, identity: identityOf(tag, job, 1), spec: { ...spec, extensions: {} }, probe: this.#probe!, gate, requeue: 'never' },
        ...{ resume: { epoch: 0, step: -1, path: '' }, resources: { timeLimitSeconds: 1e6 }, excludeNodes: [], patienceSeconds: 1e6 },
        ...{ clusterNow, clusterBoundAt: clusterNow + 90_000 },
      });
      holds(answer.kind === 'accepted', 'error', () => `a neighbour was not accepted: ${answer.kind}`);
      this.#foreign.push({ name: identityOf(tag, job, 1), id: answer.receipt.schedulerId });
    }
  }

  #submitted(name: string): Submitted {
    for (let i = 0; i < 8; i++) {
      const drawn = drawSpec(this.#random, name, CLUSTER, this.#shape, this.#kernel.nowMs);
      const spec = i < 7 ? drawn : { ...drawn, policy: { ...drawn.policy, rules: [] } };
      const planned = this.#plan!(spec);
      if (planned.refusals.length === 0 || i === 7)
        return { spec, plan: planned, principal: 'ada', project: 'p', login: LOGIN, key: name, payloadHash: planned.specDigest };
    }
    throw new Error('no plan without a refusal');
  }

  #portsFor(process: Process): Ports {
    const kernel = this.#kernel;
    const store = storeFor(this.#line, process, {
      appends: (commit) => this.#authors.set(commit.commitId, process.id),
      parks: (wake) => this.#wakes.parks(wake),
    });
    const adapter = adapterFor(kernel, this.#adapter, process, (submission) => this.#judgeSend(process, submission));
    const logins = [{ id: LOGIN, user: LOGIN }];
    const paces = { pollEverySeconds: this.#pollSeconds, landingBoundSeconds: 90 };
    const configuration: ClusterConfiguration = { id: CLUSTER, adapter, readOnly: false, logins, ...paces };
    const ports: Ports = {
      store,
      supervisors: supervisorsFor(kernel, () => this.#engine, process),
      clusters: new Map([[CLUSTER, configuration]]),
      probeOf: () => kernel.call(process, 'probeOf', async () => this.#probe),
      tag: this.#tag,
      now: () => kernel.nowMs + process.skewMs,
      random: this.#random.next,
      sleep: (ms) => kernel.call(process, `sleep ${ms}`, async () => undefined, undefined, ms),
      log: (level, message, fields) => this.#log(level, message, fields),
    };
    return this.#options.mutant?.ports ? this.#options.mutant.ports(ports) : ports;
  }

  /** P2.8: nobody who waits for an answer that may still come is replaced. */
  #watched(store: RecordStore): RecordStore {
    return {
      ...store,
      raiseGeneration: async (job, from, at) => {
        const waits = [...(this.#store.dump().jobs.get(job)?.slots.values() ?? [])].some(
          ({ wake }) => wake?.state === 'parked' && wake.until > at,
        );
        const raised = await store.raiseGeneration(job, from, at);
        const status = this.#engine.listExecutions({ status: 'RUNNING', maxResults: 1000 }).some(({ name }) => name === `${job}-${from}`);
        if (at > this.#calmAt && this.#restarts === 0 && raised === 'raised' && waits && status)
          this.#breaks(new Broken('L3', `generation ${from} of ${job} waits as it was promised, and was replaced`));
        return raised;
      },
    };
  }

  /** S3: only the committer of that try sends, and once. */
  #judgeSend(
    process: Process,
    submission: { readonly job: string; readonly n: number; readonly identity: string; readonly clusterBoundAt: number },
  ): void {
    const { job, n, identity, clusterBoundAt } = submission;
    const commits = this.#store.dump().jobs.get(job)?.commits ?? [];
    const planned = commits.findLast((commit) =>
      commit.events.some((event) => event.type === 'attempt_planned' && event.n === n && event.clusterBoundAt === clusterBoundAt),
    );
    const where = `${process.name}#${process.id} sends ${identity} under the bound ${clusterBoundAt}`;
    holds(planned, 'S3', () => `${where}, which no commit holds`);
    // Kubernetes creates a name once: the same create may be repeated by whomever (protocols §3.5).
    if (this.#shape === 'kubernetes') return;
    holds(this.#authors.get(planned.commitId) === process.id, 'S3', () => `${where}, which another committed`);
    holds(!this.#sent.has(planned.commitId), 'S3', () => `${where} a second time`);
    this.#sent.add(planned.commitId);
  }

  /** S12: no token in a log. */
  #log(level: string, message: string, fields: unknown): void {
    this.#kernel.note(() => `  ${level}: ${message} ${JSON.stringify(fields)}`);
    const text = JSON.stringify(fields);
    for (const { slots } of this.#store.dump().jobs.values())
      for (const { token } of slots.values()) if (text.includes(token)) throw new Broken('S12', `a token is in the log: ${message}`);
  }

  #polls(): void {
    const kernel = this.#kernel;
    const limit = this.#climate.limits ? POLL_MS : undefined;
    const sweep = kernel.calm || this.#random.chance(0.2);
    const one = (): void =>
      void kernel
        .spawn('poll', limit, (process) => poll(this.#portsFor(process), { cluster: CLUSTER, login: LOGIN, sweep }))
        .catch((error: unknown) => this.#failed('poll', error));
    if (!kernel.meets('invocation_failed')) one();
    if (kernel.meets('duplicate_invocation')) kernel.after(this.#random.between(1, 5000), one, 'poll invoked twice');
    const seconds = kernel.calm ? Math.max(30, this.#pollSeconds) : this.#pollSeconds;
    kernel.after(seconds * 1000 + this.#random.between(0, 2000), () => this.#polls(), 'poll');
  }

  #reconciles(): void {
    this.#reconcile(false);
    this.#kernel.after(RECONCILE_MS, () => this.#reconciles(), 'reconcile');
  }

  #reconcileSoon(): void {
    this.#kernel.after(this.#random.between(100, 3000), () => this.#reconcile(false), 'reconcile, since an execution ended badly');
  }

  #reconcile(everyJob: boolean): void {
    if (everyJob) this.#restarts += 1;
    this.#kernel
      .spawn('reconcile', this.#climate.limits ? POLL_MS : undefined, (process) => reconcile(this.#portsFor(process), { everyJob }))
      .catch((error: unknown) => this.#failed('reconcile', error))
      .finally(() => {
        if (everyJob) this.#restarts -= 1;
      });
  }

  #failed(name: string, error: unknown): void {
    const failure = error as Error;
    if (failure.name === 'AssertionFailed') this.#breaks(new Broken('assertion', `${name}: ${failure.message}`));
    else if (failure.name === 'Broken') this.#breaks(failure);
    else if (!EXPECTED.has(failure.name)) this.#breaks(new Broken('error', `${name}: ${failure.stack ?? failure.message}`));
    else this.#kernel.note(() => `  ${name} failed: ${failure.name}: ${failure.message}`);
  }

  #breaks(error: unknown): void {
    if (this.#broken) return;
    this.#broken = error instanceof Broken ? error : new Broken('error', (error as Error).stack ?? String(error));
    this.#brokenAt = this.#kernel.step;
    this.#kernel.note(() => `  BROKEN ${this.#broken!.invariant}: ${this.#broken!.message}`);
  }

  #stopped(): boolean {
    return this.#broken !== undefined || this.#kernel.step >= (this.#options.stopAt ?? Number.POSITIVE_INFINITY);
  }

  async #go(goesOn: () => boolean): Promise<void> {
    const due = (): void => {
      this.#cluster.catchUp();
      this.#check.check();
    };
    while (!this.#stopped() && goesOn()) {
      if (!(await this.#kernel.advance(due))) return;
      this.#judge();
    }
  }

  #judge(): void {
    for (const [job, { commits, head, slots }] of this.#store.dump().jobs) {
      const tracked = this.#jobs.get(job) ?? {};
      this.#jobs.set(job, tracked);
      const { view, commitId, headVersion = 0 } = tracked;
      holds(!view || commits[view.version - 1]?.commitId === commitId, 'S10', () => `version ${view?.version} of ${job} was written twice`);
      holds(!head || head.version >= headVersion, 'S10', () => `the head of ${job} went back from ${headVersion} to ${head?.version}`);
      if (head) tracked.headVersion = head.version;
      while ((tracked.view?.version ?? 0) < commits.length) this.#judgeNext(tracked, job, (tracked.view?.version ?? 0) + 1);
      if (head && tracked.view) this.#wakes.check(tracked.view, head.version, slots, this.#kernel.nowMs);
    }
    this.#check.check();
  }

  #judgeNext(tracked: Tracked, job: string, version: number): void {
    const commit = this.#store.dump().jobs.get(job)!.commits[version - 1];
    holds(commit, 'S10', () => `the log of ${job} has no version ${version}`);
    this.#kernel.note(() => `  ${job} ${version} ${commit.actor}: ${JSON.stringify(commit.events)}`);
    const judged = { cluster: this.#cluster.state, causes: this.#check.causes, copies: this.#copies };
    // The step that this commit answers, and the one that follows from it.
    if (tracked.view) this.#reach(`step ${nextStep(tracked.view, this.#kernel.nowMs).do}`);
    tracked.view = judgeCommit(judged, tracked.view, commit, this.#kernel.nowMs);
    tracked.commitId = commit.commitId;
    if (tracked.view.ended) tracked.endedAt ??= this.#kernel.nowMs;
    this.#reach(`step ${nextStep(tracked.view, this.#kernel.nowMs).do}`);
    for (const event of commit.events) {
      this.#reach(`event ${event.type}`);
      if (event.type === 'attempt_ended' || event.type === 'job_ended') this.#reach(`cause ${event.outcome.cause}`);
      if (event.type === 'escalation_raised') this.#reach(`question ${event.kind}`);
    }
  }

  #reach(what: string): void {
    this.#reached.set(what, (this.#reached.get(what) ?? 0) + 1);
  }

  #views(): View[] {
    return [...this.#jobs.values()].flatMap(({ view }) => (view ? [view] : []));
  }

  /** No fault any more: within a bound every job has ended or told a person, and nothing of ours is left over. */
  async #comeToRest(): Promise<void> {
    const kernel = this.#kernel;
    const calmAt = this.#calmAt;
    const lastStep = kernel.step + REST_STEPS;
    // Sweeps and reconcile come round first, or rest would be judged before they could repair anything.
    await this.#go(() => kernel.nowMs < calmAt + RECONCILE_MS + 60_000);
    const until = calmAt + REST_MS;
    const inTime = (): boolean => kernel.nowMs < until && kernel.step < lastStep;
    let rested = false;
    let looked = 0;
    const looks = (): boolean => {
      if (kernel.nowMs < looked + 20_000 || kernel.live.size > 0) return rested;
      looked = kernel.nowMs;
      rested = isAtRest(this.#resting());
      return rested;
    };
    while (!this.#stopped() && inTime()) {
      await this.#go(() => inTime() && !looks());
      // Once more round, so that what came to rest last is swept too; a question that expired meanwhile begins it all anew.
      const round = kernel.nowMs + RECONCILE_MS + 60_000;
      await this.#go(() => inTime() && (kernel.nowMs < round || kernel.live.size > 0));
      looked = 0;
      if (looks()) break;
    }
    if (this.#stopped()) return;
    judgeRest(this.#resting());
    for (const { name, id } of this.#foreign) {
      const acts = this.#cluster.state.acts.filter((act) => act.identity === name && act.verb !== 'submit');
      holds(acts.length === 0, 'S7', () => `object ${id} of another deployment was touched: ${JSON.stringify(acts)}`);
    }
  }

  #resting(): Resting {
    const engine = this.#engine;
    return {
      store: this.#store,
      cluster: this.#cluster.state,
      tag: this.#tag,
      now: this.#kernel.nowMs,
      supervised: (job) => engine.listExecutions({ status: 'RUNNING', maxResults: 1000 }).some(({ name }) => name.startsWith(`${job}-`)),
      views: this.#views(),
    };
  }

  ran(): Ran {
    const dumped = this.#options.trace && (this.#broken !== undefined || this.#options.stopAt !== undefined);
    return {
      seed: this.#options.seed,
      steps: this.#kernel.step,
      virtualSeconds: Math.round((this.#kernel.nowMs - START_MS) / 1000),
      faults: this.#kernel.met,
      reached: this.#reached,
      ...(this.#broken ? { broken: { invariant: this.#broken.invariant, says: this.#broken.message, step: this.#brokenAt } } : {}),
      trace: this.#trace,
      ...(dumped ? { dump: { machine: MACHINE, shape: this.#shape, views: this.#views(), truth: this.#cluster.truth() } } : {}),
    };
  }
}

const drawCluster = (random: Random, shape: Shape, kernel: Kernel): Cluster => {
  const accounting = random.chance(0.6);
  return createMemoryCluster({
    shape,
    clock: kernel,
    random: random.next,
    clockOffsetMs: random.pick([0, 0, 3_600_000, -3_600_000, random.between(-60_000, 60_000)]),
    accounting,
    accountingLagSeconds: random.pick([0, 0, 20, 400]),
    ...(random.chance(0.3) ? { purgeSeconds: random.between(120, 600) } : {}),
    markViewSeconds: random.pick([0, 0, 20, 55]),
    requeueDelaySeconds: random.pick([0, 30, 121]),
    credentialLifeSeconds: random.pick([60, 300]),
  });
};
