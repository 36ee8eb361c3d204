import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import { aCommit, aHead, aJob, aMove, aSummary, aWake, T0 } from '../contract/store/given.ts';

describe('the memory store', () => {
  it('promise 4: holds what JSON holds, and no caller’s object', async () => {
    const store = createMemoryStore();
    const events = [{ type: 'attempt_released' as const, n: 1 }];
    const commit = { ...aCommit('j', 1), events, extra: undefined };
    await store.append(commit);
    events[0]!.n = 2;
    const [read] = await store.read('j');
    expect(read).toStrictEqual(aCommit('j', 1));
    expect(() => Object.assign(read!.events[0]!, { n: 3 })).toThrow(TypeError);
    expect(await store.readAt('j', 1)).toStrictEqual(aCommit('j', 1));
  });

  it('promise 4: an answer is not changed by what happens after it', async () => {
    const store = createMemoryStore();
    const job = await aJob(store);
    const before = await store.readHead(job);
    const log = await store.read(job);
    await store.append(aCommit(job, 1));
    await store.seen(job, 4, 4, T0 + 1);
    await store.moveHead(job, aMove(2));
    expect(before).toMatchObject({ version: 1, supervisor: { generation: 1 } });
    expect(log).toEqual([]);
  });

  it('P2.3: the effect of a call is done when the call returns, before its promise is awaited', async () => {
    const store = createMemoryStore();
    const pending = [store.createHead(aHead('j')), store.moveHead('j', aMove(1)), store.park('j', '', aWake('a', T0))];
    expect(store.dump().jobs.get('j')).toMatchObject({ head: { version: 1 } });
    expect(store.dump().jobs.get('j')?.slots.get('')).toMatchObject({ token: 'a', wake: { state: 'parked' } });
    expect(await Promise.all(pending)).toEqual(['created', 'moved', 'parked']);
  });

  it('P1.6: ten thousand active jobs are listed once each', async () => {
    const store = createMemoryStore();
    const summary = aSummary({ active: 'lumi#ml' });
    const ids = Array.from({ length: 10_000 }, (_, i) => `job${String((i * 7919) % 10_000).padStart(5, '0')}`);
    for (const id of ids) await store.createHead(aHead(id, { summary }));
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.listActive('lumi', 'ml', cursor);
      listed.push(...page.items.map(({ job }) => job));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(listed).toEqual([...ids].sort());
  });
});
