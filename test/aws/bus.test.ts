/** What PutEvents takes and answers, and what the bus makes of it (P2.7): all of it is kept, or it is put again. */
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Notice } from '../../lib/app/notices.ts';
import { BusFailure } from '../../lib/app/ports.ts';
import { batches, eventBridgeBus } from '../../lib/aws/bus.ts';

const service = mockClient(EventBridgeClient);
const lines: Record<string, unknown>[] = [];
let failed = 0;
const bus = eventBridgeBus({
  client: new EventBridgeClient({ region: 'eu-north-1' }),
  bus: 'dispatch-aaaa',
  log: (level, _, fields) => void lines.push({ level, ...fields }),
  onFailed: () => failed++,
});

const aNotice = (i: number, says = 'x'): Notice => ({
  type: 'dispatch.cluster.unreachable',
  id: `lab:${i}:0`,
  schema: 1,
  at: '2026-11-30T10:00:00.000Z',
  ...{ cluster: 'lab', login: 'ml', says },
});
const some = (count: number, says?: string): Notice[] => Array.from({ length: count }, (_, i) => aNotice(i + 1, says));

/** Keeps every entry, but for those whose number is in `errors`. */
const answering = (errors: Readonly<Record<number, string>> = {}) =>
  service.on(PutEventsCommand).callsFake(async ({ Entries }: { Entries: PutEventsRequestEntry[] }) => ({
    FailedEntryCount: Entries.filter((_, i) => errors[i] !== undefined).length,
    Entries: Entries.map((_, i) => (errors[i] === undefined ? { EventId: `e${i}` } : { ErrorCode: errors[i], ErrorMessage: 'said' })),
  }));
const sent = (): PutEventsRequestEntry[][] =>
  service.commandCalls(PutEventsCommand).map(({ args }) => args[0].input.Entries as PutEventsRequestEntry[]);

beforeEach(() => {
  service.reset();
  lines.length = 0;
  failed = 0;
});

describe('batches', () => {
  test('given 23 events, then three requests in order, of ten entries at most', async () => {
    answering();
    await bus.put(some(23));
    expect(sent().map((entries) => entries.length)).toEqual([10, 10, 3]);
    const ids = sent()
      .flat()
      .map((entry) => (JSON.parse(entry.Detail ?? '') as Notice).id);
    expect(ids).toEqual(some(23).map((notice) => notice.id));
  });

  test('given events of 100 kB, then no request has more than 256 KB', async () => {
    answering();
    await bus.put(some(5, 'y'.repeat(100_000)));
    expect(sent().map((entries) => entries.length)).toEqual([2, 2, 1]);
  });

  test('the size is that of bytes, not of characters', () => {
    const entry = { Source: 'dispatch', DetailType: 't', Detail: 'ä'.repeat(70_000) };
    expect(batches([entry, entry]).map((one) => one.length)).toEqual([1, 1]);
  });

  test('an entry says who sends it, what it is, when it was, and itself, with the id and the schema version', async () => {
    answering();
    await bus.put([aNotice(7)]);
    expect(sent()[0]?.[0]).toEqual({
      EventBusName: 'dispatch-aaaa',
      Source: 'dispatch',
      DetailType: 'dispatch.cluster.unreachable',
      Time: new Date('2026-11-30T10:00:00.000Z'),
      Detail: JSON.stringify(aNotice(7)),
    });
    expect(JSON.parse(sent()[0]?.[0]?.Detail ?? '')).toMatchObject({ id: 'lab:7:0', schema: 1 });
  });
});

describe('P2.7: what is not known to be kept is a BusFailure', () => {
  test.each(['ThrottlingException', 'InternalFailure', 'ServiceUnavailable', 'NotAuthorizedForSourceException'])(
    'given %s for one entry of three',
    async (code) => {
      answering({ 1: code });
      await expect(bus.put(some(3))).rejects.toThrow(BusFailure);
      expect(failed).toBe(1);
    },
  );

  test('given an answer that says too little, then it counts for nothing', async () => {
    service.on(PutEventsCommand).resolves({ FailedEntryCount: 0, Entries: [{ EventId: 'e' }] });
    await expect(bus.put(some(2))).rejects.toThrow(BusFailure);
  });

  test('given a first batch that is kept and a second that is not, then it fails, and nothing more is sent', async () => {
    service
      .on(PutEventsCommand)
      .resolvesOnce({ FailedEntryCount: 0, Entries: Array.from({ length: 10 }, () => ({ EventId: 'e' })) })
      .rejectsOnce(Object.assign(new Error('m'), { name: 'ThrottlingException' }));
    await expect(bus.put(some(25))).rejects.toMatchObject({ code: 'bus/unavailable', message: 'PutEvents: ThrottlingException' });
    expect(sent()).toHaveLength(2);
  });
});

describe('what no repetition could change is said once, and holds nobody up', () => {
  test('given an entry that is malformed for the service', async () => {
    answering({ 0: 'MalformedDetail' });
    await bus.put(some(2));
    expect(lines).toEqual([{ level: 'error', type: 'dispatch.cluster.unreachable', id: 'lab:1:0', code: 'MalformedDetail' }]);
  });

  test('given an event that is larger than a request may be, then the others are sent', async () => {
    answering();
    await bus.put([aNotice(1), aNotice(2, 'z'.repeat(256 * 1024)), aNotice(3)]);
    expect(sent().map((entries) => entries.length)).toEqual([2]);
    expect(lines).toEqual([{ level: 'error', type: 'dispatch.cluster.unreachable', id: 'lab:2:0', code: 'too large' }]);
  });
});
