/**
 * The table of test/machine/rows.ts as scenarios. A row is one state with one answer of the world; an engine without TestState has
 * to be led there: the execution begins so that the row's state is entered with the row's input, and what follows it is `done`.
 */
import { type Row, rows } from '../machine/rows.ts';
import { directive, named } from '../machine/world.ts';
import { NEVER, type Scenario } from './scenario.ts';

const GENERATION = 3;
/** Where a row wants the time limit to pass: short, since another engine's time is real. */
const LIMIT_SECONDS = 60;
const TIMEOUT = 'States.Timeout';
const HEARTBEAT = 'States.HeartbeatTimeout';

const errorOf = ({ mock }: Row): string | undefined => (mock !== undefined && 'error' in mock ? mock.error : undefined);

/** A row's error comes once more than it was retried; then the world answers, or nothing would end. */
const fails = (row: Row, call: number): boolean => errorOf(row) !== undefined && call <= (row.retried ?? 0);

const thrown = (row: Row): never => {
  throw named(errorOf(row) ?? '');
};

const leading = (row: Row): Scenario['advance'] => {
  const { next = { ContinueAsNew: 'continue_as_new', Done: 'done' }[row.state] ?? 'await', question = '' } = row;
  const seconds = errorOf(row) === TIMEOUT ? LIMIT_SECONDS : (row.seconds ?? 3600);
  return (call, generation) => (call === 0 && generation === GENERATION ? directive(next, { question, seconds }) : directive('done'));
};

const onAdvance = (row: Row): Partial<Scenario> => ({
  input: { ...((row.input as object | undefined) ?? { loops: 4, answer: {} }), job: 'j1', generation: GENERATION },
  advance: (call) => {
    if (!fails(row, call)) return directive('done');
    return errorOf(row) === TIMEOUT ? NEVER : thrown(row);
  },
});

/** An error of a park function is thrown by it; a time-out is a signal that does not come. */
const onPark = (row: Row): Partial<Scenario> => ({
  advance: leading(row),
  park: (call) => (fails(row, call) && errorOf(row) !== TIMEOUT ? thrown(row) : undefined),
  signal: (call) => {
    if (fails(row, call)) return undefined;
    return { output: JSON.stringify(row.mock !== undefined && 'result' in row.mock ? row.mock.result : {}) };
  },
});

const onStart = (row: Row): Partial<Scenario> => ({
  advance: leading(row),
  starting: (call) => {
    if (!fails(row, call)) return undefined;
    if (errorOf(row) === TIMEOUT) return NEVER;
    return {
      before: errorOf(row)!
        .replace('StepFunctions.', '')
        .replace(/Exception$/, ''),
    };
  },
});

const others = (row: Row): Partial<Scenario> => ({ advance: leading(row), park: () => undefined, signal: () => ({ output: '{}' }) });

const made: Record<string, (row: Row) => Partial<Scenario>> = {
  Advance: onAdvance,
  AwaitWake: onPark,
  AwaitAnswer: onPark,
  ContinueAsNew: onStart,
};

/** Without the rows that lives.ts says cannot be lived. */
export const rowScenarios: readonly (Scenario & { readonly row: Row })[] = Object.values(rows)
  .flat()
  .filter((row) => errorOf(row) !== HEARTBEAT && (row.seconds ?? 1) >= 1)
  .map((row) => ({
    title: `${row.state}: ${row.title}`,
    generation: GENERATION,
    // Advance counts one loop up to the row's input.
    input: { answer: {}, generation: GENERATION, job: 'j1', loops: 3 },
    advance: leading(row),
    hasty: errorOf(row) === TIMEOUT,
    ...(made[row.state] ?? others)(row),
    row,
  }));
