/**
 * Nature and strangers in a world: what happens to objects on the cluster without dispatch, what sources wrongly say for a while, what
 * stops answering, and which executions die. Once faults are over everything that lasts is undone.
 */
import type { World as Cluster } from '../../lib/cluster/memory/world.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import type { Disorder } from './cluster.ts';
import { drawLoss, type Shape } from './draw.ts';
import type { Kernel } from './kernel.ts';
import type { Line } from './store.ts';
import { inputOf } from './supervision.ts';

export interface Elements {
  readonly kernel: Kernel;
  readonly cluster: Cluster;
  readonly shape: Shape;
  readonly tag: string;
  readonly line: Line;
  readonly disorder: Disorder;
  engine(): Engine;
  /** Jobs that were born, and the generation that supervises each. */
  generations(): readonly { readonly job: string; readonly generation: number }[];
  /** A local process starts anew: reconcile of every job. */
  restart(): void;
  /** Ids of objects that a stranger made under our identity. */
  readonly copies: Set<string>;
}

const TICK_MS = 20_000;

/** A fresh object is missing from lists for less than the settle margin (protocols §3.1). */
const HIDDEN_MS = 20_000;

export const willHappen = (world: Elements): void => {
  const { kernel } = world;
  const tick = (): void => {
    if (kernel.calm) return;
    strangers(world);
    sources(world);
    services(world);
    kernel.after(kernel.random.between(1, 2 * TICK_MS), tick, 'nature');
  };
  kernel.after(kernel.random.between(1, TICK_MS), tick, 'nature');
};

const strangers = (world: Elements): void => {
  const { kernel, cluster, shape } = world;
  const { random } = kernel;
  cluster.catchUp();
  const ours = cluster.state.objects.filter((object) => object.tag === world.tag);
  if (ours.length === 0) return;
  const object = random.pick(ours);
  const { id } = object;
  const { foreign } = cluster;
  const slurm = shape === 'slurm';
  if (kernel.meets('foreign_cancel')) foreign.cancel(id, random.pick(['login', 'admin', 'unknown'] as const));
  if (kernel.meets('foreign_hold')) foreign.hold(id);
  if (kernel.meets('foreign_edit')) foreign.edit(id, { timeLimitSeconds: random.between(60, 2000) });
  // On Kubernetes there is no guard: what a stranger lets go runs, and nobody can prevent it.
  if (slurm && kernel.meets('foreign_release')) foreign.release(id);
  if (slurm && !object.refused && kernel.meets('foreign_requeue')) foreign.requeue(id);
  if (slurm && object.submission && kernel.meets('second_object')) {
    const copy = foreign.submit({ name: object.name, login: object.login, copyOf: id });
    if (copy !== undefined) {
      world.copies.add(copy);
      if (random.chance(0.7)) foreign.release(copy);
    }
  }
  if (kernel.meets('struck')) {
    if (random.chance(0.5)) cluster.preempt(id);
    else cluster.loseNode(id, drawLoss(random));
  }
  if (kernel.meets('node_returns')) cluster.returnNode(id);
  if (kernel.meets('suspended')) {
    cluster.suspend(id);
    kernel.after(random.between(1, 120) * 1000, () => cluster.resume(id), 'resume');
  }
  if (kernel.meets('purged')) cluster.purge(id);
};

const sources = (world: Elements): void => {
  const { kernel, cluster } = world;
  const { random } = kernel;
  const during = (kind: Parameters<Kernel['meets']>[0], mostMs: number, begin: () => void, end: () => void): void => {
    if (!kernel.meets(kind)) return;
    begin();
    kernel.after(random.between(1, mostMs), end, `${kind} is over`);
  };
  const { faults } = cluster;
  during(
    'cluster_outage',
    400_000,
    () => cluster.unreachable(true),
    () => cluster.unreachable(false),
  );
  during(
    'controller_outage',
    900_000,
    () => {
      world.disorder.controllerDown = true;
    },
    () => {
      world.disorder.controllerDown = false;
    },
  );
  during(
    'cluster_stale_view',
    200_000,
    () => cluster.freezeView(true),
    () => cluster.freezeView(false),
  );
  if (!faults.lie) {
    const hidden = new Set(cluster.state.objects.filter(() => random.chance(0.5)).map((object) => object.id));
    const hides = ({ id }: { id: string }): boolean => hidden.has(id);
    const honest = (): void => cluster.lie(undefined);
    during('cluster_partial_view', 900_000, () => cluster.lie({ hides, complete: false }), honest);
    if (!faults.lie) {
      // A list may miss what is fresh: only objects that landed within the last moments.
      const since = kernel.nowMs - 10_000;
      const fresh = new Set(cluster.state.objects.filter((object) => object.landedAtMs >= since).map((object) => object.id));
      during('cluster_hidden_object', HIDDEN_MS, () => cluster.lie({ hides: ({ id }) => fresh.has(id), complete: true }), honest);
    }
  }
  during(
    'cluster_pub_unreadable',
    300_000,
    () => {
      faults.pubUnreadable = true;
    },
    () => {
      faults.pubUnreadable = false;
    },
  );
  if (kernel.meets('cluster_clock_jump')) cluster.jumpClock(random.between(-4000, 4000));
};

const services = (world: Elements): void => {
  const { kernel, line } = world;
  const { random } = kernel;
  if (!line.down && kernel.meets('record_outage')) {
    line.down = true;
    kernel.after(random.between(1, 300_000), () => (line.down = false), 'the record answers again');
  }
  const born = world.generations();
  if (born.length === 0) return;
  const { job, generation } = random.pick(born);
  if (kernel.meets('execution_killed')) world.engine().kill(`${job}-${generation}`);
  if (kernel.meets('spontaneous_generation')) {
    const name = `${job}-${generation + 1}`;
    const taken = world
      .engine()
      .listExecutions({ maxResults: 1000 })
      .some((execution) => execution.name === name);
    if (!taken) world.engine().startExecution({ name, input: inputOf(job, generation + 1) });
  }
  if (kernel.meets('local_restart')) world.restart();
};

/** Faults are over: whatever lasts is undone, and what strangers hold they let go. */
export const calmDown = (world: Elements): void => {
  const { cluster, line } = world;
  world.disorder.controllerDown = false;
  line.down = false;
  line.lists.clear();
  cluster.unreachable(false);
  cluster.freezeView(false);
  cluster.lie(undefined);
  cluster.faults.pubUnreadable = false;
  for (const object of cluster.state.objects) {
    if (object.held) cluster.foreign.unhold(object.id);
    if (object.state === 'suspended') cluster.resume(object.id);
    cluster.returnNode(object.id);
  }
};
