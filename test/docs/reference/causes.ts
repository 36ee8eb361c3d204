/** States, causes and outcomes, as docs/reference/states-and-causes.md prints them. Every list here is exhaustive by its type. */
import { cancelledBy, type Ending, endingOf, expired, refusedByWrapper, stoppedByWrapper } from '../../../lib/cluster/memory/ending.ts';
import { endsSchema } from '../../../lib/cluster/memory/script.ts';
import { attribute } from '../../../lib/job/attribution.ts';
import { CAUSE_NAMES, CAUSES, type Cause, evidenceSchema, type Outcome, outcomeOf, outcomeSchema } from '../../../lib/job/cause.ts';
import {
  ATTEMPT_STATES,
  type AttemptState,
  type Because,
  CANCEL_WHYS,
  type CancelWhy,
  FINDINGS,
  type Finding,
  PENDING_GROUPS,
  type PendingGroup,
} from '../../../lib/job/event.ts';
import { detectionOf } from '../../../lib/job/plan-detect.ts';
import { NEVER_ASKED, possibleCauses } from '../../../lib/job/plan-match.ts';
import type { Rule } from '../../../lib/job/policy.ts';
import { TIMING } from '../../../lib/job/timing.ts';
import { type AttemptView, JOB_STATES, type JobState } from '../../../lib/job/view.ts';
import { code, codes, duration, table } from './markdown.ts';
import { fieldRows } from './shapes.ts';
import { slurmEnds } from './slurm-ends.ts';

/** In the order in which they are asked: the first that applies is the job's state. */
const JOB: Readonly<Record<JobState, string>> = {
  succeeded: 'it has ended, and its outcome is success, or a person said `accept_success`',
  failed: 'it has ended in any other way, by an end of class evidence, too',
  cancelled: 'it has ended by a cancel, or with an outcome of class people',
  cancelling: 'a cancel was requested, and something of it may still be alive',
  awaiting: 'a blocking question is open',
  recovering: 'what follows its last attempt is decided, and the next attempt is not planned yet, or its requeue does not show yet',
  pending: 'no attempt yet, or the last one is `planned`, `uncertain` or `gated`',
  queued: 'its attempt is `queued`',
  running: 'its attempt is `starting`, `running`, `suspended` or `ending`; or `ended`, until it is decided what follows',
};

export const jobStates = (): string =>
  table(
    ['state', 'when'],
    Object.entries(JOB).map(([name, says]) => [code(name), says]),
  );

const ATTEMPT: Readonly<Record<AttemptState, readonly [means: string, by: readonly string[]]>> = {
  planned: [
    'it is intended to be sent, under a name that is known already; or it was deferred and will be sent again',
    ['attempt_planned', 'attempt_submission_deferred'],
  ],
  uncertain: ['it was sent and the answer was lost: it is being found out whether it landed', ['attempt_uncertain']],
  gated: [
    'it is on the cluster and cannot start: not released yet, or the release does not show yet',
    ['attempt_bound', 'attempt_observed'],
  ],
  queued: ['it is past its gate and waits in the scheduler’s queue', ['attempt_observed', 'attempt_requeued', 'job_adopted']],
  starting: ['its nodes are being made ready', ['attempt_observed']],
  running: ['its program may be running', ['attempt_observed']],
  suspended: ['the scheduler has stopped it, and may let it go on', ['attempt_observed']],
  ending: ['its end has begun and its nodes are not free yet', ['attempt_observed']],
  ended: ['it has an outcome', ['attempt_ended', 'attempt_refused', 'attempt_never_landed']],
};

export const attemptStates = (): string =>
  table(
    ['state', 'by the event', 'means'],
    ATTEMPT_STATES.map((state) => [code(state), codes(ATTEMPT[state][1]), ATTEMPT[state][0]]),
  );

const GROUPS: Readonly<Record<PendingGroup, readonly [means: string, follows: string]>> = {
  waiting: ['it waits its turn: for room, its priority, its time. Words that nobody knows read so, too', 'nothing'],
  concurrency: ['a limit on what may run at once is reached; it ends by itself', 'nothing'],
  budget: ['a quota of time is used up', 'nothing; an end of its patience is then `budget`, not `no_capacity`'],
  blocked: [
    'somebody has to act: an account, a partition that is down, a reservation',
    `the question \`stuck\` after ${duration(TIMING.stuckHeldSeconds)}`,
  ],
  held: ['somebody holds it', `the question \`foreign_change\`, and \`stuck\` after ${duration(TIMING.stuckHeldSeconds)}`],
  launch_failed: ['the scheduler holds it after failed launches', 'it is cancelled; the cause is `launch_failed`'],
  admitted: ['it was admitted and does not start', `the question \`stuck\` after ${duration(TIMING.stuckAdmittedSeconds)}`],
  never: ['it can never start as asked', 'it is cancelled; the cause is `unsatisfiable`, of a dependency `dependency_failed`'],
};

export const pendingGroups = (): string =>
  table(
    ['group', 'means', 'what follows'],
    PENDING_GROUPS.map((group) => [code(group), ...GROUPS[group]]),
  );

const FOUND: Readonly<Record<Finding['kind'], string>> = {
  silent_since: 'it has published nothing and written nothing for `limits.stalledAfter` while running: it is cancelled as `stalled`',
  held: 'somebody holds it',
  released: 'somebody let it through its gate before dispatch did',
  edited: 'somebody changed it',
  requeued: 'somebody put it back in its queue: it was not submitted as one that may be requeued',
  active_after_end: 'its object is alive after an end that the record holds as final',
  second_object: 'not written by this release: a second object is told by `duplicate_found`',
};

export const findings = (): string =>
  table(
    ['finding', 'means'],
    FINDINGS.map((kind) => [code(kind), FOUND[kind]]),
  );

const MEANS: Readonly<Record<Cause, string>> = {
  completed: 'its program exited with 0',
  preempted: 'it was killed to make room for another',
  node_lost: 'a node, or the scheduler’s agent on it, died',
  evicted: 'its node, or an API call, put it out: memory or disk pressure, a drain',
  launch_failed: 'it never began: prolog, image, output path, user environment, the wrapper’s guard; `stage` says which',
  boot_failed: 'its node did not come up',
  scheduler_failed: 'the scheduler itself lost or broke it',
  revoked: 'a sibling in the federation took it',
  never_landed: 'proved: the submission never reached the scheduler',
  no_capacity: 'it did not start within its patience',
  gate_expired: 'it was not released in time',
  time_limit: 'its own time limit was over; `clock` says by whose clock',
  deadline: 'the job’s `deadline` or `limits.wallClock` passed',
  out_of_memory: 'a limit on memory, or the memory of a node, was exceeded; `scope` says whose',
  budget: 'an account’s quota of time ran out',
  stalled: 'it ran without progress for `limits.stalledAfter`, and the supervisor cancelled it',
  rejected: 'the submission was refused',
  unsatisfiable: 'it can never run as asked',
  dependency_failed: 'something that it waits for can never be met',
  exited: 'its program exited with another code than 0',
  signalled: 'it was killed by a signal that no other cause explains',
  cancelled_by_dispatch: 'dispatch ended it: a person asked dispatch to, or a later attempt or `stop` fenced it',
  cancelled_by_user: 'the account under which it ran cancelled it, past dispatch',
  cancelled_by_admin: 'root or another account cancelled it',
  cancelled_by_unknown: 'it was cancelled, and nobody says by whom',
  vanished: 'every source answered, and for long enough none knew it',
  contradictory: 'its sources disagree, and no rule ranks them',
  unrecognised: 'it ended, with a word that dispatch does not know',
};

const ruleOn = (...on: Rule['on']): Rule => ({ on, do: { stop: {} } });

const toldBy = (cause: Cause): string =>
  detectionOf(ruleOn(cause), [cause], undefined)
    .by.map(({ by }) => (by === 'dispatch' || by === 'scheduler' ? by : `[\`${by}\`](capabilities.md)`))
    .join(', ');

/** As the plan and the matching have it. */
const namedBy = (cause: Cause): string => {
  if (CAUSES[cause] === 'success') return 'no: a plan refuses it';
  if (NEVER_ASKED[cause] !== undefined) return 'without effect';
  return possibleCauses(ruleOn('any')).includes(cause) ? 'yes' : 'yes, but `any` leaves it out';
};

export const causes = (): string =>
  table(
    ['cause', 'class', 'who tells it apart', 'may a rule name it', 'means'],
    CAUSE_NAMES.map((cause) => [code(cause), CAUSES[cause], toldBy(cause), namedBy(cause), MEANS[cause]]),
  );

const NO_WORD = '–';

/** Every end that the memory cluster can play, and those that it concludes by itself. */
const memoryEndings = (): readonly Ending[] => [
  ...endsSchema.options[0].options.filter((end) => end !== 'hangs').map((end) => endingOf(end, ['n1'])),
  ...[endingOf({ exit: 3 }, []), endingOf({ signal: 11 }, []), expired(true, 'Resources'), expired(false, '')],
  ...[
    cancelledBy('login', 'alice'),
    cancelledBy('admin', 'alice'),
    cancelledBy('unknown', 'alice'),
    refusedByWrapper('guard', ''),
    stoppedByWrapper(''),
  ],
];

const memoryWords = (cause: Cause): string => {
  const words = memoryEndings().filter((ending) => ending.cause === cause);
  return words.length === 0 ? NO_WORD : codes([...new Set(words.map(({ word }) => word))]);
};

/** What dispatch concludes a cause from where no word of a scheduler says it, or not alone. */
const CONCLUDED: Readonly<Partial<Record<Cause, string>>> = {
  never_landed: 'two complete look-ups after the settle time',
  no_capacity: 'the end of its patience',
  deadline: 'the clock',
  stalled: 'the clock, and what was published and written',
  rejected: '[a refusal of `sbatch`](slurm-words.md#what-sbatch-says)',
  unsatisfiable:
    '[a refusal of `sbatch`](slurm-words.md#what-sbatch-says), or [a reason](slurm-words.md#why-a-job-waits) of the group `never`',
  vanished: 'complete looks that do not know it',
  evicted: NO_WORD,
};

export const words = (): string =>
  table(
    ['cause', 'on the memory cluster', 'on Slurm'],
    CAUSE_NAMES.map((cause) => {
      const typical = slurmEnds().flatMap((end) => (end.typical && end.outcome.cause === cause ? [end.says] : []));
      const told = [...(CONCLUDED[cause] === undefined ? [] : [CONCLUDED[cause]]), ...typical];
      if (told.length === 0) throw new Error(`no word of Slurm is shown for ${cause}`);
      return [code(cause), memoryWords(cause), told.join('; ')];
    }),
  );

const OUTCOME: Readonly<Record<keyof Outcome, string>> = {
  state: 'follows the class: success `succeeded`, people `cancelled`, evidence `unknown`, all others `failed`',
  cause: 'why it ended',
  class: 'follows the cause',
  detail: 'what is known beside the cause: see [details](#details)',
  evidence: 'the raw words that it was judged by',
  confidence: '`certain`: no other reading of this evidence is known; `likely`: some evidence is missing or weak; `guess`: little is there',
  ran: 'whether the user’s program began: decides what the attempt consumes of a rule’s `max`',
  observedAt: 'when dispatch learnt it, by its own clock',
};

export const outcomeFields = (): string =>
  table(
    ['field', 'holds', 'means'],
    fieldRows(outcomeSchema.shape, (name) => OUTCOME[name as keyof Outcome], 'outcome'),
  );

const EVIDENCE: Readonly<Record<keyof typeof evidenceSchema.shape, string>> = {
  source: 'who says it: the controller, accounting, the result file, a look-up, dispatch itself',
  state: 'its word for the state',
  reason: 'its word for the reason',
  exitCode: 'exit code and signal as it writes them',
  nodes: 'the nodes it names',
  message: 'what else it says',
  at: 'when it ended, by that source’s clock',
};

export const evidenceFields = (): string =>
  table(
    ['field', 'holds', 'means'],
    fieldRows(evidenceSchema.shape, (name) => EVIDENCE[name as keyof typeof EVIDENCE], 'evidence'),
  );

const DETAILS: Readonly<Partial<Record<Cause, readonly string[]>>> = {
  completed: ['failedSteps', 'outOfMemoryInside'],
  preempted: ['by', 'graceUsed'],
  node_lost: ['nodes', 'failedNodes', 'what'],
  evicted: ['which'],
  launch_failed: ['stage', 'message', 'reason', 'uid', 'code'],
  scheduler_failed: ['what'],
  no_capacity: ['reason'],
  time_limit: ['clock', 'reason', 'programExit'],
  deadline: ['by', 'reason'],
  out_of_memory: ['scope', 'programExit'],
  budget: ['clock', 'reason', 'programExit'],
  stalled: ['since'],
  rejected: ['by', 'reason', 'message'],
  unsatisfiable: ['by', 'reason', 'message', 'stage'],
  dependency_failed: ['reason', 'stage'],
  exited: ['code', 'maybe_guard'],
  signalled: ['signal', 'code', 'maybe_oom'],
  cancelled_by_dispatch: ['reason'],
  cancelled_by_user: ['uid'],
  cancelled_by_admin: ['uid'],
  vanished: ['lastSeen'],
  contradictory: ['reason', 'code', 'both'],
  unrecognised: ['word'],
};

/** Keys that a real end carries and the table of details does not name. */
export const untoldDetails = (): string[] =>
  [...slurmEnds().map(({ outcome }) => outcome), ...memoryEndings()].flatMap(({ cause, detail }) =>
    Object.keys(detail)
      .filter((key) => !DETAILS[cause]?.includes(key))
      .map((key) => `${cause}.${key}`),
  );

export const details = (): string =>
  table(
    ['cause', 'detail'],
    CAUSE_NAMES.map((cause) => [code(cause), DETAILS[cause] ? codes(DETAILS[cause]) : 'none']),
  );

const WHYS: Readonly<Record<CancelWhy, string>> = {
  request: 'a person asked for it, or answered `stop` to a question about a second object',
  patience: 'it did not start within its patience, and its gate does not end it, or has not',
  stall: 'it was silent for `limits.stalledAfter`',
  deadline: 'the job’s `deadline` passed',
  wall_clock: '`limits.wallClock` passed',
  limit: 'the scheduler requeued it more often than its rule allows; the cause is then that of the run before',
  never: 'the cluster says that it can never start; or `launch_failed`, or `dependency_failed`, by the reason',
};

/** As the code attributes it: an attempt that waits in the queue and is cancelled for that reason. */
const attributed = (why: CancelWhy): Cause => {
  const attempt = {
    cancel: { why, intendedAt: 0 },
    ...{ clusterNow: 0, plannedAt: 0, findings: [], pending: { group: why === 'never' ? 'never' : 'waiting', reason: 'Resources' } },
    lastRunCause: why === 'limit' ? 'preempted' : undefined,
  } as unknown as AttemptView;
  return attribute(attempt, outcomeOf('cancelled_by_user', { observedAt: 0 })).cause;
};

export const cancelWhys = (): string =>
  table(
    ['`why`', 'the end is then', 'when'],
    CANCEL_WHYS.map((why) => [code(why), why === 'limit' ? 'as the run before' : code(attributed(why)), WHYS[why]]),
  );

const BECAUSE: Readonly<Record<Because['kind'], readonly [when: string, state: string]>> = {
  completed: ['its last attempt succeeded', '`succeeded`'],
  rule: ['a rule says `stop`', 'of the last outcome'],
  unmatched: ['no rule matches and `unmatched` is `stop`; or the outcome is of class people and no rule names it', 'of the last outcome'],
  limit: ['a rule’s `max` or a limit is used up, and nobody is to be asked; `limit` says which', 'of the last outcome'],
  answer: ['a person’s answer, or its default when the question expired', '`succeeded` after `accept_success`, else of the last outcome'],
  cancel: ['a person cancelled it', '`cancelled`; `succeeded` if its last attempt had completed'],
  deadline: ['its `deadline` passed', '`failed`, cause `deadline`; `succeeded` if its last attempt had completed'],
  wall_clock: ['`limits.wallClock` passed', '`failed`, cause `deadline`; `succeeded` if its last attempt had completed'],
  observed: ['somebody else’s job, which is only watched, has ended', 'of its outcome; class evidence reads `failed`'],
};

export const becauses = (): string =>
  table(
    ['`because`', 'when', 'state of the job'],
    Object.entries(BECAUSE).map(([kind, says]) => [code(kind), ...says]),
  );

/** Names that a table of this page must show; nothing but its types would miss them otherwise. */
export const NAMES = { jobStates: JOB_STATES, attemptStates: ATTEMPT_STATES, causes: CAUSE_NAMES };
