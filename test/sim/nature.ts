/**
 * Nature and strangers in a world: what happens to objects on the cluster without dispatch, what sources wrongly say for a while, what
 * stops answering, and which executions die. Once faults are over everything that lasts is undone.
 */
import type { ClusterObject } from '../../lib/cluster/memory/state.ts';
import type { World as Cluster } from '../../lib/cluster/memory/world.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import { type FaultKind, SIEGE_MS } from './climate.ts';
import type { Disorder } from './cluster.ts';
import type { Shape } from './draw.ts';
import { drawLoss } from './draw-script.ts';
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
  readonly tickMs: number;
  /** An outage that outlasts all others. */
  sieged: boolean;
  engine(): Engine;
  /** Jobs that were born, and the generation that supervises each. */
  generations(): readonly { readonly job: string; readonly generation: number }[];
  /** Jobs about which people are asked. */
  asked(): ReadonlySet<string>;
  /** A local process starts anew: reconcile of every job. */
  restart(): void;
  /** A person asks the cluster anew what it can do. */
  preflight(): void;
  /** Objects that a stranger made under our identity. */
  readonly copies: Set<ClusterObject>;
  /** A stranger's own program was put on the cluster: somebody may want it watched. */
  appeared(schedulerId: string): void;
}

/** A fresh object is missing from lists for less than lies between the end of its credential and the second look for it (protocols §3.5). */
const HIDDEN_MS = 45_000;
const FRESH_MS = 5000;

export const willHappen = (world: Elements): void => {
  const { kernel, tickMs } = world;
  const tick = (): void => {
    if (kernel.calm) return;
    strangers(world);
    accidents(world);
    sources(world);
    lies(world);
    services(world);
    relations(world);
    kernel.after(kernel.random.between(1, 2 * tickMs), tick, 'nature');
  };
  kernel.after(kernel.random.between(1, tickMs), tick, 'nature');
};

const pickOurs = (world: Elements): ClusterObject | undefined => {
  const { kernel, cluster } = world;
  cluster.catchUp();
  // One whose id went to another object is out of everybody's reach.
  const ours = cluster.state.objects.filter((object) => object.tag === world.tag && cluster.state.byId.get(object.id) === object);
  return ours.length === 0 ? undefined : kernel.random.pick(ours);
};

/** Those who meddle do it with what waits, at its gate or for an answer, as often as with anything. */
const pickWaiting = (world: Elements): ClusterObject | undefined => {
  const { kernel, cluster, tag } = world;
  if (kernel.random.chance(0.5)) return pickOurs(world);
  cluster.catchUp();
  const asked = world.asked();
  const waiting = cluster.state.objects.filter(
    (object) =>
      object.tag === tag && cluster.state.byId.get(object.id) === object && (object.state === 'gated' || asked.has(object.job ?? '')),
  );
  return waiting.length === 0 ? pickOurs(world) : kernel.random.pick(waiting);
};

const strangers = (world: Elements): void => {
  const { kernel, cluster, shape } = world;
  const { random } = kernel;
  const object = pickWaiting(world);
  if (!object) return;
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
    // An id that comes round belongs to something else, or nothing in the world could tell the two apart.
    cluster.reuseIds(1 + Math.max(...cluster.state.objects.map((one) => Number(one.id))));
    const copy = foreign.submit({ name: object.name, login: object.login, copyOf: id });
    if (copy !== undefined) {
      world.copies.add(cluster.state.byId.get(copy)!);
      if (random.chance(0.7)) foreign.release(copy);
    }
  }
  if (random.chance(0.01)) {
    const name = `elsewhere-${cluster.state.objects.length}`;
    const appeared = foreign.submit({ name, login: object.login, script: [drawStranger(random)] });
    if (appeared !== undefined) world.appeared(appeared);
  }
};

const drawStranger = (random: Kernel['random']) => ({
  queueSeconds: random.between(0, 100),
  program: { runsSeconds: random.between(1, 400), ends: random.pick(['completed', 'preempted', { exit: 2 }, 'vanishes']) },
});

const accidents = (world: Elements): void => {
  const { kernel, cluster } = world;
  const { random } = kernel;
  const object = pickOurs(world);
  if (!object) return;
  const { id } = object;
  if (kernel.meets('preempted')) cluster.preempt(id);
  if (kernel.meets('node_lost')) cluster.loseNode(id, drawLoss(random));
  if (kernel.meets('memory_killed')) cluster.strike(id, 'out_of_memory');
  if (kernel.meets('node_returns')) cluster.returnNode(id);
  if (kernel.meets('suspended')) suspends(world, id, 1);
  if (kernel.meets('suspended_again_and_again')) suspends(world, id, random.between(2, 12));
  if (kernel.meets('purged')) cluster.purge(id);
  // A UID never comes round.
  if (world.shape === 'slurm' && kernel.meets('ids_reused')) cluster.reuseIds(random.between(1, cluster.state.nextId));
};

/** Suspended and resumed, so many times, as a scheduler does that shares its nodes by time. */
const suspends = (world: Elements, id: string, times: number): void => {
  const { kernel, cluster } = world;
  if (kernel.calm || times === 0) return;
  cluster.suspend(id);
  const resume = (): void => {
    cluster.resume(id);
    kernel.after(kernel.random.between(1, 60) * 1000, () => suspends(world, id, times - 1), 'suspend again');
  };
  kernel.after(kernel.random.between(1, 120) * 1000, resume, 'resume');
};

/** For a while, and until the world is calm. */
const during = (
  { kernel }: Elements,
  kind: FaultKind,
  [least, most]: readonly [number, number],
  begin: () => void,
  end: () => void,
): void => {
  if (!kernel.meets(kind)) return;
  begin();
  kernel.after(kernel.random.between(least, most), end, `${kind} is over`);
};

const sources = (world: Elements): void => {
  const { kernel, cluster, disorder } = world;
  const { faults } = cluster;
  const { random } = kernel;
  const reached = (): void => cluster.unreachable(world.sieged);
  during(world, 'cluster_outage', [1, 400_000], () => cluster.unreachable(true), reached);
  if (!world.sieged && kernel.meets('cluster_siege')) {
    world.sieged = true;
    cluster.unreachable(true);
    const over = (): void => {
      world.sieged = false;
      cluster.unreachable(false);
    };
    kernel.after(SIEGE_MS - random.between(0, 900_000), over, 'the siege is over');
  }
  const controller = (down: boolean) => (): void => {
    disorder.controllerDown = down;
  };
  during(world, 'controller_outage', [1, 900_000], controller(true), controller(false));
  during(
    world,
    'cluster_stale_view',
    [1, 200_000],
    () => cluster.freezeView(true),
    () => cluster.freezeView(false),
  );
  const unreadable = (so: boolean) => (): void => {
    faults.pubUnreadable = so;
  };
  during(world, 'cluster_pub_unreadable', [1, 300_000], unreadable(true), unreadable(false));
  if (kernel.meets('cluster_clock_jump')) cluster.jumpClock(random.between(-4000, 4000));
};

/** One lie at a time: objects are left out of what is shown, and mostly the source says itself that it is not whole. */
const lies = (world: Elements): void => {
  const { kernel, cluster } = world;
  const { random } = kernel;
  const { objects } = cluster.state;
  const honest = (): void => cluster.lie(undefined);
  const hiding = (hidden: readonly ClusterObject[], complete: boolean) => (): void => {
    const ids = new Set(hidden.map((object) => object.id));
    cluster.lie({ hides: ({ id }) => ids.has(id), complete });
  };
  const unless = (kind: FaultKind, mostMs: number, hidden: () => readonly ClusterObject[], complete: boolean): void => {
    if (!cluster.faults.lie) during(world, kind, [1, mostMs], hiding(hidden(), complete), honest);
  };
  unless('cluster_partial_view', 900_000, () => objects.filter(() => random.chance(0.5)), false);
  unless('cluster_empty_view', 300_000, () => [...objects], false);
  unless('cluster_truncated_view', 300_000, () => objects.slice(Math.floor(objects.length / 2)), false);
  // A list may miss what is fresh, and not know it: only objects that landed within the last moments.
  unless('cluster_hidden_object', HIDDEN_MS, () => objects.filter((object) => object.landedAtMs >= kernel.nowMs - FRESH_MS), true);
};

/** What a cluster and its administrators do to us as a user of it. */
const relations = (world: Elements): void => {
  const { kernel, disorder } = world;
  const { random } = kernel;
  const refuses = (so: boolean) => (): void => {
    disorder.refusesLogin = so;
  };
  during(world, 'cluster_refuses_login', [1, 1_200_000], refuses(true), refuses(false));
  const shown = (): void => {
    disorder.showsAnotherKey = true;
  };
  // Somebody looks, and pins the new key; now and then the old one is back by itself.
  const pinned = (): void => {
    disorder.showsAnotherKey = false;
    if (random.chance(0.7)) disorder.configuration += 1;
  };
  during(world, 'cluster_shows_another_key', [1, 1_200_000], shown, pinned);
  const loses = (): void => {
    disorder.lost = random.pick(['bulk_observation', 'cancel', 'checkpoint_files', 'containers'] as const);
    world.preflight();
  };
  const finds = (): void => {
    disorder.lost = undefined;
    if (random.chance(0.5)) world.preflight();
  };
  during(world, 'cluster_loses_capability', [60_000, 900_000], loses, finds);
  if (kernel.meets('configuration_changed')) disorder.configuration += 1;
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
  Object.assign(world.disorder, {
    controllerDown: false,
    refusesLogin: false,
    showsAnotherKey: false,
    lost: undefined,
  } satisfies Partial<Disorder>);
  world.sieged = false;
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
