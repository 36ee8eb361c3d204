/** Of one job's log: its order, its attempts, its releases, its cancel and its end. */
import type { RawEvent, RawJob } from './items.ts';
import { finder, type Wrong } from './wrong.ts';

const INTENTIONS = new Set(['attempt_planned', 'release_intended', 'requeue_intended', 'recovery_decided']);
/** What ends an attempt. */
export const ENDS = new Set(['attempt_ended', 'attempt_refused', 'attempt_never_landed']);

/** Whether this event says that an attempt that had ended lives after all. */
export const reopens = (event: RawEvent): boolean =>
  event.type === 'attempt_requeued' || (event.type === 'attempt_observed' && event.finding?.kind !== 'active_after_end');

export const judgeOrder = ({ job, commits }: RawJob): Wrong[] => {
  const { found, say } = finder(job);
  let before = 0;
  let cancelled = false;
  let ended = false;
  for (const [i, { version, at, events }] of commits.entries()) {
    if (version !== i + 1) say('versions without a gap', version, `follows ${i}`);
    if (at < before) say('time does not go back', version, `${at} follows ${before}`);
    before = at;
    if (events.length === 0) say('a birth is whole', version, 'a commit without events');
    for (const [k, { type }] of events.entries()) {
      if ((type === 'job_submitted') !== (i === 0 && k === 0)) say('a birth is whole', version, `${type} at place ${k}`);
      if (ended) say('nothing after the end', version, `${type} follows job_ended`);
      if (cancelled && INTENTIONS.has(type)) say('nothing new after a cancel', version, `${type} after cancel_requested`);
      cancelled ||= type === 'cancel_requested';
      ended ||= type === 'job_ended';
    }
  }
  return found;
};

export const judgeAttempts = ({ job, commits }: RawJob): Wrong[] => {
  const { found, say } = finder(job);
  let planned = 0;
  let tries = 0;
  let identity: string | undefined;
  const [bound, intended, released] = [new Set<number>(), new Set<number>(), new Set<number>()];
  const [over, deferred] = [new Set<number>(), new Set<number>()];
  for (const { version, events } of commits) {
    for (const event of events) {
      const { type, n = 0 } = event;
      if (ENDS.has(type)) over.add(n);
      else if (reopens(event)) over.delete(n);
      if (type === 'attempt_planned') {
        const again = n === planned;
        if (again && (!deferred.delete(n) || bound.has(n) || event.try !== tries + 1))
          say('attempts are consecutive', version, `attempt ${n} is sent again as try ${event.try} after ${tries}`);
        if (!again && (n !== planned + 1 || event.try !== 1)) say('attempts are consecutive', version, `attempt ${n} follows ${planned}`);
        if (!again && planned > 0 && !over.has(planned))
          say('attempts are consecutive', version, `attempt ${n} while ${planned} has not ended`);
        [planned, tries, identity] = [n, event.try ?? 0, event.identity];
      } else if (n > planned) say('attempts are consecutive', version, `${type} of attempt ${n}, which was not planned`);
      if (type === 'attempt_submission_deferred') deferred.add(n);
      if (type === 'attempt_bound') {
        if (bound.has(n)) say('an attempt is bound once', version, `attempt ${n} is bound again`);
        if (over.has(n)) say('an attempt is bound once', version, `attempt ${n} is bound after its end`);
        if (event.receipt?.identity !== identity) say('an attempt is bound once', version, `${event.receipt?.identity} is not ${identity}`);
        bound.add(n);
      }
      if (type === 'release_intended') {
        if (!bound.has(n)) say('release only after bound', version, `attempt ${n} is not bound`);
        if (intended.has(n)) say('release only after bound', version, `attempt ${n} is to be released again`);
        const other = [...intended].find((one) => one !== n && !over.has(one));
        if (other !== undefined) say('release only after bound', version, `attempt ${other} was to be released and has not ended`);
        intended.add(n);
      }
      if (type === 'attempt_released') {
        if (!intended.has(n) || released.has(n)) say('release only after bound', version, `attempt ${n} is released without its intention`);
        released.add(n);
      }
    }
  }
  return found;
};
