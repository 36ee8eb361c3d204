import { SendTaskSuccessCommand, TaskTimedOut } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { executionInput, sfnClient, stepFunctionsSupervisors } from '../../../lib/aws/supervisors.ts';
import { directive, HOUR, type World as MachineWorld, world as machineWorld, named } from '../../machine/world.ts';
import { clientOf, listening } from './world.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The production adapter, led here by the environment alone. */
async function supervised(w: MachineWorld) {
  const endpoint = await listening(w.engine);
  vi.stubEnv('AWS_ENDPOINT_URL_SFN', endpoint.url);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'nobody');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'nothing');
  const alarms: string[] = [];
  const client = sfnClient();
  const supervisors = stepFunctionsSupervisors({
    client,
    machineArn: w.engine.machineArn,
    onInvalidToken: (message) => alarms.push(message),
  });
  return { endpoint, client, supervisors, alarms };
}

const waiting = (): MachineWorld => machineWorld({ advance: (call) => directive(call === 0 ? 'await' : 'done') });

describe('the supervisors of production over the endpoint', () => {
  test('a start is a start, a repeated one is the same one, and one after its end finds the name taken', async () => {
    const w = waiting();
    const { supervisors } = await supervised(w);
    expect(await supervisors.start('j1', 1)).toBe('started');
    expect(await supervisors.start('j1', 1)).toBe('started');
    await w.clock.settle();
    expect(w.advanced).toHaveLength(1);
    expect(w.engine.describeExecution('j1-1').input).toBe(executionInput('j1', 1));
    w.engine.stopExecution('j1-1');
    expect(await supervisors.start('j1', 1)).toBe('exists');
    expect(await supervisors.start('j1', 2)).toBe('started');
  });

  test('P2.4 the first signal wakes, a second one is superseded, and so is one after the time limit', async () => {
    const w = machineWorld({ advance: (call) => directive(call < 2 ? 'await' : 'done') });
    const { supervisors, alarms } = await supervised(w);
    await supervisors.start('j1', 1);
    await w.clock.settle();
    expect(await supervisors.signal(w.parked[0]!.token)).toBe('signalled');
    expect(await supervisors.signal(w.parked[0]!.token)).toBe('superseded');
    await w.clock.settle();
    await w.clock.advance(HOUR);
    expect(await supervisors.signal(w.parked[1]!.token)).toBe('superseded');
    expect(w.ended).toMatchObject([{ status: 'SUCCEEDED' }]);
    expect(alarms).toEqual([]);
  });

  test('a token that is none raises the alarm, without the token, and is forgotten', async () => {
    const { supervisors, alarms } = await supervised(waiting());
    expect(await supervisors.signal('nonsense')).toBe('superseded');
    expect(alarms).toEqual(['InvalidToken']);
  });

  test('P2.4 while nobody listens the wake stays owed', async () => {
    const { supervisors, endpoint } = await supervised(waiting());
    await endpoint.close();
    await expect(supervisors.signal('nonsense')).rejects.toMatchObject({ code: 'supervisors/unavailable', retryable: true });
    await expect(supervisors.start('j1', 1)).rejects.toMatchObject({ code: 'supervisors/unavailable' });
  });

  test('a machine that is not this one is no start', async () => {
    const w = waiting();
    const { client } = await supervised(w);
    const other = stepFunctionsSupervisors({ client, machineArn: `${w.engine.machineArn}2`, onInvalidToken: () => {} });
    await expect(other.start('j1', 1)).rejects.toMatchObject({ message: 'StartExecution: StateMachineDoesNotExist' });
  });
});

describe("whole lives of the supervisor's machine, every signal by the SDK", () => {
  test('P2.5 a person answers a question by its token; a second and a late answer are turned away', async () => {
    const w = machineWorld({
      advance: (call) => (call === 0 ? directive('answer', { question: 'q1' }) : directive(call === 1 ? 'await' : 'done')),
    });
    const { supervisors, endpoint } = await supervised(w);
    const person = clientOf(endpoint.url);
    const answer = (output: string): Promise<unknown> => person.send(new SendTaskSuccessCommand({ taskToken: w.parked[0]!.token, output }));
    await supervisors.start('j1', 1);
    await w.clock.settle();
    expect(w.parked).toMatchObject([{ question: 'q1' }]);
    await w.clock.advance(HOUR / 2);

    await answer('{"option":"retry","note":"ü"}');
    await expect(answer('{"option":"stop"}')).rejects.toBeInstanceOf(TaskTimedOut);
    await w.clock.settle();
    expect(w.advanced[1]).toMatchObject({ loops: 1, answer: { question: 'q1', value: { option: 'retry', note: 'ü' } } });

    expect(await supervisors.signal(w.parked[1]!.token)).toBe('signalled');
    await w.clock.settle();
    await expect(answer('{"option":"stop"}')).rejects.toBeInstanceOf(TaskTimedOut);
    expect(w.advanced.map(({ answer: given }) => given)).toEqual([{}, { question: 'q1', value: { option: 'retry', note: 'ü' } }, {}]);
    expect(w.ended).toMatchObject([{ name: 'j1-1', status: 'SUCCEEDED' }]);
    expect(w.clock.pending()).toBe(0);
  });

  test('an answer that comes after the question expired is turned away, and Advance decided without it', async () => {
    const w = machineWorld({
      advance: (call) => (call === 0 ? directive('answer', { question: 'q1', seconds: 60 }) : directive('done')),
    });
    const { supervisors, client } = await supervised(w);
    await supervisors.start('j1', 1);
    await w.clock.settle();
    await w.clock.advance(60_000);
    const late = client.send(new SendTaskSuccessCommand({ taskToken: w.parked[0]!.token, output: '{}' }));
    await expect(late).rejects.toBeInstanceOf(TaskTimedOut);
    expect(w.advanced[1]).toMatchObject({ answer: {} });
    expect(w.ended).toMatchObject([{ status: 'SUCCEEDED' }]);
  });

  test('P2.2 a stale decision decides again, and a wake of the second wait ends it', async () => {
    const w = machineWorld({
      advance: (call) => directive(call < 2 ? 'await' : 'done'),
      park: (call) => {
        if (call === 0) throw named('StaleDecision');
      },
    });
    const { supervisors } = await supervised(w);
    await supervisors.start('j1', 1);
    await w.clock.settle();
    expect(w.parked).toHaveLength(2);
    expect(await supervisors.signal(w.parked[0]!.token)).toBe('superseded');
    expect(await supervisors.signal(w.parked[1]!.token)).toBe('signalled');
    await w.clock.settle();
    expect(w.ended).toMatchObject([{ status: 'SUCCEEDED' }]);
  });
});
