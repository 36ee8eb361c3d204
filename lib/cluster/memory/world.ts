/**
 * A memory cluster: the reference of what dispatch may expect of a scheduler, in the shape of Slurm or of Kubernetes. It is a world:
 * several adapters, deployments and logins share it, and it outlives every crash of dispatch. Nothing runs by itself: whoever
 * touches it first lets everything happen that was due by the clock, so what is true at a time is a function of what was done to
 * it when, its script and its seed (docs/memory-cluster.md).
 */
import { assert } from '../../job/assertion.ts';
import { Agenda } from './agenda.ts';
import { resume, returnNode, strike, suspend } from './disturb.ts';
import { Faults, type Lie } from './fault.ts';
import { type Foreign, foreignOf } from './foreign.ts';
import { arm, cancel } from './lifecycle.ts';
import { freeze } from './look.ts';
import type { ClusterObject } from './object.ts';
import { type Ends, endsSchema, worldScriptSchema } from './script.ts';
import { markLive, type Settings, type State } from './state.ts';
import { type Truth, truthOf } from './truth.ts';

export interface MemoryClusterOptions extends Partial<Omit<Settings, 'script' | 'shape'>> {
  readonly shape: Settings['shape'];
  /** Milliseconds since 1970; never asked to wait. */
  readonly clock: { now(): number };
  /** [0, 1). */
  readonly random: () => number;
  /** Checked here; throws ZodError. */
  readonly script?: unknown;
  /** Cluster clock minus true time. */
  readonly clockOffsetMs?: number;
}

export interface World {
  /** For adapters of this cluster alone. */
  readonly state: State;
  /** Lets everything happen that is due; true time, milliseconds. */
  catchUp(): number;
  /** When something may happen next by itself. */
  nextAtMs(): number | undefined;
  truth(): Truth;
  readonly faults: Faults;
  readonly foreign: Foreign;
  /** The next submission lands this much later, its answer lost; beyond bound + credential life it never lands. */
  delaySubmission(seconds: number): void;
  unreachable(down: boolean): void;
  /** What every look hides, until set to undefined. `() => true` with `complete` is the empty answer that means nothing. */
  lie(lie: Lie | undefined): void;
  /** Looks answer as of now, until thawed. */
  freezeView(frozen: boolean): void;
  /** Moves the cluster's own clock. */
  jumpClock(ms: number): void;
  /** Something happens to an object that has started. */
  strike(id: string, ends: Exclude<Ends, 'hangs'>): boolean;
  preempt(id: string): boolean;
  loseNode(id: string, lost?: { survives?: boolean; survivesSeconds?: number; answers?: boolean; nodes?: string[] }): boolean;
  /** The nodes of a lost object answer again, and kill what survived there. */
  returnNode(id: string): void;
  suspend(id: string): boolean;
  resume(id: string): boolean;
  /** Forgotten by the scheduler; an object that was alive is ended and gone. Accounting, where there is any, remembers. */
  purge(id: string): void;
  /** The next object gets this number, whatever it was used for before. */
  reuseIds(from: number): void;
}

export const createMemoryCluster = (options: MemoryClusterOptions): World => {
  const { clock, random, script, clockOffsetMs = 0, ...given } = options;
  const settings: Settings = {
    root: '/memory',
    readOnly: false,
    accounting: given.shape === 'slurm',
    accountingLagSeconds: 0,
    requeueDelaySeconds: 121,
    credentialLifeSeconds: 300,
    markViewSeconds: 0,
    ...given,
    script: worldScriptSchema.parse(script ?? {}),
  };
  const state: State = {
    settings,
    clock,
    random,
    agenda: new Agenda(clock.now()),
    faults: new Faults(),
    clockOffsetMs,
    nextId: 1,
    objects: [],
    byId: new Map(),
    byJob: new Map(),
    liveByTag: new Map(),
    controls: new Map(),
    executions: [],
    executionsByJob: new Map(),
    triesByIdentity: new Map(),
    acts: [],
  };
  return worldOf(state);
};

const worldOf = (state: State): World => {
  const { agenda, faults } = state;
  const catchUp = (): number => {
    agenda.catchUp(state.clock.now());
    return agenda.nowMs;
  };
  /** The object that has this id now, once everything due has happened. */
  const on = (id: string, act: (object: ClusterObject) => boolean): boolean => {
    catchUp();
    const object = state.byId.get(id);
    return object !== undefined && act(object);
  };
  const hit = (id: string, ends: unknown): boolean =>
    on(id, (object) => strike(state, object, endsSchema.parse(ends) as Exclude<Ends, 'hangs'>));
  return {
    state,
    catchUp,
    nextAtMs: () => agenda.nextAtMs(),
    truth() {
      catchUp();
      return truthOf(state);
    },
    faults,
    foreign: foreignOf(state, catchUp, on),
    delaySubmission: (seconds) => faults.next('submit', { kind: 'delayed', seconds }),
    unreachable(down) {
      faults.down = down;
    },
    lie(lie) {
      faults.lie = lie;
    },
    freezeView(frozen) {
      catchUp();
      faults.frozen = frozen ? freeze(state) : undefined;
    },
    jumpClock(ms) {
      catchUp();
      state.clockOffsetMs += ms;
      // Gates expire by the cluster's clock: what waits is entered in the agenda anew.
      for (const object of state.objects) if (object.state === 'gated' || object.state === 'queued') arm(state, object);
    },
    strike: hit,
    preempt: (id) => hit(id, 'preempted'),
    loseNode: (id, lost = {}) => hit(id, { node_lost: lost }),
    returnNode: (id) => void on(id, (object) => returnNode(state, object)),
    suspend: (id) => on(id, (object) => suspend(state, object)),
    resume: (id) => on(id, (object) => resume(state, object)),
    purge: (id) => void on(id, (object) => forget(state, object)),
    reuseIds(from) {
      assert(Number.isSafeInteger(from) && from > 0, `ids count from 1: ${from}`);
      state.nextId = from;
    },
  };
};

const forget = (state: State, object: ClusterObject): boolean => {
  object.requeueable = false;
  // Seen live: a database closes what its controller forgot as cancelled by nobody.
  cancel(state, object, 'unknown');
  object.forgotten = true;
  markLive(state, object, false);
  return true;
};
