/**
 * Where moto and our engine part, and who is right by the documentation of AWS. The run compares each case here in every field but the
 * named ones, and fails when a named one no longer differs. statemachines/README.md tells the same to people.
 */
import type { Field } from './compare.ts';

export interface Difference {
  readonly what: string;
  readonly why: string;
  readonly right: 'ours' | 'moto' | 'open';
  readonly source: string;
  readonly cases: readonly { readonly title: string; readonly fields: readonly Field[] }[];
}

const API = 'https://docs.aws.amazon.com/step-functions/latest/apireference';
const GUIDE = 'https://docs.aws.amazon.com/step-functions/latest/dg';

const each = (fields: readonly Field[], ...titles: readonly string[]): Difference['cases'] => titles.map((title) => ({ title, fields }));

export const differences: readonly Difference[] = [
  {
    what: 'A retried park is handed the token of the attempt before',
    why: 'moto makes one token per state entered; on AWS every attempt has its own, and the one before is dead.',
    right: 'ours',
    source: `${GUIDE}/connect-to-resource.html`,
    cases: each(
      ['tokens'],
      'P2.2 a park call that failed is made again with a new token and a higher retry count',
      ...['AwaitWake', 'AwaitAnswer'].flatMap((state) =>
        ['a failed park call is retried', '… at most 30 s later', '… four times'].map((title) => `${state}: ${title}`),
      ),
    ),
  },
  {
    what: 'A choice that matches nothing fails with States.Runtime',
    why: 'moto raises an error of its own there; States.NoChoiceMatched is the name reserved for it.',
    right: 'ours',
    source: `${GUIDE}/concepts-error-handling.html`,
    cases: each(
      ['error', 'events'],
      'Route: an unknown directive fails the execution, visibly',
      'a directive of pause ends it visibly',
      'a directive of undefined ends it visibly',
    ),
  },
  {
    what: 'A signal to a task that is over is answered InvalidToken',
    why: 'moto looks for the token among running executions alone; TaskTimedOut is documented for a token that expired or whose task was closed.',
    right: 'ours',
    source: `${API}/API_SendTaskSuccess.html`,
    cases: each(['signals'], 'P2.1 without a wake the time limit brings it back, not a millisecond earlier'),
  },
  {
    what: 'A stopped execution goes on until its wait is over, and then fails',
    why: 'moto notes the stop, lets the task wait for its limit, and ends as FAILED; StopExecution ends an execution as ABORTED. The signal afterwards is the difference before.',
    right: 'ours',
    source: `${API}/API_StopExecution.html`,
    cases: each(['status', 'error', 'events', 'signals'], 'P2.8 stopped: reported, its token dead, nothing left behind'),
  },
  {
    what: "The execution's own limit ends it without an event and without an error",
    why: 'moto reports TIMED_OUT while its task still waits, and records the event only when that is over; a history ends with ExecutionTimedOut.',
    right: 'ours',
    source: `${API}/API_HistoryEvent.html`,
    cases: each(['error', 'events'], 'the execution ends by its own limit of 315 d, long before the year of AWS'),
  },
  {
    what: 'An expression that yields nothing is recorded twice',
    why: 'moto records EvaluationFailed where it evaluates and again where the state fails; the documentation does not say how often it comes.',
    right: 'open',
    source: `${API}/API_HistoryEvent.html`,
    cases: each(['events'], 'Advance: an execution without the state data it needs fails visibly'),
  },
];

/** What no comparison shows, since the harness evens it out. */
export const evened: readonly string[] = [
  'moto gives the arguments of states:startExecution to its own client with a capital first letter, which that client drops; server.py repairs it (ours is right: the machine file has the names of the documentation).',
  'moto writes moments of the context with microseconds and +00:00; AWS and ours with milliseconds and Z. Both are read by Date.parse.',
  'moto keeps no byte-exact output: compared is the JSON.',
];

export const fieldsKnown = (title: string): Field[] =>
  differences.flatMap(({ cases }) => cases.filter((one) => one.title === title).flatMap(({ fields }) => fields));
