/**
 * Evolve an attempt: what an observation, a restart, a requeue or a second object changes of one attempt's view.
 */
import type { Outcome } from './cause.ts';
import type { Commit, EventOf } from './event.ts';
import type { AttemptView, View } from './view.ts';

type Meta = Pick<Commit, 'at'>;

export const without = <T extends object, K extends keyof T>(from: T, ...keys: K[]): Omit<T, K> => {
  const copy = { ...from };
  for (const key of keys) delete copy[key];
  return copy;
};

export const FRESH = { leftGate: false, run: 0, findings: [], schedulerRequeues: [], runs: [], duplicates: [] } as const;

/**
 * A run number above the last seen is a restart by the scheduler. An ended attempt is reopened, except by the finding that a
 * stranger brought its object back to life: that is a fact about the object, not about the attempt (protocols §4.6, §6).
 */
export const observed = (a: AttemptView, event: EventOf<'attempt_observed'>, meta: Meta): AttemptView => {
  const restarted = event.run > a.run;
  const findings = findingsAfter(restarted ? [] : a.findings, event, meta);
  if (a.state === 'ended' && event.finding?.kind === 'active_after_end') return { ...a, findings, look: event.look };
  const moved = restarted || event.state !== a.state || event.pending?.group !== a.pending?.group;
  const inRun = event.state === 'running' || event.state === 'suspended' || event.state === 'ending';
  return {
    ...without(a, 'pending', 'outcome', 'endedAt', 'endedIn', 'processes', ...(restarted ? (['startedAt'] as const) : [])),
    state: event.state,
    run: event.run,
    look: event.look,
    since: moved ? meta.at : a.since,
    leftGate: a.leftGate || event.state !== 'gated',
    schedulerRequeues: [...a.schedulerRequeues, ...restarts(a, event.run, event.lastRunCause)],
    findings,
    ...(event.pending ? { pending: event.pending } : {}),
    ...(event.lastRunCause ? { lastRunCause: event.lastRunCause } : {}),
    ...((a.startedAt === undefined || restarted) && inRun ? { startedAt: meta.at } : {}),
  };
};

/** Found again after it was discarded, it counts anew; found twice, it is still one. */
export const withDuplicate = (a: AttemptView, { receipt, running }: EventOf<'duplicate_found'>, meta: Meta): AttemptView => {
  const known = a.duplicates.find((d) => d.receipt.schedulerId === receipt.schedulerId);
  const foundAt = known && !known.discarded ? known.foundAt : meta.at;
  return { ...a, duplicates: [...a.duplicates.filter((d) => d !== known), { receipt, running, foundAt, discarded: false }] };
};

/** Of several runs between two looks only the last one's reason is known. Bounded like everything else that a cluster says. */
const restarts = (a: AttemptView, run: number, cause: Outcome['cause'] | undefined): AttemptView['schedulerRequeues'] =>
  Array.from({ length: Math.min(Math.max(run - a.run, 0), 1000) }, (_, i) => (i === 0 && cause) || 'untold');

/** A hold is over when a look no longer tells of it; everything else that others did stays true of that run. */
const findingsAfter = (old: AttemptView['findings'], event: EventOf<'attempt_observed'>, meta: Meta): AttemptView['findings'] => {
  const { finding, pending } = event;
  const kept = old.filter((f) => f.kind !== 'held' || finding?.kind === 'held' || pending?.group === 'held');
  if (!finding || kept.some((f) => f.kind === finding.kind && f.said === finding.said)) return kept;
  return [...kept.filter((f) => f.kind !== finding.kind), { ...finding, notedAt: meta.at }];
};

/**
 * The run before is history: what was found of it, and a cancel that ended it, do not reach into the next one. What the
 * scheduler began by itself is counted as such, however it became known (contract §5).
 */
export const requeued = (a: AttemptView, event: EventOf<'attempt_requeued'>, meta: Meta, decision: View['decision']): AttemptView => ({
  ...without(a, 'outcome', 'endedAt', 'endedIn', 'processes', 'requeueIntendedAt', 'pending', 'startedAt', 'cancel'),
  ...(a.outcome ? { lastRunCause: a.outcome.cause } : {}),
  schedulerRequeues:
    decision?.action.kind === 'requeue' && decision.action.by === 'scheduler'
      ? [...a.schedulerRequeues, ...restarts(a, event.run, a.outcome?.cause)]
      : a.schedulerRequeues,
  state: 'queued',
  run: event.run,
  look: event.look,
  since: meta.at,
  leftGate: true,
  findings: [],
});
