/** P6.3, P8.4: which runs may still have processes, by the record alone; in doubt one lives. */
import { expect, test } from 'vitest';
import { liveEpochs } from '../../lib/app/alive.ts';
import { TIMING } from '../../lib/job/timing.ts';
import type { AttemptView } from '../../lib/job/view.ts';

const LIMIT_MS = (3600 + TIMING.goneAfterLimitSeconds) * 1000;
const attempt = (over: Partial<AttemptView>): AttemptView =>
  ({ n: 2, run: 0, state: 'running', plannedAt: 0, resources: { timeLimitSeconds: 3600 }, runs: [], ...over }) as AttemptView;

test.each<readonly [string, Partial<AttemptView>, number, readonly number[]]>([
  ['planned: its first run and the one after', { state: 'planned' }, 0, [2_000_000, 2_000_001]],
  ['running in run 1: all runs so far, and the next', { run: 1 }, 10 * LIMIT_MS, [2_000_000, 2_000_001, 2_000_002]],
  ['ended and gone: none', { state: 'ended', processes: 'gone' }, 0, []],
  ['ended, fate unknown: until its limit is over', { state: 'ended', processes: 'unknown' }, LIMIT_MS - 1, [2_000_000, 2_000_001]],
  ['… and not longer', { state: 'ended', processes: 'unknown' }, LIMIT_MS, []],
  [
    'ended and gone in run 2, which began at 5: those before it as long as their own limit',
    { state: 'ended', processes: 'gone', run: 2, startedAt: 5 },
    LIMIT_MS,
    [2_000_000, 2_000_001],
  ],
  ['… and not longer', { state: 'ended', processes: 'gone', run: 2, startedAt: 5 }, LIMIT_MS + 5, []],
  [
    'ended, and a requeue is intended: the next run may begin at any moment',
    { state: 'ended', processes: 'gone', requeueIntendedAt: 1 },
    LIMIT_MS,
    [2_000_000, 2_000_001],
  ],
])('%s', (_, over, now, epochs) => {
  expect(liveEpochs(attempt(over), now)).toEqual(epochs);
});
