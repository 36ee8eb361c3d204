/**
 * What an adapter does to objects of the memory cluster: fence, release, cancel, discard, requeue, as a fault lets it happen.
 * Guards S7: nothing whose name carries another tag is ever touched; P4.5: nothing but the object of the receipt is.
 */
import type { Receipt } from '../../job/event.ts';
import { identityOf, parseIdentity } from '../../job/identity.ts';
import type { ActAnswer, FenceAnswer } from '../port.ts';
import { writeMark } from './disturb.ts';
import type { Fault } from './fault.ts';
import { cancel, release, requeue } from './lifecycle.ts';
import type { Viewer } from './look.ts';
import type { ClusterObject } from './object.ts';
import { clusterNow, controlOf, isPurged, objectFor, record, type State } from './state.ts';

export const UNREACHABLE = { kind: 'unreachable', says: 'the memory cluster cannot be reached' } as const;

export const fence = (
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
  // No marks (P4.7): what may be left of others is given its time by the record.
  if (state.settings.shape === 'kubernetes') return { kind: 'marked', holds: named, clusterWrittenAt: now, clusterNow: now };
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

export const act = (state: State, { tag, login }: Viewer, verb: ActVerb, receipt: Receipt, fault: Fault | undefined): ActAnswer => {
  if (parseIdentity(receipt.identity)?.tag !== tag) {
    record(state, { verb, tag, identity: receipt.identity, schedulerId: receipt.schedulerId, result: 'refused' });
    return { kind: 'refused', says: `${receipt.identity} is not of this deployment` };
  }
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
