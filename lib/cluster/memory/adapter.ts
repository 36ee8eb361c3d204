/**
 * The adapter of the memory cluster (contract §7a). Calls are atomic: whatever a call does is done when it returns, so a simulator
 * that parks calls decides every interleaving.
 * Guards S7: nothing whose name carries another tag is ever touched; and promise 1: a call that met a fault says so, nothing else.
 */
import { assert } from '../../job/assertion.ts';
import type { Receipt } from '../../job/event.ts';
import { identityOf, parseIdentity } from '../../job/identity.ts';
import { ClusterFailure } from '../failure.ts';
import type { ActAnswer, Adapter, FenceAnswer, FindAnswer, Publications, Session } from '../port.ts';
import { probeOf } from './capability.ts';
import { publicationsOf } from './control.ts';
import type { Fault, Verb } from './fault.ts';
import { gateOf, renderingOf } from './gate.ts';
import { cancel, release, requeue, writeMark } from './lifecycle.ts';
import { foundObject, type Viewer, viewOf } from './look.ts';
import { observe } from './observe.ts';
import { type ClusterObject, clusterNow, controlOf, isPurged, objectFor, record, type State } from './state.ts';
import { submitTo } from './submit.ts';
import type { World } from './world.ts';

export interface MemoryAdapterOptions {
  readonly tag: string;
  /** The cluster's id, which receipts carry. */
  readonly cluster?: string;
}

export const adapter = (world: World, { tag, cluster = 'memory' }: MemoryAdapterOptions): Adapter => {
  const { state } = world;
  return {
    kind: 'memory',
    render: (spec, _probe, options) => renderingOf(state.settings, spec, options),
    async connect(login) {
      world.catchUp();
      if (state.settings.logins && !state.settings.logins.includes(login))
        throw new ClusterFailure('cluster/no_login', `the cluster has no login ${login}`, { reason: 'unknown', sent: 'no' });
      const fault = state.faults.meet({ verb: 'connect', tag, login });
      if (fault?.kind === 'auth_refused' || fault?.kind === 'host_key_changed')
        throw new ClusterFailure(`cluster/${fault.kind}`, 'the memory cluster refuses us', { reason: fault.kind, sent: 'no' });
      if (fault) throw unreachable();
      return sessionOf(world, { tag, cluster, login });
    },
  };
};

const UNREACHABLE = { kind: 'unreachable', says: 'the memory cluster cannot be reached' } as const;
const unreachable = (): ClusterFailure => new ClusterFailure('cluster/unreachable', UNREACHABLE.says, { reason: 'refused', sent: 'no' });

const sessionOf = (world: World, viewer: Viewer): Session => {
  const { state } = world;
  const { tag, login } = viewer;
  const meet = (verb: Verb, job?: string, n?: number): Fault | undefined => {
    world.catchUp();
    return state.faults.meet({ verb, tag, login, ...(job === undefined ? {} : { job }), ...(n === undefined ? {} : { n }) });
  };
  const session: Session = {
    async clock() {
      return meet('clock') ? undefined : clusterNow(state);
    },
    async probe(nowMs) {
      if (meet('probe')) throw unreachable();
      return probeOf(state, login, nowMs);
    },
    gateFor: (_spec, _probe, options, at) => gateOf(state.settings.shape, options, at),
    async submit(submission) {
      assert(submission.identity === identityOf(tag, submission.job, submission.n), `not an identity of ${tag}: ${submission.identity}`);
      const fault = meet('submit', submission.job, submission.n);
      return submitTo(state, viewer, submission, fault);
    },
    async find(job) {
      return meet('find', job) ? UNREACHABLE : find(state, viewer, job);
    },
    async fence(job, mark) {
      const n = mark === 'stop' ? undefined : mark.n;
      return fence(state, viewer, job, mark, meet('fence', job, n));
    },
    release: async (receipt) => act(state, viewer, 'release', receipt, meet('release', ...partsOf(receipt))),
    cancel: async (receipt) => act(state, viewer, 'cancel', receipt, meet('cancel', ...partsOf(receipt))),
    discard: async (receipt) => act(state, viewer, 'discard', receipt, meet('discard', ...partsOf(receipt))),
    async observe(targets) {
      return meet('observe') ? UNREACHABLE : observe(state, viewer, targets);
    },
    async outputBytes(targets) {
      if (meet('outputBytes')) return undefined;
      return new Map(targets.map(({ receipt }) => [receipt.schedulerId, outputBytesOf(state, objectFor(state, receipt))]));
    },
    async listPublications(job): Promise<Publications | undefined> {
      if (meet('listPublications', job) || state.faults.pubUnreadable) return undefined;
      const control = controlOf(state, tag, job);
      return { publications: publicationsOf(control), bases: [...control.bases] };
    },
    async close() {},
  };
  if (state.settings.shape === 'kubernetes') return session;
  return { ...session, requeue: async (receipt) => act(state, viewer, 'requeue', receipt, meet('requeue', ...partsOf(receipt))) };
};

/** A byte per second of its running, until the script makes it silent. */
const outputBytesOf = (state: State, object: ClusterObject | undefined): number => {
  const execution = object?.execution;
  if (!execution) return 0;
  const { ends, runsSeconds, silentAfterSeconds } = execution.script;
  const untilMs = execution.endedAtMs ?? execution.pausedAtMs ?? state.agenda.nowMs;
  const livedSeconds = (untilMs - execution.startedAtMs - execution.pausedMs) / 1000;
  const mostSeconds = silentAfterSeconds ?? (ends === 'hangs' ? runsSeconds : Number.POSITIVE_INFINITY);
  return Math.floor(Math.min(livedSeconds, mostSeconds));
};

const partsOf = (receipt: Receipt): [string?, number?] => {
  const parts = parseIdentity(receipt.identity);
  return parts ? [parts.job, parts.n] : [];
};

const find = (state: State, viewer: Viewer, job: string): FindAnswer => {
  const view = viewOf(state, viewer);
  const objects = view.ofJob(viewer.tag, job).map((object) => foundObject(state, object, viewer.cluster));
  if (objects.length > 0) return { kind: 'found', clusterNow: view.clusterAt, complete: view.complete, objects };
  // A source that says itself that it is incomplete proves no absence (P3.6).
  return view.complete
    ? { kind: 'absent', clusterNow: view.clusterAt }
    : { kind: 'unreachable', says: 'the list of objects is incomplete' };
};

const fence = (
  state: State,
  { tag }: Viewer,
  job: string,
  mark: { readonly n: number; readonly schedulerId: string } | 'stop',
  fault: Fault | undefined,
): FenceAnswer => {
  const identity = mark === 'stop' ? `d${tag}-${job}` : identityOf(tag, job, mark.n);
  const write = (): void => {
    record(state, { verb: 'fence', tag, identity, ...(mark === 'stop' ? {} : { schedulerId: mark.schedulerId }), result: 'done' });
    if (state.settings.shape === 'slurm') writeMark(state, tag, job, mark);
  };
  if (!happens(state, fault, write)) return UNREACHABLE;
  const now = clusterNow(state);
  const named = mark === 'stop' ? '' : mark.schedulerId;
  if (state.settings.shape === 'kubernetes') {
    // No marks (P4.7). As old as its object: what was alive before had that long to be fenced by other means.
    const object = state.byId.get(named);
    return { kind: 'marked', holds: named, clusterWrittenAt: object?.clusterSubmittedAt ?? now, clusterNow: now };
  }
  const control = controlOf(state, tag, job);
  const written = mark === 'stop' ? control.stop! : control.marks.get(mark.n)!;
  return {
    kind: 'marked',
    holds: 'schedulerId' in written ? String(written.schedulerId) : '',
    clusterWrittenAt: written.clusterWrittenAt,
    clusterNow: now,
  };
};

/** Lets an effect happen as its fault says. Whether the caller hears of it. */
const happens = (state: State, fault: Fault | undefined, effect: () => void): boolean => {
  if (!fault || fault.kind === 'reply_lost') effect();
  if (fault?.kind === 'delayed') {
    const lives = state.settings.shape === 'kubernetes' || fault.seconds <= state.settings.credentialLifeSeconds;
    if (lives) state.agenda.at(state.agenda.nowMs + fault.seconds * 1000, effect);
  }
  return fault === undefined;
};

type ActVerb = 'release' | 'cancel' | 'discard' | 'requeue';

const act = (state: State, { tag, login }: Viewer, verb: ActVerb, receipt: Receipt, fault: Fault | undefined): ActAnswer => {
  if (parseIdentity(receipt.identity)?.tag !== tag) return { kind: 'refused', says: `${receipt.identity} is not of this deployment` };
  let answer: ActAnswer = { kind: 'sent' };
  const heard = happens(state, fault, () => {
    const object = objectFor(state, receipt);
    const mine = object && object.login === login && !isPurged(state, object) && !object.vanished ? object : undefined;
    answer = carryOut(state, verb, mine);
    record(state, {
      verb,
      tag,
      identity: receipt.identity,
      schedulerId: receipt.schedulerId,
      result: !mine ? 'nothing' : answer.kind === 'refused' ? 'refused' : 'done',
    });
  });
  return heard ? answer : UNREACHABLE;
};

const carryOut = (state: State, verb: ActVerb, object: ClusterObject | undefined): ActAnswer => {
  if (verb === 'cancel' || verb === 'discard') {
    // As on Slurm: cancelling what is gone is silent.
    if (object) cancel(state, object, 'login');
    return { kind: 'sent' };
  }
  if (!object) return { kind: 'refused', says: 'Invalid job id specified' };
  if (verb === 'release') return release(state, object) ? { kind: 'sent' } : { kind: 'refused', says: 'Job has already finished' };
  const asked = object.submission?.requeue ?? 'never';
  if (asked === 'never') return { kind: 'refused', says: 'Requested operation is presently disabled' };
  if (object.state === 'gated' || object.state === 'queued' || object.refused) return { kind: 'refused', says: 'Job is pending execution' };
  requeue(state, object);
  return { kind: 'sent' };
};
