/**
 * The adapter of the memory cluster (contract §7a). Calls are atomic: whatever a call does is done when it returns, so a simulator
 * that parks calls decides every interleaving.
 * Guards S7: nothing whose name carries another tag is ever touched; and promise 1: a call that met a fault says so, nothing else.
 */

import { formatMarker } from '../../checkpoint/marker.ts';
import { assert } from '../../job/assertion.ts';
import type { Receipt } from '../../job/event.ts';
import { identityOf, parseIdentity } from '../../job/identity.ts';
import { ClusterFailure } from '../failure.ts';
import type { Adapter, AdoptAnswer, FindAnswer, OutputAnswer, OutputAsked, Publications, Session } from '../port.ts';
import { act, fence, UNREACHABLE } from './act.ts';
import { probeOf } from './capability.ts';
import { publicationsOf } from './control.ts';
import type { Fault, Verb } from './fault.ts';
import { gateOf, renderingOf } from './gate.ts';
import { foundObject, receiptOf, type Viewer, viewOf } from './look.ts';
import type { ClusterObject, Execution } from './object.ts';
import { observe } from './observe.ts';
import { clusterNow, controlOf, jobKey, objectFor, type State } from './state.ts';
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
    async collect(job, _spec, doomed) {
      const { pub } = controlOf(state, tag, job);
      for (const { publication } of doomed) pub.delete(formatMarker(publication));
      return { kind: 'removed', markers: doomed.length, saves: doomed.filter(({ files }) => files).length, failed: [], left: 0 };
    },
    async output(asked) {
      return meet('output', asked.job, asked.n) ? UNREACHABLE : outputOf(state, tag, asked);
    },
    async adopt(schedulerId) {
      return meet('adopt') ? UNREACHABLE : adopt(state, viewer, schedulerId);
    },
    async close() {},
  };
  if (state.settings.shape === 'kubernetes') return session;
  return { ...session, requeue: async (receipt) => act(state, viewer, 'requeue', receipt, meet('requeue', ...partsOf(receipt))) };
};

const outputBytesOf = (state: State, object: ClusterObject | undefined): number =>
  object?.execution ? writtenBy(state, object.execution) : 0;

/** A byte per second of its running, until the script makes it silent. */
const writtenBy = (state: State, execution: Execution): number => {
  const { ends, runsSeconds, silentAfterSeconds } = execution.script;
  const untilMs = execution.endedAtMs ?? execution.pausedAtMs ?? state.agenda.nowMs;
  const livedSeconds = (untilMs - execution.startedAtMs - execution.pausedMs) / 1000;
  const mostSeconds = silentAfterSeconds ?? (ends === 'hangs' ? runsSeconds : Number.POSITIVE_INFINITY);
  return Math.floor(Math.min(livedSeconds, mostSeconds));
};

/** A line of dots per minute on stdout, and nothing on stderr. */
const outputOf = (state: State, tag: string, { job, n, run, stream, offset, limit }: OutputAsked): OutputAnswer => {
  const execution = state.executionsByJob.get(jobKey(tag, job))?.find((one) => one.n === n && one.run === run);
  if (!execution) return { kind: 'none' };
  const totalBytes = stream === 'stdout' ? writtenBy(state, execution) : 0;
  const length = Math.max(0, Math.min(limit, totalBytes - offset));
  const bytes = Uint8Array.from({ length }, (_, i) => ((offset + i) % 60 === 59 ? 10 : 46));
  return { kind: 'piece', bytes, totalBytes };
};

const adopt = (state: State, viewer: Viewer, schedulerId: string): AdoptAnswer => {
  const object = viewOf(state, viewer).stranger(schedulerId);
  if (object) return { kind: 'found', name: object.name, receipt: receiptOf(object, viewer.cluster) };
  return state.byId.get(schedulerId)?.tag ? { kind: 'ours' } : { kind: 'unknown_object' };
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
