/** Every state and every arrow of the machine file, one row each. The rows have the shape of AWS's TestState. */

import type { Json } from '../../lib/local/engine/json.ts';
import type { Mock, StateReport } from '../../lib/local/engine/run-state.ts';
import { directive } from './world.ts';

/** What a row's state is entered with unless the row says otherwise. */
export const idle: Json = { loops: 4, answer: {} };
const taken = 'StepFunctions.ExecutionAlreadyExistsException';

export interface Row {
  title: string;
  state: string;
  input?: Json;
  next?: string;
  question?: string;
  seconds?: number;
  mock?: Mock;
  retried?: number;
  expected: Partial<StateReport>;
}

export const lambda = (payload: unknown): Mock => ({ result: { ExecutedVersion: '$LATEST', Payload: payload as Json, StatusCode: 200 } });
const call = (question: string): Partial<StateReport> => ({
  arguments: {
    FunctionName: 'park',
    Payload: {
      machine: 1,
      job: 'j1',
      generation: 3,
      token: 'T',
      version: 7,
      until: directive('await').until,
      question,
      enteredAt: '2026-01-02T00:00:00.000Z',
      retry: 2,
    },
  },
  timeoutSeconds: 3600,
});

const advance: Row[] = [
  {
    title: 'counts the loop, forgets the answer it handed over, keeps the directive',
    state: 'Advance',
    input: { loops: 4, answer: { question: 'q', value: 1 } },
    mock: lambda(directive('await')),
    expected: {
      status: 'SUCCEEDED',
      next: 'Route',
      output: { loops: 5, answer: {} },
      variables: { directive: { ...directive('await') } },
      arguments: {
        FunctionName: 'advance',
        Payload: {
          machine: 1,
          job: 'j1',
          generation: 3,
          loops: 4,
          startedAt: '2026-01-01T00:00:00.000Z',
          answer: { question: 'q', value: 1 },
        },
      },
      timeoutSeconds: 165,
    },
  },
  {
    title: 'AssertionFailed fails at once: the same record gives the same failure',
    state: 'Advance',
    mock: { error: 'AssertionFailed', cause: 'unreachable view' },
    expected: { status: 'FAILED', error: 'AssertionFailed', cause: 'unreachable view' },
  },
  ...[0, 1, 2, 3].map(
    (retried): Row => ({
      title: `retry ${retried + 1} of 4 after a failure of the world`,
      state: 'Advance',
      mock: { error: 'Lambda.Unknown' },
      retried,
      expected: { status: 'RETRIABLE', index: 1, delayMs: [2000, 6000, 18_000, 54_000][retried]! },
    }),
  ),
  {
    title: 'a lost answer is a failure of the world too',
    state: 'Advance',
    mock: { error: 'States.Timeout' },
    expected: { status: 'RETRIABLE', index: 1 },
  },
  {
    title: 'the fifth failure in a row fails the execution, which reconcile sees',
    state: 'Advance',
    mock: { error: 'Lambda.Unknown' },
    retried: 4,
    expected: { status: 'FAILED', error: 'Lambda.Unknown' },
  },
  {
    title: 'an execution without the state data it needs fails visibly',
    state: 'Advance',
    input: {},
    // A missing field is a query error, which no retrier of Advance names.
    expected: { status: 'FAILED', error: 'States.QueryEvaluationError' },
  },
];

const route: Row[] = [
  ...[
    ['await', 'AwaitWake'],
    ['answer', 'AwaitAnswer'],
    ['again', 'Advance'],
    ['continue_as_new', 'ContinueAsNew'],
    ['done', 'Done'],
  ].map(
    ([next, to]): Row => ({
      title: `${next} → ${to}, state data unchanged`,
      state: 'Route',
      next: next!,
      expected: { status: 'SUCCEEDED', next: to!, output: idle },
    }),
  ),
  {
    title: 'an unknown directive fails the execution, visibly',
    state: 'Route',
    next: 'pause',
    expected: { status: 'FAILED', error: 'States.NoChoiceMatched' },
  },
];

const parks = (['AwaitWake', 'AwaitAnswer'] as const).flatMap((state): Row[] => {
  const question = state === 'AwaitAnswer' ? 'q1' : '';
  const row = (title: string, mock: Mock, expected: Partial<StateReport>, more: Partial<Row> = {}): Row => ({
    title,
    state,
    next: state === 'AwaitAnswer' ? 'answer' : 'await',
    question,
    mock,
    expected,
    ...more,
  });
  return [
    row(
      'P2.2 a stale decision goes back to Advance',
      { error: 'StaleDecision' },
      { status: 'CAUGHT_ERROR', next: 'Advance', output: idle },
    ),
    row('the time limit goes back to Advance', { error: 'States.Timeout' }, { status: 'CAUGHT_ERROR', next: 'Advance', output: idle }),
    row('so does a heartbeat', { error: 'States.HeartbeatTimeout' }, { status: 'CAUGHT_ERROR', next: 'Advance', output: idle }),
    row('P2.8 an older generation leaves', { error: 'Superseded' }, { status: 'CAUGHT_ERROR', next: 'Done', output: idle }),
    row('AssertionFailed fails at once', { error: 'AssertionFailed' }, { status: 'FAILED', error: 'AssertionFailed' }),
    row('a failed park call is retried', { error: 'Lambda.ServiceException' }, { status: 'RETRIABLE', index: 1, delayMs: 1000 }),
    row('… at most 30 s later', { error: 'Sandbox.Timedout' }, { status: 'RETRIABLE', delayMs: 27_000 }, { retried: 3 }),
    row('… four times', { error: 'Lambda.Unknown' }, { status: 'FAILED', error: 'Lambda.Unknown' }, { retried: 4 }),
    row('a limit of 0 s fails visibly', { result: {} }, { status: 'FAILED', error: 'States.Runtime' }, { seconds: 0 }),
    row('a limit of half a second too', { result: {} }, { status: 'FAILED', error: 'States.Runtime' }, { seconds: 0.5 }),
  ];
});

const answers: Row[] = [
  {
    title: 'P2.4 a wake carries nothing, whatever it carries',
    state: 'AwaitWake',
    next: 'await',
    mock: { result: { stray: 1 } },
    expected: { status: 'SUCCEEDED', next: 'Advance', output: idle, ...call('') },
  },
  {
    title: 'P2.5 the raw answer goes to Advance with its question',
    state: 'AwaitAnswer',
    next: 'answer',
    question: 'q1',
    mock: { result: { choice: 'wait' } },
    expected: {
      status: 'SUCCEEDED',
      next: 'Advance',
      output: { loops: 4, answer: { question: 'q1', value: { choice: 'wait' } } },
      ...call('q1'),
    },
  },
];

const successor: Row[] = [
  {
    title: 'P2.8 starts the next generation under its name, byte-stable',
    state: 'ContinueAsNew',
    mock: { result: { ExecutionArn: 'arn:next', StartDate: '2026-01-01T00:00:00.000Z' } },
    expected: {
      status: 'SUCCEEDED',
      next: 'Done',
      output: idle,
      arguments: { StateMachineArn: 'arn:machine', Name: 'j1-4', Input: { answer: {}, generation: 4, job: 'j1', loops: 0 } },
      timeoutSeconds: 60,
    },
  },
  {
    title: 'P2.8 a name that is taken is done',
    state: 'ContinueAsNew',
    mock: { error: taken },
    expected: { status: 'CAUGHT_ERROR', next: 'Done', output: idle },
  },
  {
    title: 'a failed start is repeated',
    state: 'ContinueAsNew',
    mock: { error: 'StepFunctions.ThrottlingException' },
    expected: { status: 'RETRIABLE', index: 1, delayMs: 2000 },
  },
  {
    title: 'a lost answer of a start is repeated',
    state: 'ContinueAsNew',
    mock: { error: 'States.Timeout' },
    retried: 5,
    expected: { status: 'RETRIABLE', index: 1, delayMs: 60_000 },
  },
  {
    title: 'after seven failures the execution fails, which reconcile sees',
    state: 'ContinueAsNew',
    mock: { error: 'StepFunctions.ThrottlingException' },
    retried: 6,
    expected: { status: 'FAILED', error: 'StepFunctions.ThrottlingException' },
  },
];

const done: Row[] = [{ title: 'ends', state: 'Done', expected: { status: 'SUCCEEDED', output: idle } }];

export const rows = { advance, route, parks, answers, successor, done };
