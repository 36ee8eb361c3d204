import { describe, expect, it } from 'vitest';
import {
  blobKey,
  clusterCommitKey,
  commitKey,
  commitSk,
  connectionSlotKey,
  connectionsKey,
  headKey,
  idempotencyKey,
  LAST_COMMIT_SK,
  labelKey,
  leaseKey,
  owedBefore,
  owedValue,
  planKey,
  slotKey,
  slotOfSk,
  tableDefinition,
  watchKey,
} from '../../lib/record/keys.ts';
import { LOG_COMMITS } from '../../lib/record/port.ts';

describe('keys', () => {
  it('P1.1: everything has its place, and the layout never changes', () => {
    expect([
      commitKey('j', 12),
      headKey('j'),
      slotKey('j', ''),
      slotKey('j', 'q1'),
      watchKey('j'),
      blobKey('j', 'ab'),
      idempotencyKey('ada', 'k'),
      leaseKey('lumi', 'ml'),
      planKey('ab'),
      labelKey('team', 'v=w', 'j'),
      labelKey('te=am', 'v', 'j'),
      clusterCommitKey('lumi', 12),
      connectionSlotKey('lumi', 'ml', '0'),
      connectionsKey('lumi', 'ml', 1_790_000_000_000),
    ]).toEqual([
      { pk: 'JOB#j', sk: 'E#0000000012' },
      { pk: 'JOB#j', sk: 'HEAD' },
      { pk: 'JOB#j', sk: 'HEAD' },
      { pk: 'JOB#j', sk: 'Q#q1' },
      { pk: 'JOB#j', sk: 'WATCH' },
      { pk: 'JOB#j', sk: 'BLOB#ab' },
      { pk: 'KEY#ada#k', sk: 'KEY' },
      { pk: 'CLUSTER#lumi', sk: 'LEASE#ml' },
      { pk: 'PLAN#ab', sk: 'PLAN' },
      { pk: 'LABEL#team=v=w', sk: 'j' },
      { pk: 'LABEL#te%3Dam=v', sk: 'j' },
      { pk: 'CLUSTER#lumi', sk: 'E#0000000012' },
      { pk: 'CLUSTER#lumi', sk: 'SLOT#ml#0' },
      { pk: 'CLUSTER#lumi', sk: 'CONNECTIONS#ml#00497222' },
    ]);
    expect([slotOfSk('HEAD'), slotOfSk('Q#q1')]).toEqual(['', 'q1']);
  });

  it('P1.1: versions sort as numbers do, up to the end of the log', () => {
    const inOrder = [1, 2, 9, 10, 99, 100, LOG_COMMITS].map(commitSk);
    expect([...inOrder].sort()).toEqual(inOrder);
    expect(inOrder.at(-1)! < LAST_COMMIT_SK).toBe(true);
  });

  it('P2.4: owed tokens sort by age, and "before" is exact', () => {
    const old = owedValue(999, 'z', 'q');
    const young = owedValue(1_790_000_000_000, 'a', '');
    expect(old < young).toBe(true);
    expect(old < owedBefore(999)).toBe(false);
    expect(old < owedBefore(1000)).toBe(true);
  });

  it('P2.6: no index carries a token', () => {
    const carried = tableDefinition('t').GlobalSecondaryIndexes.map(({ IndexName, Projection }) => [IndexName, Projection]);
    expect(Object.fromEntries(carried)).toEqual({
      active: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['v', 'w'] },
      state: { ProjectionType: 'KEYS_ONLY' },
      unended: { ProjectionType: 'KEYS_ONLY' },
      owed: { ProjectionType: 'KEYS_ONLY' },
      listed: { ProjectionType: 'KEYS_ONLY' },
      project: { ProjectionType: 'KEYS_ONLY' },
      cluster: { ProjectionType: 'KEYS_ONLY' },
      asked: { ProjectionType: 'KEYS_ONLY' },
      unendedIn: { ProjectionType: 'KEYS_ONLY' },
      unsent: { ProjectionType: 'KEYS_ONLY' },
    });
  });
});
