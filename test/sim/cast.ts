/**
 * The cast of one world: supervisors, pollers, reconcile, people and strangers, each with ports of its own, and the jobs they are about.
 */
import { preflight } from '../../lib/app/cluster/preflight.ts';
import { poll } from '../../lib/app/poll.ts';
import type { ClusterConfiguration, Ports } from '../../lib/app/ports.ts';
import { probes } from '../../lib/app/probes.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import type { Doomed } from '../../lib/checkpoint/collect.ts';
import { adapter as memoryAdapter } from '../../lib/cluster/memory/adapter.ts';
import type { Call, Fault } from '../../lib/cluster/memory/fault.ts';
import type { Adapter, FindAnswer, Submission, SubmitAnswer } from '../../lib/cluster/port.ts';
import type { Probe } from '../../lib/job/capability.ts';
import { openClusterQuestions } from '../../lib/job/cluster-view.ts';
import { type Plan, plan } from '../../lib/job/plan.ts';
import { requeueOf } from '../../lib/job/plan-input.ts';
import type { Spec } from '../../lib/job/spec.ts';
import { blockingQuestion } from '../../lib/job/view.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import { RequestRefused } from '../../lib/local/engine/fault.ts';
import { digestOf } from '../../lib/record/log.ts';
import { busFor } from './bus.ts';
import { adapterFor, chooseFault } from './cluster.ts';
import type { Judge } from './judge.ts';
import { Crashed, type Process } from './kernel.ts';
import { calmDown, type Elements, willHappen } from './nature.ts';
import { type Births, type Public, willLook, willSubmit } from './people.ts';
import { randomFor } from './random.ts';
import { newerRelease } from './release.ts';
import { CLUSTER, LOGIN, START_MS, type Stage } from './stage.ts';
import { type Line, lineTo, storeFor } from './store.ts';
import { createSupervision, type MachineInput, supervisorsFor } from './supervision.ts';
import { Warmth } from './warmth.ts';
import { watched } from './watched.ts';

/** The functions' time limit, and how often reconcile runs (contract §13). */
const FUNCTION_MS = 50_000;
export const RECONCILE_MS = 300_000;
const BOUND_SECONDS = 90;
const DRAWS = 8;

export class Cast {
  readonly engine: Engine;
  readonly #stage: Stage;
  readonly #judge: Judge;
  readonly #line: Line;
  readonly #adapter: Adapter;
  readonly #elements: Elements;
  readonly births: Births = new Map();
  /** How many will be submitted. */
  jobs = 0;
  readonly #strangers: string[] = [];
  #calmAt = Number.POSITIVE_INFINITY;
  /** Those of processes of the newer release. */
  readonly #newer = new WeakSet<Ports>();
  readonly #warmth: Warmth;
  /** When executions began. */
  readonly #begun = new Map<string, number>();
  /** Reconciles of every job under way. */
  #restarts = 0;

  constructor(stage: Stage, judge: Judge) {
    const { kernel, cluster, store, tag, options, disorder } = stage;
    this.#stage = stage;
    this.#judge = judge;
    this.#warmth = new Warmth(kernel, randomFor(options.seed, 'warmth'));
    const base = options.mutant?.store?.(store) ?? stage.record;
    // A reconcile that looked before the world was calm may act on it for as long as it lives: one generation too many is harmless.
    const isOld = ({ startedAtMs }: Process): boolean => startedAtMs <= this.#calmAt;
    const mayReplace = (at: number): boolean => at <= this.#calmAt || this.#restarts > 0 || [...kernel.live].some(isOld);
    const watching = {
      memory: store,
      must: <T>(work: () => T): T => judge.must(work),
      breaks: (error: unknown) => judge.breaks(error),
      taken: (token: string) => judge.tokens.taken(token),
      isWaiting: (token: string) => this.isWaiting(token),
      runs: (name: string) => this.runs(name),
      mayReplace,
    };
    this.#line = lineTo(kernel, watched(base, watching), stage.writes);
    const adapter = memoryAdapter(cluster, { tag, cluster: CLUSTER });
    this.#adapter = options.mutant?.adapter?.(adapter, cluster) ?? adapter;
    this.engine = createSupervision({
      kernel,
      limits: stage.climate.limits,
      portsFor: (process) => this.portsFor(process),
      taken: (ports, input) => this.#taken(ports, input),
      directs: (input, directive) => judge.directs(input, directive),
      failed: (name, error) => judge.failed(name, error),
      endedBadly: () =>
        kernel.after(stage.random.between(100, 3000), () => this.#reconcile(false), 'reconcile, since an execution ended badly'),
      signalled: (token) => judge.tokens.signalled(token),
      ended: (execution) => judge.ended(execution),
      turns: (job, generation) => judge.turns(job, generation),
      waits: (job, generation) => judge.waits(job, generation),
    });
    this.#elements = {
      ...{ kernel, cluster, tag, disorder, shape: stage.shape, copies: stage.copies, letIn: stage.letIn, line: this.#line },
      engine: () => this.engine,
      ...{ sieged: false, jumpedMs: 0, tickMs: stage.kind.tickMs },
      generations: () => this.#generations(),
      awaitsLanding: () => judge.views().some(({ attempts }) => ['planned', 'uncertain'].includes(attempts.at(-1)?.state ?? '')),
      asked: () => new Set(judge.views().flatMap((view) => (blockingQuestion(view) ? [view.job] : []))),
      restart: () => this.#reconcile(true),
      preflight: () => this.#preflight(CLUSTER, stage.random.pick(stage.logins)),
      appeared: (schedulerId) => void this.#strangers.push(schedulerId),
    };
  }

  /** Which fault a call of ours to the cluster meets. */
  chooses(call: Call): Fault | undefined {
    const { kernel, disorder, cluster } = this.#stage;
    return chooseFault(kernel, disorder, BOUND_SECONDS + cluster.state.settings.credentialLifeSeconds + 20, call);
  }

  /** Everyone begins. `alone`: the first deployment brings nature and strangers with it. */
  async enter(alone: boolean): Promise<void> {
    const { kernel, random, cluster, pollSeconds, kind, options } = this.#stage;
    // What the cluster can do when nobody has tampered with it: a spec that its plan would refuse is not worth a job.
    const probe = await (await memoryAdapter(cluster, { tag: 'zzzz', cluster: CLUSTER }).connect(LOGIN)).probe(kernel.nowMs);
    const world = this.#public();
    const jobs = Math.min(random.pick(kind.jobs), options.jobs ?? Number.POSITIVE_INFINITY);
    this.jobs = jobs;
    for (let i = 1; i <= jobs; i++) {
      const afterMs = random.between(1, random.pick(kind.submitWithinMs));
      willSubmit(world, () => this.#drawn(`job${i}`, probe, START_MS + afterMs), `key${i}`, this.births, afterMs);
    }
    willLook(world, kind.habits(random));
    const pollers = random.pick([1, 1, 2]);
    for (const login of this.#stage.logins)
      for (let i = 0; i < pollers; i++) kernel.after(random.between(1, pollSeconds * 1000), () => this.#polls(login), 'poll');
    kernel.after(random.between(1, RECONCILE_MS), () => this.#reconciles(), 'reconcile');
    if (alone) willHappen(this.#elements);
  }

  #public(): Public {
    const { kernel, climate, cluster, tag } = this.#stage;
    const judge = this.#judge;
    return {
      ...{ kernel, limits: climate.limits, cluster: cluster.state, tag, strangers: this.#strangers },
      engine: () => this.engine,
      views: () => judge.views(),
      isUnparked: (job, id) => {
        const question = judge
          .views()
          .find((view) => view.job === job)
          ?.questions.find((one) => one.id === id);
        const wake = this.#stage.store.dump().jobs.get(job)?.slots.get(id)?.wake;
        return question?.blocks === true && !question.closed && wake === undefined;
      },
      clusterView: () => judge.clusterView(),
      portsFor: (process) => this.portsFor(process),
      failed: (name, error) => judge.failed(name, error),
      must: (work) => judge.must(work),
      reach: (what) => judge.reach(what),
      preflight: (id, login) => this.#preflight(id, login),
    };
  }

  /** Faults are over. */
  calmDown(): void {
    const { kernel } = this.#stage;
    kernel.calm = true;
    this.#calmAt = kernel.nowMs;
    calmDown(this.#elements);
    this.#tends();
  }

  /** Whether a task waits under this token. No state of ours has a heartbeat, so one more beat changes nothing. */
  isWaiting(token: string): boolean {
    try {
      this.engine.sendTaskHeartbeat(token);
      return true;
    } catch (error) {
      if (error instanceof RequestRefused) return false;
      throw error;
    }
  }

  runs(name: string): boolean {
    return this.engine.listExecutions({ status: 'RUNNING', maxResults: 1000 }).some((execution) => execution.name === name);
  }

  /** Each release counts its own machine as this code does; an execution keeps the one that it began with (P2.9). */
  #taken<T extends MachineInput>(ports: Ports, input: T): T {
    const { kernel, climate } = this.#stage;
    const from = climate.upgrade?.machineAfterMs;
    if (from === undefined) return input;
    const name = `${input.job}-${input.generation}`;
    if (input.startedAt !== undefined) this.#begun.set(name, Date.parse(input.startedAt));
    const machine = input.machine + (this.#begun.get(name)! >= START_MS + from ? 1 : 0) - (this.#newer.has(ports) ? 1 : 0);
    if (machine < input.machine) kernel.count('older_machine');
    if (machine > input.machine) {
      kernel.count('newer_machine');
      throw new Crashed(`machine ${machine} is newer than this release's`);
    }
    return { ...input, machine };
  }

  /** Of which release a process is that begins now. */
  #isNewer(): boolean {
    const { kernel, climate } = this.#stage;
    const { upgrade } = climate;
    if (!upgrade) return false;
    return kernel.calm || (kernel.nowMs >= START_MS + upgrade.afterMs && kernel.luck('newer_release').chance(upgrade.share));
  }

  portsFor(process: Process): Ports {
    const { kernel, tag, random, climate, options } = this.#stage;
    const plain = storeFor(this.#line, process, this.#judge.watcher(process));
    const newer = this.#isNewer();
    const ports: Ports = {
      store: this.#warmth.storeFor(process, newer && climate.upgrade ? newerRelease(plain, climate.upgrade.clusters) : plain, newer),
      supervisors: supervisorsFor(kernel, () => this.engine, process),
      bus: busFor(kernel, process, this.#judge.notices),
      clusters: new Map([[CLUSTER, this.#configuration(process, climate.upgrade !== undefined && !newer)]]),
      probeOf: probes(() => mutated),
      tag,
      now: () => kernel.nowMs + process.skewMs,
      random: random.next,
      sleep: (ms) => kernel.call(process, `sleep ${ms}`, async () => undefined, undefined, ms),
      log: (level, message, fields) => this.#judge.logs(level, message, fields),
    };
    const mutated = options.mutant?.ports?.(ports) ?? ports;
    if (newer) this.#newer.add(mutated);
    return mutated;
  }

  #configuration(process: Process, older: boolean): ClusterConfiguration {
    const { kernel, disorder, pollSeconds } = this.#stage;
    const judge = this.#judge;
    const told = {
      sends: (submission: Submission) => judge.sends(process, submission),
      touches: (verb: string, job: string) => judge.touches(process, older, verb, job),
      lists: (job: string) => judge.lists(process, job),
      collected: (job: string, doomed: readonly Doomed[]) => judge.collected(job, doomed),
      connects: (login: string) => judge.connects(process, login),
      closes: () => judge.conduct.closes(process),
      finds: (job: string, answer: FindAnswer) => judge.conduct.finds(process, job, answer),
      observes: () => judge.looks.observes(process.id, kernel.nowMs),
      fences: (job: string) => judge.conduct.fences(process, job),
      hears: (submission: Submission, answer: SubmitAnswer) => judge.conduct.hears(submission, answer),
      releases: (job: string, schedulerId: string) => judge.releases(process, job, schedulerId),
    };
    return {
      id: CLUSTER,
      adapter: adapterFor({ kernel, adapter: this.#adapter, disorder, process, told }),
      readOnly: false,
      logins: this.#stage.logins.map((id) => ({ id, user: id })),
      pollEverySeconds: pollSeconds,
      landingBoundSeconds: BOUND_SECONDS,
      digest: `configuration ${disorder.configuration}`,
      secretDigest: () => kernel.call(process, 'secretDigest', async () => (disorder.refusesLogin ? 'old key' : 'new key')),
    };
  }

  /** A spec whose plan refuses nothing. */
  #drawn(name: string, probe: Probe, atMs: number): Spec {
    const { random, shape, kind } = this.#stage;
    for (let i = 1; ; i++) {
      const login = random.pick(this.#stage.logins);
      const drawn = { ...kind.drawSpec(random, name, CLUSTER, shape, atMs), login };
      const spec = i < DRAWS ? drawn : { ...drawn, policy: { ...drawn.policy, rules: [] } };
      if (i >= DRAWS || this.#planOf(spec, probe).refusals.length === 0) return spec;
    }
  }

  #planOf(spec: Spec, probe: Probe): Plan {
    const rendering = this.#adapter.render(spec, probe, { requeue: requeueOf(spec.policy), patienceSeconds: spec.patienceSeconds });
    const { pollSeconds, kernel } = this.#stage;
    const paces = { landingBoundSeconds: BOUND_SECONDS, pollEverySeconds: pollSeconds };
    const cluster = { id: CLUSTER, kind: 'memory' as const, readOnly: false, ...paces };
    return plan({ spec, cluster, login: { id: LOGIN, user: LOGIN }, probe, rendering, now: kernel.nowMs }, digestOf);
  }

  #generations(): { job: string; generation: number }[] {
    // A head at version 0 is a birth that nobody supervises yet.
    const born = [...this.#stage.store.dump().jobs].filter(([, { head }]) => head !== undefined && head.version > 0);
    return born.map(([job, { head }]) => ({ job, generation: head!.supervisor.generation }));
  }

  #preflight(cluster: string, login: string): void {
    this.#runs('preflight', (ports) => preflight(ports, cluster, login, 'hand'));
  }

  /** Once the world is calm a person has the cluster probed as long as something is wrong with its record. */
  #tends(): void {
    const view = this.#judge.clusterView();
    // Of another host key only a person can say that it is the right one.
    const wrong = view.submissionsBlocked ?? openClusterQuestions(view)[0] ?? view.logins.find(({ blocked }) => blocked);
    if (wrong) for (const login of this.#stage.logins) this.#preflight(CLUSTER, login);
    this.#stage.kernel.after(RECONCILE_MS, () => this.#tends(), 'a person tends to the cluster');
  }

  #polls(login: string): void {
    const { kernel, random, pollSeconds } = this.#stage;
    const sweep = kernel.calm || random.chance(0.2);
    const one = (): void => this.#runs('poll', (ports) => poll(ports, { cluster: CLUSTER, login, sweep }));
    if (!kernel.meets('invocation_failed')) one();
    if (kernel.meets('duplicate_invocation')) kernel.after(kernel.luck('duplicate_invocation').between(1, 5000), one, 'poll invoked twice');
    const seconds = kernel.calm ? Math.max(30, pollSeconds) : pollSeconds;
    kernel.after(seconds * 1000 + random.between(0, 2000), () => this.#polls(login), 'poll');
  }

  #reconciles(): void {
    this.#reconcile(false);
    this.#stage.kernel.after(RECONCILE_MS, () => this.#reconciles(), 'reconcile');
  }

  #reconcile(everyJob: boolean): void {
    if (everyJob) this.#restarts += 1;
    this.#runs(
      'reconcile',
      async (ports) => {
        const comesToItsEnd = this.#judge.reconciles();
        await reconcile(ports, { everyJob });
        comesToItsEnd();
      },
      () => {
        if (everyJob) this.#restarts -= 1;
      },
    );
  }

  #runs(name: string, body: (ports: Ports) => Promise<unknown>, over?: () => void): void {
    const limit = this.#stage.climate.limits ? FUNCTION_MS : undefined;
    this.#stage.kernel
      .spawn(name, limit, (process) => body(this.portsFor(process)))
      .catch((error: unknown) => this.#judge.failed(name, error))
      .finally(over);
  }
}
