/**
 * What the memory cluster consists of: scheduler objects, the programs they run, and one control folder per job. It outlives every
 * crash of dispatch; adapters of several deployments and logins share it.
 * Times are milliseconds since 1970, true time; those named `cluster…` are by the cluster's own clock, which may be wrong.
 */
import { parseIdentity } from '../../job/identity.ts';
import type { Submission } from '../port.ts';
import type { Agenda } from './agenda.ts';
import { type Control, emptyControl } from './control.ts';
import type { Faults } from './fault.ts';
import type { ClusterObject, Execution } from './object.ts';
import { DEFAULT_RUN, type RunScript, type WorldScript } from './script.ts';

export type { ClusterObject, Execution } from './object.ts';

export type Shape = 'slurm' | 'kubernetes';

export interface Settings {
  readonly shape: Shape;
  readonly script: WorldScript;
  /** Cluster root: control folders and default checkpoint roots are below it. */
  readonly root: string;
  readonly logins?: readonly string[];
  readonly readOnly: boolean;
  /** Whether ended objects outlive their purge. */
  readonly accounting: boolean;
  readonly accountingLagSeconds: number;
  /** After its end an object is forgotten by the scheduler. */
  readonly purgeSeconds?: number;
  readonly requeueDelaySeconds: number;
  readonly credentialLifeSeconds: number;
  /** How late the nodes see a mark. */
  readonly markViewSeconds: number;
  readonly maxSeconds?: number;
}

/** Everything anyone did to the cluster from outside, for the simulator's invariants. */
export interface Act {
  readonly atMs: number;
  readonly verb: 'submit' | 'release' | 'cancel' | 'discard' | 'requeue' | 'fence';
  /** Undefined: a stranger. */
  readonly tag?: string;
  readonly identity: string;
  readonly schedulerId?: string;
  readonly result: 'done' | 'nothing' | 'refused' | 'not_now' | 'expired' | 'lost';
}

export interface State {
  readonly settings: Settings;
  readonly clock: { now(): number };
  readonly random: () => number;
  readonly agenda: Agenda;
  readonly faults: Faults;
  clockOffsetMs: number;
  nextId: number;
  readonly objects: ClusterObject[];
  readonly byId: Map<string, ClusterObject>;
  readonly byJob: Map<string, ClusterObject[]>;
  readonly liveByTag: Map<string, Set<ClusterObject>>;
  readonly controls: Map<string, Control>;
  readonly executions: Execution[];
  readonly executionsByJob: Map<string, Execution[]>;
  readonly triesByIdentity: Map<string, number>;
  readonly acts: Act[];
}

const MOST_ACTS = 200_000;

export const jobKey = (tag: string, job: string): string => `${tag}-${job}`;
export const clusterNow = (state: State): number => state.agenda.nowMs + state.clockOffsetMs;
export const runScriptOf = (object: ClusterObject): RunScript => object.runs[object.run] ?? DEFAULT_RUN;

export const controlOf = (state: State, tag: string, job: string): Control => {
  const key = jobKey(tag, job);
  const known = state.controls.get(key);
  if (known) return known;
  const control = emptyControl();
  state.controls.set(key, control);
  return control;
};

export const record = (state: State, act: Omit<Act, 'atMs'>): void => {
  // The truth of a long demo must not fill the memory; a simulation never gets there.
  if (state.acts.length >= MOST_ACTS) state.acts.splice(0, MOST_ACTS / 2);
  state.acts.push({ atMs: state.agenda.nowMs, ...act });
};

export interface NewObject {
  readonly name: string;
  readonly login: string;
  readonly submission?: Submission;
  readonly runs: readonly RunScript[];
  readonly hash: string;
}

/** Puts an object on the cluster, gated if a submission of ours says so. Its agenda is the caller's (lifecycle.ts). */
export const putObject = (state: State, made: NewObject): ClusterObject => {
  const id = freeId(state);
  const object: ClusterObject = {
    id,
    ...made,
    ...parseIdentity(made.name),
    landedAtMs: state.agenda.nowMs,
    clusterSubmittedAt: clusterNow(state),
    state: made.submission ? 'gated' : 'queued',
    run: 0,
    open: !made.submission,
    timeLimitSeconds: made.submission?.resources.timeLimitSeconds ?? 86_400,
    requeueable: state.settings.shape === 'slurm' && made.submission?.requeue === 'scheduler',
    readyAtMs: state.agenda.nowMs,
    beginAtMs: state.agenda.nowMs,
    nodes: [],
    everRan: false,
    refused: false,
    forgotten: false,
    vanished: false,
    nodeSilent: false,
    era: 0,
  };
  // An id that comes round again belongs to the newer object; the older one is known by its name alone.
  state.byId.set(id, object);
  state.objects.push(object);
  if (object.tag && object.job) {
    const key = jobKey(object.tag, object.job);
    const known = state.byJob.get(key);
    if (known) known.push(object);
    else state.byJob.set(key, [object]);
  }
  markLive(state, object, true);
  return object;
};

const idOf = (state: State): string => {
  const number = state.nextId++;
  return state.settings.shape === 'slurm' ? String(number) : `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
};

/** Ids come round again, but never while the object that has one is alive. */
const freeId = (state: State): string => {
  for (let id = idOf(state); ; id = idOf(state)) {
    const holder = state.byId.get(id);
    if (!holder || holder.state === 'ended' || holder.forgotten) return id;
  }
};

export const markLive = (state: State, object: ClusterObject, live: boolean): void => {
  if (!object.tag) return;
  const objects = state.liveByTag.get(object.tag) ?? new Set();
  state.liveByTag.set(object.tag, objects);
  if (live) objects.add(object);
  else objects.delete(object);
};

/** Whether any source still knows it. */
export const isKnown = (state: State, object: ClusterObject): boolean =>
  !object.vanished && (!isPurged(state, object) || state.settings.accounting);

/** Whether the scheduler itself has forgotten it (Slurm's MinJobAge, a deleted object). */
export const isPurged = (state: State, object: ClusterObject): boolean =>
  object.forgotten ||
  (state.settings.purgeSeconds !== undefined &&
    object.endedAtMs !== undefined &&
    state.agenda.nowMs >= object.endedAtMs + state.settings.purgeSeconds * 1000);

/** Whether this is the object that the receipt was given for (P4.5): id and name agree, and it was not submitted earlier. */
export const isOf = (object: ClusterObject, receipt: { schedulerId: string; identity: string; submittedAt: number }): boolean =>
  object.id === receipt.schedulerId && object.name === receipt.identity && object.clusterSubmittedAt >= receipt.submittedAt;

export const objectFor = (
  state: State,
  receipt: { schedulerId: string; identity: string; submittedAt: number },
): ClusterObject | undefined => {
  const parts = parseIdentity(receipt.identity);
  if (!parts) return undefined;
  return state.byJob.get(jobKey(parts.tag, parts.job))?.find((object) => isOf(object, receipt));
};
