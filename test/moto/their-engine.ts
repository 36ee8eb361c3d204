/**
 * Scenarios on moto: its server in a process of its own (server.py), asked by the unmodified client. The machine file is
 * created there as it is, but for the two names that a deployment substitutes as well.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  ListExecutionsCommand,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { definition } from '../machine/world.ts';
import { answerTo, comparable, generationOf, inputOf, type Scenario, type Trace } from './scenario.ts';
import { begun, type World } from './their-world.ts';

/** The longest, seven starts that hang, takes 20 s on a quiet machine. */
const SCENARIO_MS = 150_000;
const LOOK_EVERY_MS = 50;
const MOST_TRIES = 20;
const ROLE = 'arn:aws:iam::123456789012:role/supervisor';

export const clientOf = (port: number): SFNClient => {
  const client = new SFNClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'ak', secretAccessKey: 'sk' },
    maxAttempts: 1,
  });
  client.middlewareStack.add((next) => (request) => patiently(() => next(request)), { step: 'initialize', name: 'patiently' });
  return client;
};

/** Throws when the scenario has not ended in time. */
export const runTheirs = async (client: SFNClient, world: World, scenario: Scenario, number: number): Promise<Trace> => {
  const machine = `${scenario.hasty ? 'hasty' : 'calm'}${number}`;
  const play = begun(scenario);
  world.plays.set(machine, play);
  const limit = scenario.executionLimitSeconds;
  const text = JSON.stringify({ ...definition, ...(limit === undefined ? {} : { TimeoutSeconds: limit }) }).replaceAll(
    /\$\{(\w+)FunctionArn\}/g,
    (_whole, name: string) => `${name.toLowerCase()}-${machine}`,
  );
  const { stateMachineArn } = await client.send(new CreateStateMachineCommand({ name: machine, definition: text, roleArn: ROLE }));
  const first = generationOf(scenario);
  const begin = async (generation: number): Promise<string> => {
    const request = { stateMachineArn, name: `j1-${generation}`, input: inputOf(scenario, generation) };
    return (await client.send(new StartExecutionCommand(request))).executionArn!;
  };
  if (scenario.successor !== undefined) {
    const executionArn = await begin(first + 1);
    const there = async () => (await client.send(new DescribeExecutionCommand({ executionArn }))).status !== 'RUNNING';
    await until(scenario, scenario.successor === 'ended' ? there : async () => play.parked > 0);
    play.parked = 0;
    play.tokens.length = 0;
  }
  const sending: Promise<string>[] = [];
  const send = async (command: () => Promise<unknown>): Promise<void> => {
    sending.push(answerTo(command));
    await sending.at(-1);
  };
  const success = (taskToken: string, output: string) => () => client.send(new SendTaskSuccessCommand({ taskToken, output }));
  play.signal = async (taskToken, call) => {
    const { output, error, stop } = scenario.signal?.(call) ?? {};
    if (stop) await send(() => client.send(new StopExecutionCommand({ executionArn })));
    else if (error !== undefined) await send(() => client.send(new SendTaskFailureCommand({ taskToken, error, cause: '' })));
    else if (output !== undefined) await send(success(taskToken, output));
  };
  const executionArn = await begin(first);
  const described = () => client.send(new DescribeExecutionCommand({ executionArn }));
  await until(scenario, async () => (await described()).status !== 'RUNNING');
  if (scenario.late) for (const token of play.tokens) await send(success(token, '{}'));
  const { status, output, error } = await described();
  const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1000 }));
  const { executions = [] } = await client.send(new ListExecutionsCommand({ stateMachineArn }));
  return {
    status: String(status),
    output: output === undefined ? undefined : JSON.stringify(JSON.parse(output)),
    error,
    ...told(events),
    ...comparable(play.calls.get(first) ?? []),
    starts: play.starts,
    delaysSeconds: play.delaysSeconds.get(`j1-${first}`) ?? [],
    signals: await Promise.all(sending),
    successors: executions.filter(({ name }) => name === `j1-${first + 1}`).map((one) => String(one.status)),
  };
};

/** moto breaks a request that comes while another execution is just being started: its answer is then a page and no JSON. */
const patiently = async <Answer>(command: () => Promise<Answer>): Promise<Answer> => {
  for (let tries = 1; ; tries++) {
    try {
      return await command();
    } catch (error) {
      if (!(error instanceof SyntaxError) || tries === MOST_TRIES) throw error;
      await sleep(LOOK_EVERY_MS);
    }
  }
};

const until = async (scenario: Scenario, reached: () => Promise<boolean>): Promise<void> => {
  const endMs = performance.now() + SCENARIO_MS;
  while (!(await reached())) {
    if (performance.now() > endMs) throw new Error(`${scenario.title}: not there after ${SCENARIO_MS / 1000} s`);
    await sleep(LOOK_EVERY_MS);
  }
};

/** An event between a state's entry and its exit does not say which state it belongs to. */
const told = (history: readonly HistoryEvent[]): Pick<Trace, 'states' | 'events'> => {
  const states: string[] = [];
  let state = '';
  const events = history.map((event) => {
    if (event.stateEnteredEventDetails?.name !== undefined) {
      state = event.stateEnteredEventDetails.name;
      states.push(state);
    }
    const ofExecution = String(event.type).startsWith('Execution');
    const error =
      event.taskFailedEventDetails?.error ??
      event.taskTimedOutEventDetails?.error ??
      event.evaluationFailedEventDetails?.error ??
      event.executionFailedEventDetails?.error;
    return [ofExecution ? '' : state, event.type, error].filter((word) => word).join(' ');
  });
  return { states, events };
};
