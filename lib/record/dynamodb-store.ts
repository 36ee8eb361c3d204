/**
 * The DynamoDB store: the record in one table (keys.ts), by single-item conditional writes and consistent reads alone.
 * No transactions and no locks: what may not happen is what a condition refuses, so it holds on every emulator of the protocol, too.
 *
 * A client made by the deployment should carry `clientLimits`: the SDK's own defaults wait without end for an answer.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoBirth } from './dynamodb/birth.ts';
import { tableCalls } from './dynamodb/call.ts';
import { dynamoHead } from './dynamodb/head.ts';
import { dynamoJobList } from './dynamodb/job-list.ts';
import { dynamoLists } from './dynamodb/lists.ts';
import { dynamoLog } from './dynamodb/log.ts';
import { dynamoNotices } from './dynamodb/notices.ts';
import { dynamoPlan } from './dynamodb/plan.ts';
import { dynamoSlots } from './dynamodb/slots.ts';
import { dynamoWake } from './dynamodb/wake.ts';
import { LIST_LIMIT } from './head.ts';
import type { RecordStore } from './port.ts';

/**
 * Recommended to `new DynamoDBClient(…)`. An answer takes milliseconds; after 3 s it is lost, and asking again is safe since every write is
 * conditional (P1.2). Without `throwOnRequestTimeout` the SDK only logs that the time is over. Four attempts bridge a burst of throttling.
 */
export const clientLimits = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
} as const;

/** One call with all its retries: four attempts of at most 4 s, and the pauses between them. */
const CALL_MS = 20_000;

export interface DynamoStoreOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  /** Rows of a list's page. */
  readonly pageItems?: number;
  /** Commits asked for at once while a log is read; by default as many as fit into an answer. */
  readonly logPageItems?: number;
  readonly callMs?: number;
}

export const createDynamoStore = ({
  client,
  table,
  pageItems = LIST_LIMIT,
  logPageItems,
  callMs = CALL_MS,
}: DynamoStoreOptions): RecordStore => {
  const calls = tableCalls(client, table, callMs);
  return {
    ...dynamoLog(calls, logPageItems),
    ...dynamoBirth(calls),
    ...dynamoHead(calls),
    ...dynamoWake(calls),
    ...dynamoLists(calls, pageItems),
    ...dynamoJobList(calls),
    ...dynamoPlan(calls),
    ...dynamoNotices(calls),
    ...dynamoSlots(calls),
  };
};
