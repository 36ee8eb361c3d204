/**
 * The lives of test/machine/paths.test.ts as scenarios, under the same titles; and those that another engine cannot live, with why.
 * lives.test.ts sees to it that every life there is in one of the two lists.
 */
import { directive, named } from '../machine/world.ts';
import { NEVER, type Scenario } from './scenario.ts';

/** A wait that is to end by its limit takes a minute here, and not the hour it takes under virtual time. */
const MINUTE = { seconds: 60 };
const until =
  (calls: number, more = {}) =>
  (call: number) =>
    call < calls ? directive('await', more) : directive('done');
const ask = (call: number) => (call === 0 ? directive('answer', { question: 'q1' }) : directive('done'));
const woken = () => ({ output: '{}' });
const throwing = (name: string, message = '') => {
  throw named(name, message);
};

export const lives: readonly Scenario[] = [
  { title: 'P2.4 a wake brings Advance back at once; done ends', advance: until(1), signal: woken },
  {
    title: 'P2.1 without a wake the time limit brings it back, not a millisecond earlier',
    advance: until(1, MINUTE),
    late: true,
    hasty: true,
  },
  {
    title: 'P2.2 a stale decision is decided again at once',
    advance: until(2),
    park: (call) => (call === 0 ? throwing('StaleDecision') : undefined),
    signal: (call) => (call === 0 ? undefined : woken()),
  },
  {
    title: 'P2.2 a park call that failed is made again with a new token and a higher retry count',
    advance: until(1),
    park: (call) => (call < 4 ? throwing('Lambda.Unknown') : undefined),
    signal: (call) => (call < 4 ? undefined : woken()),
  },
  { title: 'P2.8 a park of an older generation ends the supervisor quietly', advance: until(9), park: () => throwing('Superseded') },
  {
    title: 'P2.5 an answer by token reaches Advance raw, once',
    advance: (call) => (call === 1 ? directive('again') : ask(call)),
    signal: () => ({ output: '{"choice":"wait"}' }),
  },
  { title: 'nobody answers: the limit brings it back with no answer', advance: (call) => ({ ...ask(call), ...MINUTE }), hasty: true },
  { title: 'Advance fails four times, then recovers', advance: (call) => (call < 4 ? throwing('Lambda.Unknown') : directive('done')) },
  { title: '… the fifth failure ends the supervisor badly, which reconcile sees', advance: () => throwing('Lambda.Unknown') },
  { title: 'AssertionFailed ends it at once', advance: () => throwing('AssertionFailed', 'cannot be') },
  { title: 'a directive of pause ends it visibly', advance: () => ({ ...directive('done'), next: 'pause' }) },
  { title: 'a directive of undefined ends it visibly', advance: () => ({ ...directive('done'), next: undefined }) },
  {
    title: 'an Advance that never answers is tried again after its limit',
    advance: (call) => (call === 0 ? NEVER : directive('done')),
    hasty: true,
  },
  {
    title: 'again goes straight back, without parking',
    advance: (call) => (call < 5 ? directive('again') : directive('done')),
  },
  {
    title: 'P2.8 continue as new: one successor, same bytes, counting loops anew',
    advance: (_call, generation) => (generation === 1 ? directive('continue_as_new') : directive('await')),
  },
  ...(['running', 'ended'] as const).map(
    (successor): Scenario => ({
      title: `P2.8 a successor that runs already, or ended already, is success: ${successor}`,
      advance: (_call, generation) => directive(generation === 1 ? 'continue_as_new' : successor === 'running' ? 'await' : 'done'),
      successor,
    }),
  ),
  {
    title: 'a start that fails is repeated; a lost answer meets its own successor',
    advance: (_call, generation) => (generation === 1 ? directive('continue_as_new') : directive('await')),
    starting: (call) => [{ before: 'Throttling' }, { after: 'SdkClient' }][call],
  },
  {
    title: 'the execution ends by its own limit of 315 d, long before the year of AWS',
    advance: () => directive('await', { seconds: 12 * 3600 }),
    executionLimitSeconds: 60,
    hasty: true,
  },
  { title: '13 events and 3 transitions when woken', advance: until(1), signal: woken },
  { title: '13 events and 3 transitions when timed out', advance: until(1, MINUTE), hasty: true },
  {
    title: 'P2.8 stopped: reported, its token dead, nothing left behind',
    advance: until(9, MINUTE),
    signal: () => ({ stop: true }),
    late: true,
    hasty: true,
  },
  // Not of that file: what P2.5 draws at random there, in the shapes that a second evaluator could read differently.
  ...[
    'null',
    'true',
    '0',
    '-1.5',
    '""',
    '"a \\"quoted\\" \\\\ text"',
    '"$states.input {% 1 %}"',
    '[]',
    '[[1],[]]',
    '[null]',
    '{}',
    '{"é":{"":null}}',
  ].map((output): Scenario => ({ title: `P2.5 the answer ${output} reaches Advance unchanged`, advance: ask, signal: () => ({ output }) })),
];

export const notLived: readonly { readonly title: string; readonly why: string }[] = [
  {
    title: 'the rows of a heartbeat that ends',
    why: 'The file sets no heartbeat, so that none can end: these rows need an engine that takes a state alone.',
  },
  {
    title: 'the rows of a limit of 0 s and of half a second',
    why: 'moto takes both for 0 and ends the wait at once, in a race that now and then breaks its history. By the documentation a limit is a positive whole number, so that failing visibly (ours) is right.',
  },
  {
    title: 'S13 the 1,500 loops after which Advance continues as new stay under the cap',
    why: "Minutes of real time; the events of one loop are compared above, and the cap is AWS's own number.",
  },
  {
    title: 'killed: no trace, no report, and the next generation starts',
    why: "Killing without a trace is our engine's own, for simulation: neither AWS nor moto has it.",
  },
];
