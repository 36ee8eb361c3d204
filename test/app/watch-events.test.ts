/** A page of a record is bounded in commits and bytes, whatever the record holds, and pages put together are the record. */
import { expect, test } from 'vitest';
import type { Ports } from '../../lib/app/ports.ts';
import { EVENTS_BYTES, EVENTS_COMMITS, watchEvents } from '../../lib/app/watch-events.ts';
import { type Commit, SCHEMA } from '../../lib/job/event.ts';
import type { View } from '../../lib/job/view.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';

const commit = (version: number, bytes: number): Commit => ({
  ...{ job: '0000000000000000', version, commitId: String(version), at: version, actor: 'system', schema: SCHEMA },
  events: [{ type: 'cancel_requested', principal: 'ada', reason: 'x'.repeat(bytes) }],
});

const pages = async (commits: readonly Commit[]) => {
  const store = createMemoryStore();
  for (const one of commits) await store.append(one);
  const ports = { store, now: () => 0 } as unknown as Ports;
  const view = { job: commits[0]!.job, version: commits.length } as View;
  const found: (readonly Commit[])[] = [];
  for (let after = 0; found.length < 1000; ) {
    const page = await watchEvents(ports, view, { after, waitSeconds: 0 }, new AbortController().signal);
    found.push(page.commits);
    after = page.commits.at(-1)?.version ?? after;
    if (!page.more) return found;
  }
  throw new Error('no end');
};

test.each([
  ['many small commits', 450, 10, [EVENTS_COMMITS, EVENTS_COMMITS, 50]],
  ['exactly a page', EVENTS_COMMITS, 10, [EVENTS_COMMITS]],
  ['large commits', 8, 250 * 1024, [4, 4]],
])('%s', async (_, count, bytes, sizes) => {
  const commits = Array.from({ length: count }, (_, i) => commit(i + 1, bytes));
  const found = await pages(commits);
  expect(found.map((page) => page.length)).toEqual(sizes);
  expect(found.flat()).toEqual(commits);
  for (const page of found) expect(JSON.stringify(page).length).toBeLessThan(EVENTS_BYTES + 300 * 1024);
});
