/**
 * The bus on EventBridge (contract §11): domain events in batches that PutEvents takes.
 * Guards protocols §2.7: `put` returns only when every event is kept, so `notified` never moves over one that is not; anything less is a
 * BusFailure, and all of it is put again. The id inside tells a repetition.
 */
import { EventBridgeClient, type EventBridgeClientConfig, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { type Bus, BusFailure, type Ports } from '../app/ports.ts';
import { EVENT_SOURCE } from './invocations.ts';

/** What one request takes: entries, and bytes of all of them. */
const MOST_ENTRIES = 10;
const MOST_BYTES = 256 * 1024;
/** What the service counts for an entry's time. */
const TIME_BYTES = 14;

/** Of one entry: no repetition could change it, so it would hold up everything behind it for ever. */
const HOPELESS = new Set(['MalformedDetail', 'InvalidArgument', 'InvalidParameterException', 'ValidationException']);

export interface BusEvent {
  readonly type: string;
  /** RFC 3339. */
  readonly at: string;
  readonly detail: unknown;
}

export interface EventBridge {
  readonly client: EventBridgeClient;
  readonly bus: string;
  readonly log: Ports['log'];
  readonly onFailed?: () => void;
}

export const eventBridgeBus = (to: EventBridge): Bus => ({
  put: (notices) =>
    putEvents(
      to,
      notices.map((notice) => ({ type: notice.type, at: notice.at, detail: notice })),
    ),
});

/** In order, batch after batch. Throws BusFailure when it is not known that all of them are kept. */
export const putEvents = async (to: EventBridge, events: readonly BusEvent[]): Promise<void> => {
  for (const batch of batches(events.map((event) => entryOf(to.bus, event)).filter((entry) => fits(to, entry)))) await putBatch(to, batch);
};

const putBatch = async (to: EventBridge, batch: readonly PutEventsRequestEntry[]): Promise<void> => {
  const answer = await to.client.send(new PutEventsCommand({ Entries: [...batch] })).catch((error: unknown) => {
    to.onFailed?.();
    throw new BusFailure(`PutEvents: ${error instanceof Error ? error.name : 'unknown'}`, { cause: error });
  });
  const results = answer.Entries ?? [];
  if ((answer.FailedEntryCount ?? 0) === 0 && results.length === batch.length) return;
  const failed = batch.flatMap((entry, i) =>
    results[i]?.EventId === undefined ? [{ entry, code: results[i]?.ErrorCode ?? 'no answer' }] : [],
  );
  for (const { entry, code } of failed.filter((one) => HOPELESS.has(one.code)))
    to.log('error', 'the bus cannot take an event: the record alone tells of it', { type: entry.DetailType, id: idOf(entry), code });
  const again = failed.find((one) => !HOPELESS.has(one.code));
  if (!again) return;
  to.onFailed?.();
  throw new BusFailure(`PutEvents: ${again.code} for ${failed.length} of ${batch.length}`);
};

const entryOf = (bus: string, { type, at, detail }: BusEvent): PutEventsRequestEntry => ({
  EventBusName: bus,
  Source: EVENT_SOURCE,
  DetailType: type,
  Time: new Date(at),
  Detail: JSON.stringify(detail),
});

/** As the service counts it. */
const bytesOf = (entry: PutEventsRequestEntry): number =>
  TIME_BYTES + [entry.Source, entry.DetailType, entry.Detail].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);

const fits = (to: EventBridge, entry: PutEventsRequestEntry): boolean => {
  if (bytesOf(entry) <= MOST_BYTES) return true;
  to.log('error', 'the bus cannot take an event: the record alone tells of it', {
    type: entry.DetailType,
    id: idOf(entry),
    code: 'too large',
  });
  return false;
};

const idOf = (entry: PutEventsRequestEntry): unknown => (JSON.parse(entry.Detail ?? '{}') as { id?: unknown }).id;

/** Greedy, in order. */
export const batches = (entries: readonly PutEventsRequestEntry[]): readonly (readonly PutEventsRequestEntry[])[] => {
  const made: PutEventsRequestEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const last = made.at(-1);
    const more = bytesOf(entry);
    if (last && last.length < MOST_ENTRIES && bytes + more <= MOST_BYTES) {
      last.push(entry);
      bytes += more;
    } else {
      made.push([entry]);
      bytes = more;
    }
  }
  return made;
};

/** Two tries of at most 3 s: a door has seconds in all, and what is not put now is put by the next sweep. */
export const eventBridgeClient = (identity: Pick<EventBridgeClientConfig, 'endpoint' | 'region' | 'credentials'> = {}): EventBridgeClient =>
  new EventBridgeClient({
    ...identity,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
