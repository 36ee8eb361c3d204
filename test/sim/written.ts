/** A drawn spec as a user writes it: what the API is sent. */
import type { Rule } from '../../lib/job/policy.ts';
import type { Spec } from '../../lib/job/spec.ts';

const seconds = (count: number): string => `${count}s`;

const writtenRule = ({ on, when, do: action }: Rule): unknown => ({ on, ...(when ? { when } : {}), do: writtenAction(action) });

const writtenAction = (action: Rule['do']): unknown => {
  if ('escalate' in action) {
    const { options, expiresAfterSeconds, onExpiry } = action.escalate;
    return { escalate: { options, expiresAfter: seconds(expiresAfterSeconds), onExpiry } };
  }
  if (!('relaunch' in action)) return action;
  const { backoff, scale, ...rest } = action.relaunch;
  const { initialSeconds, factor, maxSeconds } = backoff;
  const memory = scale?.memoryPerNode;
  const limit = scale?.timeLimit;
  const scaled = {
    ...(memory ? { memoryPerNode: { by: memory.by, upTo: `${memory.upToMi}Mi` } } : {}),
    ...(limit ? { timeLimit: { by: limit.by, upTo: seconds(limit.upToSeconds) } } : {}),
  };
  const written = { initial: seconds(initialSeconds), factor, max: seconds(maxSeconds) };
  return { relaunch: { ...rest, backoff: written, ...(scale ? { scale: scaled } : {}) } };
};

export const writtenOf = (spec: Spec): unknown => {
  const { resources, timeLimitSeconds, deadline, patienceSeconds, policy, ...rest } = spec;
  const { memoryPerNodeMi, ...asked } = resources;
  const { attempts, wallClockSeconds, attemptsWithoutProgress, stalledAfterSeconds } = policy.limits;
  return {
    ...rest,
    resources: { ...asked, ...(memoryPerNodeMi === undefined ? {} : { memoryPerNode: `${memoryPerNodeMi}Mi` }) },
    timeLimit: seconds(timeLimitSeconds),
    ...(deadline === undefined ? {} : { deadline: new Date(deadline).toISOString() }),
    patience: seconds(patienceSeconds),
    policy: {
      rules: policy.rules.map(writtenRule),
      unmatched: policy.unmatched,
      limits: {
        attempts,
        ...(wallClockSeconds === undefined ? {} : { wallClock: seconds(wallClockSeconds) }),
        ...(attemptsWithoutProgress === undefined ? {} : { attemptsWithoutProgress }),
        ...(stalledAfterSeconds === undefined ? {} : { stalledAfter: seconds(stalledAfterSeconds) }),
      },
    },
  };
};
