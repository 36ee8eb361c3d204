/**
 * The cast of one world: supervisors, pollers, reconcile, people and strangers, each with ports of its own, and the jobs they are about.
 */
import { poll } from '../../lib/app/poll.ts';
import type { ClusterConfiguration, Ports } from '../../lib/app/ports.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import type { Submitted } from '../../lib/app/submit-job.ts';
import { adapter as memoryAdapter } from '../../lib/cluster/memory/adapter.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import type { Probe } from '../../lib/job/capability.ts';
import { type Plan, plan } from '../../lib/job/plan.ts';
import { requeueOf } from '../../lib/job/plan-input.ts';
import type { Spec } from '../../lib/job/spec.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import { digestOf } from '../../lib/record/log.ts';
import { adapterFor, chooseFault } from './cluster.ts';
import { drawSpec } from './draw.ts';
import type { Judge } from './judge.ts';
import type { Process } from './kernel.ts';
import { calmDown, type Elements, willHappen } from './nature.ts';
import { settleNeighbours } from './neighbours.ts';
import { willLook, willSubmit } from './people.ts';
import { CLUSTER, LOGIN, type Stage } from './stage.ts';
import { type Line, lineTo, storeFor } from './store.ts';
import { createSupervision, supervisorsFor } from './supervision.ts';

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
  #probe: Probe | undefined;
  #calmAt = Number.POSITIVE_INFINITY;
  /** Reconciles of every job under way. */
  #restarts = 0;

  constructor(stage: Stage, judge: Judge) {
    const { kernel, cluster, store, tag, options, disorder } = stage;
    this.#stage = stage;
    this.#judge = judge;
    const base = options.mutant?.store?.(store) ?? store;
    // A reconcile that looked before the world was calm may act on it for as long as it lives: one generation too many is harmless.
    const isOld = ({ startedAtMs }: Process): boolean => startedAtMs <= this.#calmAt;
    const mayReplace = (at: number): boolean => at <= this.#calmAt || this.#restarts > 0 || [...kernel.live].some(isOld);
    this.#line = lineTo(
      kernel,
      judge.watched(base, mayReplace, (name) => this.runs(name)),
    );
    const adapter = memoryAdapter(cluster, { tag, cluster: CLUSTER });
    this.#adapter = options.mutant?.adapter?.(adapter, cluster) ?? adapter;
    const lifeSeconds = BOUND_SECONDS + cluster.state.settings.credentialLifeSeconds + 20;
    cluster.faults.choose((call) => (call.tag === tag ? chooseFault(kernel, disorder, lifeSeconds, call) : undefined));
    this.engine = createSupervision({
      kernel,
      limits: stage.climate.limits,
      portsFor: (process) => this.portsFor(process),
      failed: (name, error) => judge.failed(name, error),
      endedBadly: () =>
        kernel.after(stage.random.between(100, 3000), () => this.#reconcile(false), 'reconcile, since an execution ended badly'),
    });
    this.#elements = {
      ...{ kernel, cluster, tag, disorder, shape: stage.shape, copies: stage.copies, line: this.#line },
      engine: () => this.engine,
      generations: () => this.#generations(),
      restart: () => this.#reconcile(true),
    };
  }

  /** Everyone begins. The identities of a second deployment's objects. */
  async enter(): Promise<readonly string[]> {
    const { kernel, random, climate, cluster, pollSeconds } = this.#stage;
    const probe = await (await memoryAdapter(cluster, { tag: 'zzzz', cluster: CLUSTER }).connect(LOGIN)).probe(kernel.nowMs);
    this.#probe = probe;
    const neighbours = await settleNeighbours(this.#stage, probe);
    const world = {
      ...{ kernel, limits: climate.limits, engine: () => this.engine, views: () => this.#judge.views() },
      portsFor: (process: Process) => this.portsFor(process),
      failed: (name: string, error: unknown) => this.#judge.failed(name, error),
    };
    const jobs = random.pick([1, 1, 2, 2, 3, 4]);
    for (let i = 1; i <= jobs; i++)
      willSubmit(world, () => this.#submitted(`job${i}`, probe), random.between(1, random.pick([1000, 300_000])));
    const habits = { cancels: random.pick([0, 0, 0.01, 0.05]), answers: random.pick([0, 0.1, 0.4]) };
    willLook(world, { ...habits, everyMs: random.pick([20_000, 120_000]) });
    const pollers = random.pick([1, 1, 2]);
    for (let i = 0; i < pollers; i++) kernel.after(random.between(1, pollSeconds * 1000), () => this.#polls(), 'poll');
    kernel.after(random.between(1, RECONCILE_MS), () => this.#reconciles(), 'reconcile');
    willHappen(this.#elements);
    return neighbours;
  }

  /** Faults are over. */
  calmDown(): void {
    const { kernel } = this.#stage;
    kernel.calm = true;
    this.#calmAt = kernel.nowMs;
    calmDown(this.#elements);
  }

  runs(name: string): boolean {
    return this.engine.listExecutions({ status: 'RUNNING', maxResults: 1000 }).some((execution) => execution.name === name);
  }

  portsFor(process: Process): Ports {
    const { kernel, tag, random, pollSeconds, options } = this.#stage;
    const configuration: ClusterConfiguration = {
      id: CLUSTER,
      adapter: adapterFor(kernel, this.#adapter, process, (submission) => this.#judge.sends(process, submission)),
      readOnly: false,
      logins: [{ id: LOGIN, user: LOGIN }],
      pollEverySeconds: pollSeconds,
      landingBoundSeconds: BOUND_SECONDS,
    };
    const ports: Ports = {
      store: storeFor(this.#line, process, this.#judge.watcher(process)),
      supervisors: supervisorsFor(kernel, () => this.engine, process),
      clusters: new Map([[CLUSTER, configuration]]),
      probeOf: () => kernel.call(process, 'probeOf', async () => this.#probe),
      tag,
      now: () => kernel.nowMs + process.skewMs,
      random: random.next,
      sleep: (ms) => kernel.call(process, `sleep ${ms}`, async () => undefined, undefined, ms),
      log: (level, message, fields) => this.#judge.logs(level, message, fields),
    };
    return options.mutant?.ports?.(ports) ?? ports;
  }

  /** A job whose plan refuses nothing. */
  #submitted(name: string, probe: Probe): Submitted {
    const { random, shape, kernel } = this.#stage;
    for (let i = 1; ; i++) {
      const drawn = drawSpec(random, name, CLUSTER, shape, kernel.nowMs);
      const spec = i < DRAWS ? drawn : { ...drawn, policy: { ...drawn.policy, rules: [] } };
      const planned = this.#planOf(spec, probe);
      if (planned.refusals.length > 0 && i < DRAWS) continue;
      return { spec, plan: planned, principal: 'ada', project: 'p', login: LOGIN, key: name, payloadHash: planned.specDigest };
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

  #polls(): void {
    const { kernel, random, pollSeconds } = this.#stage;
    const sweep = kernel.calm || random.chance(0.2);
    const one = (): void => this.#runs('poll', (ports) => poll(ports, { cluster: CLUSTER, login: LOGIN, sweep }));
    if (!kernel.meets('invocation_failed')) one();
    if (kernel.meets('duplicate_invocation')) kernel.after(random.between(1, 5000), one, 'poll invoked twice');
    const seconds = kernel.calm ? Math.max(30, pollSeconds) : pollSeconds;
    kernel.after(seconds * 1000 + random.between(0, 2000), () => this.#polls(), 'poll');
  }

  #reconciles(): void {
    this.#reconcile(false);
    this.#stage.kernel.after(RECONCILE_MS, () => this.#reconciles(), 'reconcile');
  }

  #reconcile(everyJob: boolean): void {
    if (everyJob) this.#restarts += 1;
    this.#runs(
      'reconcile',
      (ports) => reconcile(ports, { everyJob }),
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
