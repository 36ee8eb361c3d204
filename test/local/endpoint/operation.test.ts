import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  paginateGetExecutionHistory,
  paginateListExecutions,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { wait } from '../engine/world.ts';
import { world } from './world.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The SDK adds what it knows of the exchange. */
const only = <T extends object>(answer: T): Omit<T, '$metadata'> => {
  const { $metadata: _, ...rest } = answer as T & { $metadata: unknown };
  return rest;
};

describe('the way in', () => {
  test('AWS_ENDPOINT_URL_SFN alone leads an unmodified client here', async () => {
    const w = await world();
    vi.stubEnv('AWS_ENDPOINT_URL_SFN', w.endpoint.url);
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'nobody');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'nothing');
    const client = new SFNClient({});
    const started = await client.send(new StartExecutionCommand({ stateMachineArn: w.machineArn, name: 'e' }));
    expect(started.executionArn).toBe(w.engine.executionArn('e'));
    client.destroy();
  });
});

describe('executions', () => {
  test('one is started, described while it runs, and described when it has ended', async () => {
    const w = await world();
    await w.clock.advance(1234);
    const start = new StartExecutionCommand({ stateMachineArn: w.machineArn, name: 'e', input: '{"a": "ü"}' });
    const started = await w.client.send(start);
    expect(only(started)).toEqual({ executionArn: w.engine.executionArn('e'), startDate: new Date(1234) });
    expect(started.$metadata).toMatchObject({ httpStatusCode: 200, requestId: 'local-1', attempts: 1 });

    const describeIt = new DescribeExecutionCommand({ executionArn: started.executionArn });
    const running = {
      executionArn: started.executionArn,
      stateMachineArn: w.machineArn,
      name: 'e',
      status: 'RUNNING',
      startDate: new Date(1234),
      input: '{"a": "ü"}',
      inputDetails: { included: true },
      redriveCount: 0,
      redriveStatus: 'NOT_REDRIVABLE',
      redriveStatusReason: expect.any(String),
    };
    expect(only(await w.client.send(describeIt))).toEqual(running);

    await w.clock.settle();
    await w.clock.advance(500);
    await w.client.send(new SendTaskSuccessCommand({ taskToken: w.token(), output: '{"b":1}' }));
    await w.clock.settle();
    expect(only(await w.client.send(describeIt))).toEqual({
      ...running,
      status: 'SUCCEEDED',
      stopDate: new Date(1734),
      output: '{"b":1}',
      outputDetails: { included: true },
    });
  });

  test('without data, a description has neither input nor output', async () => {
    const w = await world({ A: { Type: 'Succeed' } });
    const { executionArn } = await w.client.send(new StartExecutionCommand({ stateMachineArn: w.machineArn }));
    await w.clock.settle();
    const described = await w.client.send(new DescribeExecutionCommand({ executionArn, includedData: 'METADATA_ONLY' }));
    expect(described).toMatchObject({ status: 'SUCCEEDED', executionArn });
    for (const member of ['input', 'output', 'inputDetails', 'outputDetails']) expect(described).not.toHaveProperty(member);
  });

  test('name and input may be left out: a drawn name, {}', async () => {
    const w = await world();
    const { executionArn } = await w.client.send(new StartExecutionCommand({ stateMachineArn: w.machineArn }));
    const described = await w.client.send(new DescribeExecutionCommand({ executionArn }));
    expect(described.input).toBe('{}');
    expect(described.name).toMatch(/^[0-9a-f]{16}$/);
  });

  test('a start is idempotent by name and input while the execution runs', async () => {
    const w = await world();
    const start = new StartExecutionCommand({ stateMachineArn: w.machineArn, name: 'e', input: '{"a":1}' });
    const first = await w.client.send(start);
    await w.clock.advance(1000);
    expect(only(await w.client.send(start))).toEqual(only(first));
    expect(w.calls).toHaveLength(1);
  });

  test('one is stopped with error and cause; stopping again changes nothing', async () => {
    const w = await world();
    const executionArn = w.engine.executionArn(await w.start());
    await w.clock.advance(2500);
    const stop = new StopExecutionCommand({ executionArn, error: 'E', cause: 'because' });
    expect(only(await w.client.send(stop))).toEqual({ stopDate: new Date(2500) });
    await w.clock.advance(1000);
    expect(only(await w.client.send(stop))).toEqual({ stopDate: new Date(2500) });
    const ended = await w.client.send(new DescribeExecutionCommand({ executionArn }));
    expect(ended).toMatchObject({ status: 'ABORTED', error: 'E', cause: 'because', stopDate: new Date(2500) });
  });
});

describe('tokens', () => {
  test('a failure ends the wait with its error and cause', async () => {
    const w = await world();
    await w.start();
    await w.client.send(new SendTaskFailureCommand({ taskToken: w.token(), error: 'Broken', cause: 'a reason' }));
    await w.clock.settle();
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'Broken', cause: 'a reason' });
  });

  test('a heartbeat keeps a wait open that silence would end', async () => {
    const w = await world({ A: wait({ HeartbeatSeconds: 60 }) });
    await w.start();
    await w.clock.advance(50_000);
    expect(only(await w.client.send(new SendTaskHeartbeatCommand({ taskToken: w.token() })))).toEqual({});
    await w.clock.advance(50_000);
    expect(w.ended).toEqual([]);
    await w.clock.advance(10_000);
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
  });
});

describe('lists', () => {
  test('executions come newest first, by status, in pages', async () => {
    const w = await world();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await w.start({}, name);
      await w.clock.advance(1000);
    }
    w.engine.stopExecution('d');
    const pages: (string | undefined)[][] = [];
    for await (const page of paginateListExecutions({ client: w.client, pageSize: 2 }, { stateMachineArn: w.machineArn }))
      pages.push(page.executions!.map(({ name }) => name));
    expect(pages).toEqual([['e', 'd'], ['c', 'b'], ['a']]);

    const stopped = await w.client.send(new ListExecutionsCommand({ stateMachineArn: w.machineArn, statusFilter: 'ABORTED' }));
    expect(only(stopped)).toEqual({
      executions: [
        {
          executionArn: w.engine.executionArn('d'),
          stateMachineArn: w.machineArn,
          name: 'd',
          status: 'ABORTED',
          startDate: new Date(3000),
          stopDate: new Date(5000),
          redriveCount: 0,
        },
      ],
    });
  });

  test('a page has 100 entries unless told otherwise; 0 tells nothing', async () => {
    const w = await world();
    for (let i = 0; i < 101; i++) w.engine.startExecution({ name: `e${i}`, input: '{}' });
    for (const more of [{}, { maxResults: 0 }]) {
      const page = await w.client.send(new ListExecutionsCommand({ stateMachineArn: w.machineArn, ...more }));
      expect(page.executions).toHaveLength(100);
      expect(page.nextToken).toBeDefined();
    }
    const all = await w.client.send(new ListExecutionsCommand({ stateMachineArn: w.machineArn, maxResults: 1000 }));
    expect(all.executions).toHaveLength(101);
    expect(all.nextToken).toBeUndefined();
  });

  test('the history of an execution comes in order, in pages, or backwards', async () => {
    const w = await world();
    const executionArn = w.engine.executionArn(await w.start());
    await w.clock.advance(1500);
    w.engine.sendTaskFailure(w.token(), 'Broken');
    await w.clock.settle();
    const { events } = await w.client.send(new GetExecutionHistoryCommand({ executionArn }));
    expect(events).toEqual([
      { id: 1, previousEventId: 0, timestamp: new Date(0), type: 'ExecutionStarted' },
      { id: 2, previousEventId: 1, timestamp: new Date(0), type: 'TaskStateEntered', stateEnteredEventDetails: { name: 'A' } },
      { id: 3, previousEventId: 2, timestamp: new Date(0), type: 'TaskScheduled' },
      { id: 4, previousEventId: 3, timestamp: new Date(0), type: 'TaskStarted' },
      { id: 5, previousEventId: 4, timestamp: new Date(0), type: 'TaskSubmitted' },
      { id: 6, previousEventId: 5, timestamp: new Date(1500), type: 'TaskFailed', taskFailedEventDetails: { error: 'Broken' } },
      { id: 7, previousEventId: 6, timestamp: new Date(1500), type: 'ExecutionFailed', executionFailedEventDetails: { error: 'Broken' } },
    ]);

    const ids: (number | undefined)[][] = [];
    const backwards = { executionArn, reverseOrder: true, includeExecutionData: false };
    for await (const page of paginateGetExecutionHistory({ client: w.client, pageSize: 3 }, backwards))
      ids.push(page.events!.map(({ id }) => id));
    expect(ids).toEqual([[7, 6, 5], [4, 3, 2], [1]]);
  });
});
