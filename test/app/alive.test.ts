/** P6.3, P8.4: which runs may still have processes, by the record alone; in doubt one lives. */
import { expect, test } from 'vitest';
import { isLive } from '../../lib/app/alive.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { TIMING } from '../../lib/job/timing.ts';
import type { AttemptView } from '../../lib/job/view.ts';

const LIMIT_MS = (3600 + TIMING.goneAfterLimitSeconds) * 1000;
const attempt = (over: Partial<AttemptView>): AttemptView =>
  ({ n: 2, run: 0, state: 'running', plannedAt: 0, resources: { timeLimitSeconds: 3600 }, runs: [], ...over }) as AttemptView;
const FIRST = attempt({ n: 1, state: 'ended', processes: 'gone' });

test.each<readonly [string, Partial<AttemptView>, number, readonly number[]]>([
  ['planned: its first run, and whichever come after', { state: 'planned' }, 0, [0, 1, 2, 3]],
  ['running in run 1: all, whatever the scheduler began since', { run: 1 }, 10 * LIMIT_MS, [0, 1, 2, 3]],
  ['ended and gone: none', { state: 'ended', processes: 'gone' }, LIMIT_MS, []],
  ['… but what the record does not know of, until the limit is over', { state: 'ended', processes: 'gone' }, 0, [1, 2, 3]],
  ['ended, fate unknown: until its limit is over', { state: 'ended', processes: 'unknown' }, LIMIT_MS - 1, [0, 1, 2, 3]],
  ['… and not longer', { state: 'ended', processes: 'unknown' }, LIMIT_MS, []],
  [
    'ended and gone in run 2, which began at 5: the others as long as their own limit',
    { state: 'ended', processes: 'gone', run: 2, startedAt: 5 },
    LIMIT_MS,
    [0, 1, 3],
  ],
  ['… and not longer', { state: 'ended', processes: 'gone', run: 2, startedAt: 5 }, LIMIT_MS + 5, []],
  [
    'ended, and a requeue is intended: the next run may begin at any moment',
    { state: 'ended', processes: 'gone', requeueIntendedAt: 1 },
    LIMIT_MS,
    [0, 1, 2, 3],
  ],
])('%s', (_, over, now, runs) => {
  const live = isLive([FIRST, attempt(over)], now);
  expect([0, 1, 2, 3].filter((run) => live(epochOf(2, run)))).toEqual(runs);
});

test('an attempt that the record does not know lives: it was planned since', () => {
  expect(isLive([FIRST], 10 * LIMIT_MS)(epochOf(2, 0))).toBe(true);
  expect(isLive([FIRST], 10 * LIMIT_MS)(epochOf(1, 0))).toBe(false);
});
