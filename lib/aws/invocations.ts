/**
 * Invocations: what schedules and rules hand to functions, made here and read back here, so that the deployment and the functions cannot
 * differ. Pure.
 *
 *   a schedule per cluster and login → poll       pollInvocation
 *   a schedule every five minutes    → reconcile  RECONCILE_INVOCATION
 *   a rule on the default bus        → reconcile  badEndPattern, the event as it comes
 *   a rule on our own bus            → preflight  PREFLIGHT_PATTERN, the event as it comes
 *
 * Guards least privilege: a door that begins a preflight may send an event, and invoke nothing.
 */
import * as z from 'zod';
import { JOB_ID } from '../job/identity.ts';
import { TIMING } from '../job/timing.ts';

/** Who sent an event on our bus. */
export const EVENT_SOURCE = 'dispatch';

const MINUTE = 60;
/** What the scheduler replaces by the moment that an invocation stands for, RFC 3339. */
const SCHEDULED = '<aws.scheduler.scheduled-time>';

/** Never more often than asked; what is more often than a minute is polled within one invocation. */
export const pollRateMinutes = (pollEverySeconds: number): number => Math.max(1, Math.ceil(pollEverySeconds / MINUTE));
/** The input of the schedule of one cluster and login. */
export const pollInvocation = (cluster: string, login: string): Readonly<Record<string, string>> => ({
  cluster,
  login,
  scheduledAt: SCHEDULED,
});

export const RECONCILE_MINUTES = TIMING.reconcileSeconds / MINUTE;
export const RECONCILE_INVOCATION: Readonly<Record<string, never>> = {};

/** Executions of supervisors that ended otherwise than by themselves; `machineArn` of the machine. */
export const badEndPattern = (machineArn: string) => ({
  source: ['aws.states'],
  detailType: ['Step Functions Execution Status Change'],
  detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [machineArn] },
});

export const PREFLIGHT_ASKED = 'dispatch.preflight.asked';
export const PREFLIGHT_PATTERN = { source: [EVENT_SOURCE], detailType: [PREFLIGHT_ASKED] };

const named = z.string().min(1).max(63);

/** Every so many polls one looks even where no job is active, so that orphans are found. */
const SWEEP_EVERY = 5;
const pollSchema = z.object({
  cluster: named,
  login: named,
  sweep: z.boolean().optional(),
  scheduledAt: z.iso.datetime({ offset: true }).optional(),
});

export interface PollAsked {
  readonly cluster: string;
  readonly login: string;
  readonly sweep: boolean;
}

/** Which invocations sweep is decided by the moment they stand for: nobody keeps a count. `everyMinutes`: of that schedule. */
export const pollAsked = (event: unknown, everyMinutes: (cluster: string) => number): PollAsked => {
  const { cluster, login, sweep, scheduledAt } = pollSchema.parse(event);
  const minute = scheduledAt === undefined ? 0 : Math.floor(Date.parse(scheduledAt) / (MINUTE * 1000));
  const due = scheduledAt !== undefined && Math.floor(minute / everyMinutes(cluster)) % SWEEP_EVERY === 0;
  return { cluster, login, sweep: sweep ?? due };
};

const preflightSchema = z.object({ cluster: named, login: named.optional() });
/** By the event of the rule, or by hand. Without a login: all of them. */
export const preflightAsked = (event: unknown): z.infer<typeof preflightSchema> => {
  const wrapped = z.object({ 'detail-type': z.literal(PREFLIGHT_ASKED), detail: preflightSchema }).safeParse(event);
  return wrapped.success ? wrapped.data.detail : preflightSchema.parse(event);
};

export interface ReconcileAsked {
  readonly everyJob?: boolean;
  /** This execution ended badly: nobody has to wait until its silence shows. */
  readonly ended?: { readonly job: string; readonly generation: number };
}

const badEndSchema = z.object({
  'detail-type': z.literal('Step Functions Execution Status Change'),
  detail: z.object({ name: z.string() }),
});
const reconcileSchema = z.object({ everyJob: z.boolean().optional() });
export const reconcileAsked = (event: unknown): ReconcileAsked => {
  const ended = badEndSchema.safeParse(event);
  if (!ended.success) {
    const { everyJob } = reconcileSchema.parse(event ?? {});
    return everyJob === undefined ? {} : { everyJob };
  }
  const [, job = '', generation = ''] = /^([0-9a-z]+)-([1-9]\d{0,8})$/.exec(ended.data.detail.name) ?? [];
  // Somebody started one by hand, under a name of their own: an ordinary reconcile is all that can be done.
  return JOB_ID.test(job) ? { ended: { job, generation: Number(generation) } } : {};
};
