/** A scenario on the engine that is tested, simulated and run locally, under virtual time. */
import { virtualClock } from '../../lib/local/clock.ts';
import { createEngine } from '../../lib/local/engine/engine.ts';
import type { HistoryEvent } from '../../lib/local/engine/history.ts';
import type { Json } from '../../lib/local/engine/json.ts';
import { definition, named, START_MS, substitutions } from '../machine/world.ts';
import { answerTo, type Call, comparable, generationOf, inputOf, NEVER, type Scenario, type Trace } from './scenario.ts';

/** More timers than any scenario sets. */
const MOST_TURNS = 500;

export const runOurs = async (scenario: Scenario): Promise<Trace> => {
  const clock = virtualClock(START_MS);
  const first = generationOf(scenario);
  const calls = new Map<number, Call[]>();
  const advanced = new Map<number, number>();
  const starts: { name: string; input: string }[] = [];
  const due: (() => void)[] = [];
  const sent: Promise<string>[] = [];
  const tokens: string[] = [];
  let parked = 0;
  let drawn = 0;

  const called = (name: string, payload: Json): number => {
    const generation = Number((payload as { generation?: unknown }).generation ?? first);
    const list = calls.get(generation) ?? [];
    calls.set(generation, list);
    list.push({ function: name, payload });
    return generation;
  };

  const engine = createEngine({
    definition: {
      ...definition,
      ...(scenario.executionLimitSeconds === undefined ? {} : { TimeoutSeconds: scenario.executionLimitSeconds }),
    },
    substitutions,
    clock,
    // The upper bound of jitter, or as good as; no two alike, since tokens are drawn from it too.
    random: () => 1 - ++drawn * 2 ** -32,
    functions: {
      advance: async (payload) => {
        const generation = called('advance', payload);
        const call = advanced.get(generation) ?? 0;
        advanced.set(generation, call + 1);
        const answer = scenario.advance(call, generation);
        return answer === NEVER ? new Promise(() => {}) : answer;
      },
      park: async (payload) => {
        called('park', payload);
        const call = parked++;
        const answer = scenario.park?.(call);
        const signal = scenario.signal?.(call);
        const { token } = payload as { token: string };
        tokens.push(token);
        const { output, error, stop } = signal ?? {};
        if (stop) due.push(() => engine.stopExecution(`j1-${first}`));
        else if (error !== undefined) due.push(() => engine.sendTaskFailure(token, error, ''));
        else if (output !== undefined) due.push(() => engine.sendTaskSuccess(token, output));
        return answer;
      },
    },
    aroundStart: async (request, go) => {
      const trouble = scenario.starting?.(starts.push({ ...request }) - 1);
      if (trouble === NEVER) return new Promise(() => {});
      if (trouble?.before !== undefined) throw named(`StepFunctions.${trouble.before}Exception`);
      const started = go();
      if (trouble?.after !== undefined) throw named(`StepFunctions.${trouble.after}Exception`);
      return started;
    },
  });

  const next = `j1-${first + 1}`;
  if (scenario.successor !== undefined) {
    engine.startExecution({ name: next, input: inputOf(scenario, first + 1) });
    await clock.settle();
    due.length = 0;
    tokens.length = 0;
  }
  const name = `j1-${first}`;
  engine.startExecution({ name, input: inputOf(scenario, first) });
  for (let turn = 0; engine.describeExecution(name).status === 'RUNNING'; turn++) {
    if (turn > MOST_TURNS) throw new Error(`${scenario.title}: no end in sight`);
    await clock.settle();
    const now = due.splice(0);
    sent.push(...now.map(answerTo));
    await clock.settle();
    if (now.length === 0 && engine.describeExecution(name).status === 'RUNNING') await clock.advanceToNext();
  }
  if (scenario.late) sent.push(...tokens.map((token) => answerTo(() => engine.sendTaskSuccess(token, '{}'))));
  const { status, output, error } = engine.describeExecution(name);
  const history = engine.history(name);
  const successors = engine.listExecutions().filter((one) => one.name === next);
  const trace: Trace = {
    status,
    output,
    error,
    states: history.filter(({ type }) => type.endsWith('StateEntered')).map(({ state }) => state),
    events: history.map(({ type, state, error: why }) => [state, type, why].filter((word) => word).join(' ')),
    ...comparable(calls.get(first) ?? []),
    starts,
    delaysSeconds: delaysOf(history),
    signals: await Promise.all(sent),
    successors: successors.map(({ status: how }) => how),
  };
  engine.close();
  return trace;
};

/** A retry is a task that is scheduled without its state having been entered again. */
const delaysOf = (history: readonly HistoryEvent[]): number[] =>
  history.flatMap((event, at) => {
    const before = history[at - 1];
    if (event.type !== 'TaskScheduled' || before === undefined || before.type.endsWith('StateEntered')) return [];
    return [Math.round((event.atMs - before.atMs) / 1000)];
  });
