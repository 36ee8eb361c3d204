/**
 * What a look at the memory cluster shows: the state of its objects as one of its sources says it, with the lies and the staleness
 * that a test chose. Reads, never changes.
 * Guards promise 1: what is hidden while `complete` is true reads as absent, so only repeated complete looks may be believed.
 */
import type { Outcome } from '../../job/cause.ts';
import type { LiveState, PendingGroup } from '../../job/event.ts';
import type { FoundObject } from '../port.ts';
import { runKey } from './control.ts';
import { outcomeFrom } from './ending.ts';
import type { ClusterObject } from './object.ts';
import { clusterNow, controlOf, isKnown, jobKey, runScriptOf, type State } from './state.ts';

export interface View {
  readonly clusterAt: number;
  readonly complete: boolean;
  ofJob(tag: string, job: string): readonly ClusterObject[];
  live(tag: string): Iterable<ClusterObject>;
  /** Of a program outside dispatch, which no job's name finds. */
  stranger(id: string): ClusterObject | undefined;
}

export interface Viewer {
  readonly cluster: string;
  readonly tag: string;
  readonly login: string;
}

export const viewOf = (state: State, viewer: Viewer): View => {
  const { lie, frozen } = state.faults;
  const shows = (object: ClusterObject): boolean => object.login === viewer.login && isKnown(state, object) && !lie?.hides(object);
  const from = frozen ?? { clusterAt: clusterNow(state), byJob: state.byJob, liveByTag: state.liveByTag };
  return {
    clusterAt: from.clusterAt,
    complete: lie?.complete ?? true,
    ofJob: (tag, job) => (from.byJob.get(jobKey(tag, job)) ?? []).filter(shows),
    *live(tag) {
      for (const object of from.liveByTag.get(tag) ?? []) if (shows(object)) yield object;
    },
    stranger(id) {
      const object = state.byId.get(id);
      return object && !object.tag && shows(object) ? object : undefined;
    },
  };
};

export interface Frozen {
  readonly clusterAt: number;
  readonly byJob: ReadonlyMap<string, readonly ClusterObject[]>;
  readonly liveByTag: ReadonlyMap<string, Iterable<ClusterObject>>;
}

/** Every object as it is now. What an object holds is replaced, never changed in place, so one level of copying is enough. */
export const freeze = (state: State): Frozen => {
  const copies = new Map(state.objects.map((object) => [object, { ...object }]));
  const copyAll = <K>(objects: ReadonlyMap<K, Iterable<ClusterObject>>): Map<K, ClusterObject[]> =>
    new Map([...objects].map(([key, some]) => [key, [...some].map((object) => copies.get(object)!)]));
  return { clusterAt: clusterNow(state), byJob: copyAll(state.byJob), liveByTag: copyAll(state.liveByTag) };
};

export const stateOf = (object: ClusterObject): LiveState | 'ended' => object.state;

/** Why a queued object waits; other states have no reason. */
export const pendingOf = (state: State, object: ClusterObject): { group: PendingGroup; reason: string } | undefined => {
  if (object.state !== 'queued') return undefined;
  if (object.held?.by === 'launch') return { group: 'launch_failed', reason: 'launch failed requeued held' };
  if (object.held) return { group: 'held', reason: 'JobHeldUser' };
  if (state.agenda.nowMs < object.beginAtMs) return { group: 'waiting', reason: 'BeginTime' };
  return runScriptOf(object).pending ?? { group: 'waiting', reason: 'Resources' };
};

export const outcomeOfObject = (state: State, object: ClusterObject): Outcome =>
  outcomeFrom(object.ending!, {
    source: `memory/${state.settings.shape}`,
    ran: object.everRan,
    clusterEndedAt: Math.round((object.endedAtMs ?? state.agenda.nowMs) + state.clockOffsetMs),
    observedAt: state.clock.now(),
  });

/** Gone: the run wrote its result, or its nodes answer and do not list it any more. */
export const processesOf = (state: State, object: ClusterObject): 'gone' | 'unknown' => {
  if (object.ending?.cause !== 'node_lost' || !object.nodeSilent || !object.tag || !object.job || !object.n) return 'gone';
  return controlOf(state, object.tag, object.job).results.has(runKey(object.n, object.run)) ? 'gone' : 'unknown';
};

export const receiptOf = (object: ClusterObject, cluster: string): FoundObject['receipt'] => ({
  cluster,
  login: object.login,
  schedulerId: object.id,
  identity: object.name,
  submittedAt: object.clusterSubmittedAt,
});

export const foundObject = (state: State, object: ClusterObject, cluster: string): FoundObject => ({
  n: object.n!,
  receipt: receiptOf(object, cluster),
  state: stateOf(object),
  run: object.run,
  ...(object.refused ? { refused: outcomeOfObject(state, object) } : {}),
});
