/**
 * Nature and strangers in a world: what happens to objects on the cluster without dispatch, what sources wrongly say for a while, what
 * stops answering, and which executions die. Once faults are over everything that lasts is undone.
 */
import type { Lie } from '../../lib/cluster/memory/fault.ts';
import { type ClusterObject, isPurged } from '../../lib/cluster/memory/state.ts';
import type { World as Cluster } from '../../lib/cluster/memory/world.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import { CLOCK_JUMPS_MS, type FaultKind, SIEGE_MS } from './climate.ts';
import type { Disorder } from './cluster.ts';
import type { Shape } from './draw.ts';
import { drawLoss } from './draw-script.ts';
import type { Kernel } from './kernel.ts';
import type { Random } from './random.ts';
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
  /** How far the cluster's clock was moved so far, to and fro. */
  jumpedMs: number;
  engine(): Engine;
  /** Jobs that were born, and the generation that supervises each. */
  generations(): readonly { readonly job: string; readonly generation: number }[];
  /** Whether an attempt is planned or uncertain. */
  awaitsLanding(): boolean;
  /** Jobs about which people are asked. */
  asked(): ReadonlySet<string>;
  /** A local process starts anew: reconcile of every job. */
  restart(): void;
  /** A person asks the cluster anew what it can do. */
  preflight(): void;
  /** Objects that a stranger made under our identity. */
  readonly copies: Set<ClusterObject>;
  /** Objects that a stranger let begin, or begin anew. */
  readonly letIn: Set<ClusterObject>;
  /** A stranger's own program was put on the cluster: somebody may want it watched. */
  appeared(schedulerId: string): void;
}

/** A fresh object is missing from lists for less than lies between the end of its credential and the second look for it (protocols §3.5). */
const HIDDEN_MS = 45_000;
const LAGS_MS = 200_000;
/** By so much clocks are set every day. */
const STEP_MS = 4000;

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

/** Whose id went to another object is out of everybody's reach. */
const oursOn = ({ cluster, tag }: Elements): readonly ClusterObject[] => {
  cluster.catchUp();
  return cluster.state.objects.filter((object) => object.tag === tag && cluster.state.byId.get(object.id) === object);
};

type Can = (object: ClusterObject) => boolean;
/** Whether it had any effect. */
type Does = (object: ClusterObject, random: Random) => boolean;

/** Strikes one of our objects on which it can act. */
const befalls = (world: Elements, kind: FaultKind, can: Can, does: Does, among: typeof all = all): void => {
  const { kernel } = world;
  if (!kernel.strikes(kind)) return;
  const random = kernel.luck(kind);
  const able = among(world, oursOn(world).filter(can), random);
  if (able.length > 0 && does(random.pick(able), random)) kernel.count(kind);
};

const all = (_world: Elements, objects: readonly ClusterObject[], _random: Random): readonly ClusterObject[] => objects;

/** Those who meddle do it with what waits, at its gate or for an answer, as often as with anything. */
const waitingFirst: typeof all = (world, objects, random) => {
  if (random.chance(0.5)) return objects;
  const asked = world.asked();
  const waiting = objects.filter((object) => object.state === 'gated' || asked.has(object.job ?? ''));
  return waiting.length === 0 ? objects : waiting;
};

const isAlive: Can = ({ state }) => state !== 'ended' && state !== 'ending';
const hasStarted: Can = ({ state }) => state === 'starting' || state === 'running' || state === 'suspended';
const waits: Can = ({ state }) => state === 'gated' || state === 'queued';

const strangers = (world: Elements): void => {
  const { cluster, shape, letIn } = world;
  const { foreign } = cluster;
  const meddles = (kind: FaultKind, can: Can, does: Does): void => befalls(world, kind, can, does, waitingFirst);
  meddles('foreign_cancel', isAlive, ({ id }, random) => foreign.cancel(id, random.pick(['login', 'admin', 'unknown'] as const)));
  meddles(
    'foreign_hold',
    (object) => waits(object) && !object.held,
    ({ id }) => foreign.hold(id),
  );
  meddles('foreign_edit', isAlive, ({ id }, random) => foreign.edit(id, { timeLimitSeconds: random.between(60, 2000) }));
  appears(world);
  // On Kubernetes there is no guard: what a stranger lets go runs, and nobody can prevent it.
  if (shape !== 'slurm') return;
  const lets =
    (act: (id: string) => boolean): Does =>
    (object) => {
      if (!act(object.id)) return false;
      letIn.add(object);
      return true;
    };
  meddles('foreign_release', (object) => waits(object) && !object.open, lets(foreign.release));
  const isBack: Can = (object) => !waits(object) && !object.refused && !isPurged(cluster.state, object);
  meddles('foreign_requeue', isBack, lets(foreign.requeue));
  meddles(
    'second_object',
    ({ submission }) => submission !== undefined,
    (object, random) => copies(world, object, random),
  );
};

const copies = (world: Elements, { id, name, login }: ClusterObject, random: Random): boolean => {
  const { cluster } = world;
  // An id that comes round belongs to something else, or nothing in the world could tell the two apart.
  cluster.reuseIds(1 + Math.max(...cluster.state.objects.map((one) => Number(one.id))));
  const made = cluster.foreign.submit({ name, login, copyOf: id });
  const copy = made === undefined ? undefined : cluster.state.byId.get(made);
  if (!copy) return false;
  world.copies.add(copy);
  if (random.chance(0.7) && cluster.foreign.release(copy.id)) world.letIn.add(copy);
  return true;
};

const appears = (world: Elements): void => {
  const { kernel, cluster } = world;
  const { random } = kernel;
  if (!random.chance(0.01)) return;
  const ours = oursOn(world);
  if (ours.length === 0) return;
  const name = `elsewhere-${cluster.state.objects.length}`;
  const appeared = cluster.foreign.submit({ name, login: random.pick(ours).login, script: [drawStranger(random)] });
  if (appeared !== undefined) world.appeared(appeared);
};

const drawStranger = (random: Random) => ({
  queueSeconds: random.between(0, 100),
  program: { runsSeconds: random.between(1, 400), ends: random.pick(['completed', 'preempted', { exit: 2 }, 'vanishes']) },
});

const accidents = (world: Elements): void => {
  const { kernel, cluster } = world;
  const { state } = cluster;
  befalls(world, 'preempted', hasStarted, ({ id }) => cluster.preempt(id));
  befalls(world, 'node_lost', hasStarted, ({ id }, random) => cluster.loseNode(id, drawLoss(random)));
  befalls(world, 'memory_killed', hasStarted, ({ id }) => cluster.strike(id, 'out_of_memory'));
  const isLost: Can = ({ id, nodeSilent }) => nodeSilent || survivesOn(state.executions, id);
  befalls(world, 'node_returns', isLost, ({ id }) => {
    cluster.returnNode(id);
    return true;
  });
  const runs: Can = (object) => object.state === 'running' && object.execution !== undefined;
  befalls(world, 'suspended', runs, ({ id }, random) => suspends(world, id, 1, random));
  befalls(world, 'suspended_again_and_again', runs, ({ id }, random) => suspends(world, id, random.between(2, 12), random));
  befalls(
    world,
    'purged',
    (object) => !isPurged(state, object),
    ({ id }) => {
      cluster.purge(id);
      return true;
    },
  );
  // A UID never comes round.
  if (world.shape !== 'slurm' || !kernel.strikes('ids_reused')) return;
  // The next object gets the number of one that is over.
  const over = state.objects.filter((object) => !isAlive(object) && state.byId.get(object.id) === object);
  if (over.length === 0) return;
  cluster.reuseIds(Number(kernel.luck('ids_reused').pick(over).id));
  kernel.count('ids_reused');
};

const survivesOn = (executions: Cluster['state']['executions'], id: string): boolean =>
  executions.some((one) => one.survivor && one.schedulerId === id && one.endedAtMs === undefined);

/** Suspended and resumed, so many times, as a scheduler does that shares its nodes by time. Whether it was, at first. */
const suspends = (world: Elements, id: string, times: number, random: Random): boolean => {
  const { kernel, cluster } = world;
  if (kernel.calm || times === 0) return false;
  const suspended = cluster.suspend(id);
  const resume = (): void => {
    cluster.resume(id);
    kernel.after(random.between(1, 60) * 1000, () => void suspends(world, id, times - 1, random), 'suspend again');
  };
  kernel.after(random.between(1, 120) * 1000, resume, 'resume');
  return suspended;
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
  kernel.after(kernel.luck(kind).between(least, most), end, `${kind} is over`);
};

const sources = (world: Elements): void => {
  const { kernel, cluster, disorder } = world;
  const { faults } = cluster;
  const reached = (): void => cluster.unreachable(world.sieged);
  during(world, 'cluster_outage', [1, 400_000], () => cluster.unreachable(true), reached);
  if (!world.sieged && kernel.meets('cluster_siege')) {
    world.sieged = true;
    cluster.unreachable(true);
    const over = (): void => {
      world.sieged = false;
      cluster.unreachable(false);
    };
    kernel.after(SIEGE_MS - kernel.luck('cluster_siege').between(0, 900_000), over, 'the siege is over');
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
  jumps(world);
};

/**
 * The cluster's clock is set: mostly by seconds; by minutes now and then, and most of all while a submission may still land, which is when
 * it matters. Often it is set right again.
 */
const jumps = (world: Elements): void => {
  const { kernel } = world;
  if (!kernel.strikes('cluster_clock_jump')) return;
  const random = kernel.luck('cluster_clock_jump');
  if (!random.chance(world.awaitsLanding() ? 0.8 : 0.1)) {
    jumpsBy(world, random.between(-STEP_MS, STEP_MS));
    return;
  }
  const ms = random.pick([-1, 1]) * random.between(STEP_MS, CLOCK_JUMPS_MS / 2);
  jumpsBy(world, ms);
  if (random.chance(0.7)) kernel.after(random.between(1, 240) * 1000, () => jumpsBy(world, -ms), 'the clock is set right');
};

const jumpsBy = (world: Elements, ms: number): void => {
  const { kernel, cluster } = world;
  if (kernel.calm || ms === 0 || world.jumpedMs + Math.abs(ms) > CLOCK_JUMPS_MS) return;
  world.jumpedMs += Math.abs(ms);
  cluster.jumpClock(ms);
  kernel.count('cluster_clock_jump');
};

type Hides = Lie['hides'];

/** One lie at a time: objects are left out of what is shown, and mostly the source says itself that it is not whole. */
const lies = (world: Elements): void => {
  const { kernel, cluster } = world;
  const { objects, byId } = cluster.state;
  const tells = (kind: FaultKind, mostMs: number, hiding: (random: Random) => Hides, complete: boolean): void => {
    if (!kernel.strikes(kind) || cluster.faults.lie) return;
    const random = kernel.luck(kind);
    cluster.lie({ hides: once(hiding(random), () => kernel.count(kind)), complete });
    kernel.after(random.between(1, mostMs), () => cluster.lie(undefined), `${kind} is over`);
  };
  const these = (hidden: readonly ClusterObject[]): Hides => {
    const ids = new Set(hidden.map((object) => object.id));
    return ({ id }) => ids.has(id);
  };
  tells('cluster_partial_view', 900_000, (random) => these(objects.filter(() => random.chance(0.5))), false);
  tells('cluster_empty_view', 300_000, () => these(objects), false);
  tells('cluster_truncated_view', 300_000, () => these(objects.slice(Math.floor(objects.length / 2))), false);
  // A list may miss what is fresh, and not know it: for a while every list lags, and shows no object that landed within the last moments.
  const fresh = (random: Random): Hides => {
    const lagMs = random.chance(0.5) ? HIDDEN_MS : random.between(1000, HIDDEN_MS);
    return ({ id }) => (byId.get(id)?.landedAtMs ?? 0) > kernel.nowMs - lagMs;
  };
  tells('cluster_hidden_object', LAGS_MS, fresh, true);
};

/** A lie that nobody was told is none: calls `told` when something is first left out of a look. */
const once = (hides: Hides, told: () => void): Hides => {
  let wasTold = false;
  return (object) => {
    if (!hides(object)) return false;
    if (!wasTold) told();
    wasTold = true;
    return true;
  };
};

/** What a cluster and its administrators do to us as a user of it. */
const relations = (world: Elements): void => {
  const { kernel, disorder } = world;
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
    if (kernel.luck('cluster_shows_another_key').chance(0.7)) disorder.configuration += 1;
  };
  during(world, 'cluster_shows_another_key', [1, 1_200_000], shown, pinned);
  const luck = kernel.luck('cluster_loses_capability');
  const loses = (): void => {
    disorder.lost = luck.pick(['bulk_observation', 'cancel', 'checkpoint_files', 'containers'] as const);
    world.preflight();
  };
  const finds = (): void => {
    disorder.lost = undefined;
    if (luck.chance(0.5)) world.preflight();
  };
  during(world, 'cluster_loses_capability', [60_000, 900_000], loses, finds);
  if (kernel.meets('configuration_changed')) disorder.configuration += 1;
};

const services = (world: Elements): void => {
  const { kernel, line } = world;
  if (kernel.strikes('record_outage') && !line.down) {
    kernel.count('record_outage');
    line.down = true;
    kernel.after(kernel.luck('record_outage').between(1, 300_000), () => (line.down = false), 'the record answers again');
  }
  if (kernel.strikes('execution_killed')) {
    const running = world.engine().listExecutions({ status: 'RUNNING', maxResults: 1000 });
    if (running.length > 0 && world.engine().kill(kernel.luck('execution_killed').pick(running).name)) kernel.count('execution_killed');
  }
  if (kernel.strikes('spontaneous_generation')) generates(world);
  if (kernel.meets('local_restart')) world.restart();
};

/** Somebody starts a supervisor that nobody asked for. */
const generates = (world: Elements): void => {
  const { kernel } = world;
  const taken = new Set(
    world
      .engine()
      .listExecutions({ maxResults: 1000 })
      .map(({ name }) => name),
  );
  const free = world.generations().filter(({ job, generation }) => !taken.has(`${job}-${generation + 1}`));
  if (free.length === 0) return;
  const { job, generation } = kernel.luck('spontaneous_generation').pick(free);
  world.engine().startExecution({ name: `${job}-${generation + 1}`, input: inputOf(job, generation + 1) });
  kernel.count('spontaneous_generation');
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
