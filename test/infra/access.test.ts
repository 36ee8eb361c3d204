/**
 * What each function may do with the table is what its code can reach, no more and no less: the calls of each of the store's methods are
 * recorded while the store's own contract runs, and the methods that a function can reach are read from its bundle.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../infra/bundle.ts';
import { COLLECTS, LISTS_BUCKETS, STARTS, TABLE_ACCESS } from '../../infra/grants.ts';
import { INDEX_NAMES } from '../../infra/record-table.ts';
import { CONNECTING, type DoorName, type WorkerName } from '../../lib/aws/doors.ts';
import { type Variable, variablesOf } from '../../lib/aws/environment.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { storeContract } from '../contract/store/suite.ts';
import { openLocalTable } from '../contract/store/table.ts';

type Access = { readonly actions: Set<string>; readonly indexes: Set<string> };

/** By method of the store, what it asks of the table. */
const recorded = new Map<string, Access>();
const running = new AsyncLocalStorage<string>();

const note = (action: string, index: unknown): void => {
  const method = running.getStore() ?? 'nobody';
  const access = recorded.get(method) ?? { actions: new Set(), indexes: new Set() };
  recorded.set(method, access);
  // A query of an index needs no leave for the table itself.
  if (typeof index === 'string') access.indexes.add(index);
  else access.actions.add(action);
};

storeContract('recorded', async ({ pageItems }) => {
  const { client, table, close } = await openLocalTable();
  client.middlewareStack.add(
    (next, context) => (given) => {
      note(String(context.commandName).replace(/Command$/, ''), (given.input as { IndexName?: string }).IndexName);
      return next(given);
    },
    { step: 'initialize' },
  );
  const store = createDynamoStore({ client, table, pageItems, logPageItems: 5 });
  const named = Object.entries(store).map(([name, method]) => [
    name,
    (...given: unknown[]) => running.run(name, () => (method as (...given: unknown[]) => unknown)(...given)),
  ]);
  return { store: Object.fromEntries(named) as RecordStore, close };
});

/** A door's share of the use cases: the table of routes is one, and every bundle of a door holds all of it. */
const USE_CASES: Readonly<Record<Exclude<DoorName, 'document'>, Readonly<Record<string, readonly string[]>>>> = {
  submit: { 'accept-job': ['acceptJob'], 'observe-job': ['observeJob'], 'read-job': ['readJob', 'readStatus'] },
  plan: { 'plan-job': ['planJob'] },
  publish: { 'publish-checkpoint': ['publishCheckpoint'] },
  jobs: {
    'list-jobs': ['listJobs'],
    'read-job': ['readJob', 'readStatus'],
    'command-job': ['cancelJob', 'answerQuestion'],
    'watch-events': ['watchEvents'],
    'list-escalations': ['listEscalations'],
    'read-token': ['readToken'],
  },
  output: {
    'read-job': ['readJob'],
    'read-output': ['readOutput'],
    'list-checkpoints': ['listCheckpoints'],
    'collect-checkpoints': ['collectCheckpoints'],
  },
  clusters: { 'read-cluster': ['readCluster', 'readClusterEvents'], 'cluster/answer': ['answerClusterQuestion'] },
};
const OF_WORKERS: Readonly<Record<WorkerName, Readonly<Record<string, readonly string[]>>>> = {
  advance: { advance: ['advance'], 'cluster/preflight': ['recordedProbe'] },
  park: { park: ['park'] },
  poll: { poll: ['poll'] },
  reconcile: { reconcile: ['reconcile'] },
  preflight: { 'cluster/preflight': ['preflight'] },
};
/** `plan` and `submit` reach the probe through a port. */
const PROBES = { 'cluster/preflight': ['recordedProbe'] };

const reachedBy = (uses: Readonly<Record<string, readonly string[]>>): string => {
  const entry = Object.entries(uses).map(([file, names]) => `export { ${names.join(', ')} } from './lib/app/${file}.ts';`);
  const { outputFiles } = buildSync({
    stdin: { contents: entry.join('\n'), resolveDir: ROOT, loader: 'ts' },
    ...{ bundle: true, format: 'esm', platform: 'node', packages: 'external', write: false, minifySyntax: true, logLevel: 'silent' },
  });
  return outputFiles[0]?.text ?? '';
};

const methodsIn = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/\bstore\d*\.(\w+)\(/g)].map(([, method]) => method!))].sort();

const accessOf = (methods: readonly string[]): { readonly actions: readonly string[]; readonly indexes: readonly string[] } => {
  const all = methods.map((method) => {
    const access = recorded.get(method);
    if (!access) throw new Error(`the contract of the store never called ${method}`);
    return access;
  });
  return {
    actions: [...new Set(all.flatMap(({ actions }) => [...actions]))].sort(),
    indexes: [...new Set(all.flatMap(({ indexes }) => [...indexes]))].sort(),
  };
};

const uses = { ...USE_CASES, ...OF_WORKERS };
const names = Object.keys(uses) as (keyof typeof uses)[];
const reached = Object.fromEntries(
  names.map((name) => [name, reachedBy({ ...uses[name], ...(name === 'plan' || name === 'submit' ? PROBES : {}) })]),
) as Record<keyof typeof uses, string>;

describe('least privilege on the table', () => {
  for (const name of names)
    it(`${name} may do what its code can reach, and nothing else`, () => {
      const { actions, indexes } = TABLE_ACCESS[name];
      expect({ actions: [...actions].sort(), indexes: [...indexes].sort() }).toEqual(accessOf(methodsIn(reached[name])));
    });

  it('every index is somebody’s list, and every list is an index of the table', () => {
    const listed = new Set(Object.values(TABLE_ACCESS).flatMap(({ indexes }) => indexes));
    expect([...listed].sort()).toEqual([...INDEX_NAMES].sort());
  });
});

describe('least privilege on everything else', () => {
  const who = (reaches: RegExp): readonly string[] => names.filter((name) => reaches.test(reached[name])).sort();
  const told = (variable: Variable): readonly string[] => names.filter((name) => variablesOf(name).required.includes(variable)).sort();

  it('who can start an execution is who may', () => {
    expect(who(/\bsupervisors\.start\(/)).toEqual([...STARTS].sort());
  });
  it('who can signal a supervisor is who knows the machine', () => {
    expect(who(/\bsupervisors\.signal\(/)).toEqual(told('DISPATCH_MACHINE_ARN'));
  });
  it('who can list a bucket, or remove something from it, is who may', () => {
    expect(who(/\bsession\d*\.(listPublications|observe|collect)\(/)).toEqual([...LISTS_BUCKETS].sort());
    expect(who(/\bsession\d*\.collect\(/)).toEqual([...COLLECTS].sort());
  });
  it('who can open a connection is who has the keys of logins', () => {
    expect(who(/\badapter\.connect\(/)).toEqual([...CONNECTING].sort());
  });
});
