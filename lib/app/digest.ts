/**
 * Digest: what an observation teaches, as events and as what to keep watching (protocols §5.2, §5.3, §5.6). Pure.
 * Guards promise 1: only complete looks count towards an absence, an ending waits for its evidence, a pending reason must
 * persist, and an observation older than the one recorded teaches nothing.
 */
import { type Observation, seenOf } from '../cluster/port.ts';
import { attribute } from '../job/attribution.ts';
import { type Outcome, outcomeOf } from '../job/cause.ts';
import type { Event, Look } from '../job/event.ts';
import { LOG_RULES_STOP } from '../job/limit.ts';
import { standingAnswer } from '../job/question.ts';
import { TIMING } from '../job/timing.ts';
import { type AttemptView, lastAttempt, type View } from '../job/view.ts';
import { seenOfAttempt } from './summary.ts';
import type { Watch } from './watch.ts';

export interface Digest {
  readonly events: readonly Event[];
  readonly watch: Watch;
}
/** What a poll knows of its own look. */
export interface PollLook extends Look {
  readonly now: number;
  readonly complete: boolean;
}

const unchanged = (watch: Watch): Digest => ({ events: [], watch });

/** Older than what the record already knows, or of another object: dropped, also after a conflict (protocols §5.2). */
const isOlder = (attempt: AttemptView, look: PollLook): boolean =>
  attempt.look !== undefined && (look.fence < attempt.look.fence || look.clusterStartedAt < attempt.look.clusterStartedAt);

const concerned = (
  view: View,
  target: { readonly n: number; readonly receipt: { readonly schedulerId: string } },
  look: PollLook,
): AttemptView | undefined => {
  const attempt = lastAttempt(view);
  const same = attempt && attempt.n === target.n && attempt.receipt?.schedulerId === target.receipt.schedulerId;
  return same && !isOlder(attempt, look) ? attempt : undefined;
};

const lookOf = ({ fence, clusterStartedAt }: PollLook): Look => ({ fence, clusterStartedAt });

export const digestObservation = (view: View, observation: Observation, watch: Watch, look: PollLook): Digest => {
  const attempt = concerned(view, observation.target, look);
  // A run before the recorded one: a source that lags behind, such as accounting after a requeue (C024).
  if (!attempt || observation.run < attempt.run) return unchanged(watch);
  const { absent: _, ...seen } = watch;
  return observation.kind === 'live'
    ? digestLive(view, attempt, observation, seen, look)
    : digestEnd(view, attempt, observation, seen, look);
};

type Live = Extract<Observation, { kind: 'live' }>;
type Ended = Extract<Observation, { kind: 'ended' }>;

const digestLive = (view: View, attempt: AttemptView, live: Live, seen: Watch, look: PollLook): Digest => {
  const { missing: _, ...watch } = seen;
  if (attempt.state === 'ended') return revived(view, attempt, live, watch, look);
  const pending = settledPending(attempt, live, watch, look);
  const finding =
    live.finding && !attempt.findings.some((f) => f.kind === live.finding?.kind && f.said === live.finding.said) ? live.finding : undefined;
  const next = seenOf(live.state, live.run, pending.group);
  const moved = live.state !== attempt.state || live.run !== attempt.run;
  // The end of a long record is kept for what matters more than why it waits (contract §8).
  const tells = moved || (next !== seenOfAttempt(attempt) && view.version < LOG_RULES_STOP);
  if (!tells && !finding) return unchanged(pending.watch);
  const reason = live.pending?.group === pending.group ? live.pending : attempt.pending;
  const event: Event = {
    type: 'attempt_observed',
    n: attempt.n,
    state: live.state,
    run: live.run,
    look: lookOf(look),
    ...(pending.group && reason ? { pending: reason } : {}),
    ...(live.finding ? { finding: live.finding } : {}),
    ...(live.lastRunCause ? { lastRunCause: live.lastRunCause } : {}),
  };
  return { events: [event], watch: pending.watch };
};

/** A reason that asks for action must be seen by two polls in a row: a scheduler's first word is often a passing one (C016). */
const settledPending = (
  attempt: AttemptView,
  live: Live,
  watch: Watch,
  look: PollLook,
): { group?: NonNullable<Live['pending']>['group']; watch: Watch } => {
  const { pending: noted, ...rest } = watch;
  const group = live.pending?.group;
  if (!group) return { watch: rest };
  const key = seenOf(live.state, live.run, group);
  const known = attempt.pending?.group === group && attempt.run === live.run;
  if (known || group === 'waiting') return { group, watch: rest };
  // The very look before: one in between that had nothing to say saw the old reason again.
  if (noted?.n === attempt.n && noted.seen === key && noted.fence === look.fence - 1) return { group, watch: rest };
  const old = attempt.pending?.group;
  return {
    ...(old && attempt.state === live.state ? { group: old } : {}),
    watch: { ...rest, pending: { n: attempt.n, seen: key, fence: look.fence } },
  };
};

/** Something of an attempt that the record holds as ended is alive: reopened while nothing was decided, else a stranger's doing. */
const revived = (view: View, attempt: AttemptView, live: Live, watch: Watch, look: PollLook): Digest => {
  const n = attempt.n;
  if (isRequeued(view, attempt)) {
    // The same run is the old one still being cleaned up.
    return live.run > attempt.run
      ? { events: [{ type: 'attempt_requeued', n, run: live.run, look: lookOf(look) }], watch }
      : unchanged(watch);
  }
  if (isProvisional(view, attempt)) {
    return { events: [{ type: 'attempt_observed', n, state: live.state, run: live.run, look: lookOf(look) }], watch };
  }
  if (attempt.findings.some((f) => f.kind === 'active_after_end')) return unchanged(watch);
  const finding = {
    kind: 'active_after_end' as const,
    since: look.now,
    said: `object ${attempt.receipt?.schedulerId} is ${live.state} after its end`,
  };
  return { events: [{ type: 'attempt_observed', n, state: live.state, run: live.run, look: lookOf(look), finding }], watch };
};

const isRequeued = (view: View, attempt: AttemptView): boolean =>
  attempt.requeueIntendedAt !== undefined || view.decision?.action.kind === 'requeue';

const digestEnd = (view: View, attempt: AttemptView, ended: Ended, seen: Watch, look: PollLook): Digest => {
  const { missing, pending: _, ...watch } = seen;
  const begun = runsBegun(view, attempt, ended.run, look);
  if (attempt.state === 'ended' && begun.length === 0 && !replaces(view, attempt, ended.outcome)) return unchanged(watch);
  if (ended.missing.length > 0) {
    const since = missing?.n === attempt.n && missing.run === ended.run ? missing.since : look.now;
    if (look.now - since < TIMING.evidenceWaitSeconds * 1000)
      return unchanged({ ...watch, missing: { n: attempt.n, run: ended.run, since } });
  }
  return { events: [...begun, endEvent(begun.length > 0 ? inLaterRun(attempt) : attempt, ended, look)], watch };
};

/** A cancel that ended the run before a requeue says nothing of the next run's end. */
const inLaterRun = (attempt: AttemptView): AttemptView => {
  if (attempt.state !== 'ended') return attempt;
  const { cancel: _, ...later } = attempt;
  return later;
};

/** A run that began and ended between two looks is recorded as begun first: it counts, and it is the one that ended. */
const runsBegun = (view: View, attempt: AttemptView, run: number, look: PollLook): readonly Event[] => {
  if (run <= attempt.run) return [];
  const active: Event = { type: 'attempt_observed', n: attempt.n, state: 'ending', run, look: lookOf(look) };
  if (attempt.state !== 'ended') return [active];
  if (isRequeued(view, attempt)) return [{ type: 'attempt_requeued', n: attempt.n, run, look: lookOf(look) }];
  // An end that may turn out otherwise: somebody put it back, and it was active again for as long as that run was.
  return isProvisional(view, attempt) ? [active] : [];
};

/** An outcome of class evidence, until something was decided on it (contract §3): a person's word that ends the job is that, too. */
const isProvisional = (view: View, attempt: AttemptView): boolean =>
  attempt.outcome?.class === 'evidence' && !view.decision && standingAnswer(view, attempt)?.kind !== 'end';

const replaces = (view: View, attempt: AttemptView, outcome: Outcome): boolean =>
  isProvisional(view, attempt) && outcome.cause !== attempt.outcome?.cause;

const endEvent = (attempt: AttemptView, ended: Ended, look: PollLook): Event => {
  const whole = ended.missing.length === 0;
  const confidence = whole || ended.outcome.confidence === 'guess' ? ended.outcome.confidence : 'likely';
  const note = whole
    ? []
    : [{ source: 'dispatch', message: `waited ${TIMING.evidenceWaitSeconds} s in vain for: ${ended.missing.join(', ')}` }];
  const outcome = attribute(attempt, {
    ...ended.outcome,
    confidence,
    evidence: [...ended.outcome.evidence.slice(0, 16 - note.length), ...note],
  });
  return { type: 'attempt_ended', n: attempt.n, outcome, processes: ended.processes, runs: [...ended.runs], look: lookOf(look) };
};

/** Nobody knows it: counted only over consecutive complete looks, and believed only after the grace (protocols §5.6). */
export const digestAbsence = (
  view: View,
  target: Observation['target'],
  watch: Watch,
  look: PollLook,
  pollEverySeconds: number,
): Digest => {
  const attempt = concerned(view, target, look);
  if (!attempt || attempt.state === 'ended' || !look.complete) return unchanged(watch);
  const { absent, ...rest } = watch;
  const goesOn = absent?.n === attempt.n && absent.fence === look.fence - 1;
  const now = goesOn
    ? { ...absent, looks: absent.looks + 1, fence: look.fence }
    : { n: attempt.n, since: look.now, looks: 1, fence: look.fence };
  const graceMs = Math.max(TIMING.vanishSeconds, TIMING.vanishPolls * pollEverySeconds) * 1000;
  if (now.looks < TIMING.vanishPolls || look.now - now.since < graceMs) return unchanged({ ...rest, absent: now });
  const message = `every source answered and none knew it, ${now.looks} looks in a row since ${new Date(now.since).toISOString()}`;
  const ran = attempt.startedAt === undefined ? ('unknown' as const) : ('yes' as const);
  const outcome = outcomeOf('vanished', {
    observedAt: look.now,
    ran,
    confidence: 'likely',
    detail: { lastSeen: attempt.state },
    evidence: [{ source: 'poll', message }],
  });
  return {
    events: [
      { type: 'attempt_ended', n: attempt.n, outcome: attribute(attempt, outcome), processes: 'unknown', runs: [], look: lookOf(look) },
    ],
    watch: rest,
  };
};

/** No new output and no new publication for the limit: the finding that the supervisor cancels a stalled run by (contract §5). */
export const digestSilence = (view: View, bytes: number, watch: Watch, look: PollLook): Digest => {
  const attempt = lastAttempt(view);
  const limit = view.spec?.policy.limits.stalledAfterSeconds;
  if (attempt?.state !== 'running' || limit === undefined || isOlder(attempt, look)) return unchanged(watch);
  const reported = view.reported?.at ?? 0;
  const last = watch.output;
  const grew = !last || last.n !== attempt.n || last.run !== attempt.run || bytes > last.bytes || reported > last.reported;
  if (grew) return unchanged({ ...watch, output: { n: attempt.n, run: attempt.run, bytes, reported, since: look.now } });
  // Only time spent running counts: one that was suspended in between could not grow.
  const since = Math.max(last.since, attempt.since);
  if (look.now - since < limit * 1000 || attempt.findings.some((f) => f.kind === 'silent_since')) return unchanged(watch);
  const finding = { kind: 'silent_since' as const, since, said: new Date(since).toISOString() };
  return {
    events: [{ type: 'attempt_observed', n: attempt.n, state: attempt.state, run: attempt.run, look: lookOf(look), finding }],
    watch,
  };
};
