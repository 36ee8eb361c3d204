/** Next steps and directives, as docs/reference/next-steps.md prints them. */
import { readFileSync } from 'node:fs';
import type { Directive } from '../../../lib/app/advance.ts';
import type { EventType } from '../../../lib/job/event.ts';
import { EVENT_TYPES } from '../../../lib/job/event.ts';
import type { Step } from '../../../lib/job/step.ts';
import { TIMING } from '../../../lib/job/timing.ts';
import { code, codes, duration, table } from './markdown.ts';

interface Told {
  readonly when: string;
  readonly effect: string;
  readonly events: readonly EventType[];
}

export const STEPS: Readonly<Record<Step['do'], Told>> = {
  submit: {
    when: 'there is no attempt yet; a relaunch is decided and its wait is over; or a deferred attempt’s moment has come',
    effect: 'fixes the resume point from a listing made now, commits the plan of the attempt, looks its name up, sends it once',
    events: ['attempt_planned', 'attempt_bound', 'attempt_refused', 'attempt_submission_deferred', 'attempt_uncertain', 'duplicate_found'],
  },
  settle: {
    when: 'an attempt was sent, or may have been, and nothing is known of the answer',
    effect: 'looks its name up until it is found, or proved absent; on the gate `suspend` repeats the create instead',
    events: ['attempt_bound', 'duplicate_found', 'attempt_refused', 'attempt_never_landed'],
  },
  release: {
    when: 'an attempt is bound and was never released; or it was, and is still seen behind its gate',
    effect: 'writes its mark, looks for every live object of the job, opens the gate if the bound one is alone',
    events: ['release_intended', 'attempt_released', 'attempt_observed', 'duplicate_found'],
  },
  await: {
    when: 'nothing is due',
    effect: 'none: names the next moment that it knows of, and the question that is waited for',
    events: [],
  },
  cancel: {
    when: 'the job is cancelled or its time is up; its patience is over; it is silent; it can never start; it was requeued too often',
    effect: 'asks the cluster to end it, and asks again; of a deferred attempt nothing was sent, so it ends at once',
    events: ['cancel_intended', 'attempt_cancel_sent', 'attempt_ended'],
  },
  requeue: {
    when: 'a requeue is decided: by the supervisor at once; by the scheduler when it has not shown by its settle time',
    effect: 'puts the object back in its queue, where that is the supervisor’s to do, and looks whether the next run shows',
    events: ['requeue_intended', 'attempt_requeued', 'requeue_refused'],
  },
  discard: {
    when: 'a second object is known and not yet gone',
    effect: 'ends it, in whatever state, and looks again',
    events: ['duplicate_discarded'],
  },
  decide: {
    when: 'an attempt has ended, and a rule or `unmatched` says what follows',
    effect: 'none',
    events: ['recovery_decided'],
  },
  escalate: {
    when: 'people are to be asked',
    effect: 'none',
    events: ['escalation_raised'],
  },
  expire: {
    when: 'a question’s moment has passed',
    effect: 'none: its default counts as the answer',
    events: ['escalation_expired', 'recovery_decided'],
  },
  finish: {
    when: 'the job is to end',
    effect: 'writes `stop`, takes a complete look at every object of the job, discards what is alive and looks again',
    events: ['job_ended'],
  },
  done: { when: 'the job has ended', effect: 'none', events: [] },
};

export const steps = (): string =>
  table(
    ['step', 'when', 'effect on the cluster'],
    Object.entries(STEPS).map(([name, { when, effect }]) => [code(name), when, effect]),
  );

export const stepEvents = (): string =>
  table(
    ['step', 'may commit'],
    Object.entries(STEPS).map(([name, { events }]) => [code(name), events.length === 0 ? 'nothing' : codes(events)]),
  );

/** Steps that have a file of their own, and the other files that they commit through. */
const FILES: readonly (readonly [step: Step['do'], files: readonly string[]])[] = [
  ['submit', ['submit', 'bind']],
  ['settle', ['settle', 'bind']],
  ['release', ['release']],
  ['cancel', ['cancel']],
  ['requeue', ['requeue']],
  ['discard', ['discard']],
  ['finish', ['finish']],
];

const committedIn = (file: string): readonly string[] => {
  const text = readFileSync(new URL(`../../../lib/app/step/${file}.ts`, import.meta.url), 'utf8');
  return EVENT_TYPES.filter((type) => text.includes(`type: '${type}'`));
};

/** Events that a step's files commit and its row does not name, and those that its row names and none of its files commits. */
export const untoldEvents = (): string[] =>
  FILES.flatMap(([step, files]) => {
    const committed = new Set(files.flatMap(committedIn));
    // What an answer of the cluster teaches is recorded by one function, whichever step asked.
    if (step === 'settle') committed.add('attempt_refused').add('attempt_bound');
    const told: ReadonlySet<string> = new Set(STEPS[step].events);
    return [
      ...[...committed].filter((type) => !told.has(type)).map((type) => `${step} commits ${type}`),
      ...[...told].filter((type) => !committed.has(type)).map((type) => `${step} does not commit ${type}`),
    ];
  });

const NEXT: Readonly<Record<Directive['next'], readonly [when: string, then: string]>> = {
  await: ['the next step is `await`, or the last one could not be tried', '`AwaitWake`: waits for a wake, at most `seconds`'],
  answer: ['the same, and a blocking question is open', '`AwaitAnswer`: waits for the answer or a wake, at most `seconds`'],
  again: [
    `${TIMING.advanceSteps} steps, or ${duration(TIMING.advanceSeconds)}, are used up and the next one is due; or the record moved on meanwhile`,
    '`Advance`, at once',
  ],
  continue_as_new: [
    `after ${TIMING.loopsPerExecution} loops or ${TIMING.executionDays} days, or for a machine of an older release`,
    'the next generation is started and this execution ends',
  ],
  done: ['the job has ended, or a newer generation supervises it', 'the execution ends'],
};

export const directives = (): string =>
  table(
    ['`next`', 'when', 'the machine'],
    Object.entries(NEXT).map(([name, says]) => [code(name), ...says]),
  );

export const paces = (): string =>
  table(
    ['step', 'first', 'at most'],
    [
      ['`settle`', duration(TIMING.lookUpSeconds), duration(TIMING.lookUpMostSeconds)],
      ['`cancel`', duration(TIMING.cancelAgainSeconds), duration(TIMING.cancelAgainMostSeconds)],
      ['a requeue that does not show yet', duration(TIMING.lookUpSeconds), duration(TIMING.lookUpMostSeconds)],
      ['all others', duration(TIMING.retrySeconds), duration(TIMING.retryMostSeconds)],
      ['no connection slot was free', duration(TIMING.slotSeconds), duration(TIMING.slotMostSeconds)],
    ],
  );
