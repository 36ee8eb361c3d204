/** P6.3, P8.4: which runs may still have processes, by the record alone; in doubt one lives. */
import { expect, test } from 'vitest';
import { isLive, someRunMayLive } from '../../lib/app/alive.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { TIMING } from '../../lib/job/timing.ts';
import type { AttemptView, View } from '../../lib/job/view.ts';

const LIMIT_MS = (3600 + TIMING.goneAfterLimitSeconds) * 1000;
const attempt = (over: Partial<AttemptView>): AttemptView =>
  ({
    n: 2,
    run: 0,
    state: 'running',
    plannedAt: 0,
    gate: { mechanism: 'begin', selfDestructs: true },
    resources: { timeLimitSeconds: 3600 },
    runs: [],
    ...over,
  }) as AttemptView;
const FIRST = attempt({ n: 1, state: 'ended', processes: 'gone' });

test.each<readonly [string, Partial<AttemptView>, number, readonly number[]]>([
  ['planned: its first run, and whichever come after', { state: 'planned' }, 0, [0, 1, 2, 3]],
  ['running in run 1: all, whatever the scheduler began since', { run: 1 }, 10 * LIMIT_MS, [0, 1, 2, 3]],
  ['ended and gone: none, but what others may have begun since', { state: 'ended', processes: 'gone' }, 10 * LIMIT_MS, [1, 2, 3]],
  ['ended, fate unknown: until its limit is over', { state: 'ended', processes: 'unknown' }, LIMIT_MS - 1, [0, 1, 2, 3]],
  ['… and not longer', { state: 'ended', processes: 'unknown' }, LIMIT_MS, [1, 2, 3]],
  [
    '… unless it was suspended: its limit went on counting when nobody knows',
    { state: 'ended', processes: 'unknown', suspended: true },
    LIMIT_MS,
    [0, 1, 2, 3],
  ],
  [
    'ended and gone in run 2, which began at 5: the others as long as their own limit',
    { state: 'ended', processes: 'gone', run: 2, startedAt: 5 },
    LIMIT_MS,
    [0, 1, 3],
  ],
  ['… and not longer', { state: 'ended', processes: 'gone', run: 2, startedAt: 5 }, LIMIT_MS + 5, [3]],
  [
    'ended, and a requeue is intended: the next run may begin at any moment',
    { state: 'ended', processes: 'gone', requeueIntendedAt: 1 },
    LIMIT_MS,
    [0, 1, 2, 3],
  ],
])('%s', (_, over, now, runs) => {
  const live = isLive({ attempts: [FIRST, attempt(over)] }, now);
  expect([0, 1, 2, 3].filter((run) => live(epochOf(2, run)))).toEqual(runs);
});

test('an attempt that the record does not know lives: it was planned since', () => {
  expect(isLive({ attempts: [FIRST] }, 10 * LIMIT_MS)(epochOf(2, 0))).toBe(true);
  expect(isLive({ attempts: [FIRST] }, 10 * LIMIT_MS)(epochOf(1, 0))).toBe(false);
});

const FENCE_MS = TIMING.fenceSeconds * 1000;
const ENDED = { state: 'ended', processes: 'unknown', suspended: true } as const;
test.each<readonly [string, Partial<View>, number, boolean]>([
  ['a later attempt was released', { attempts: [attempt({ n: 1, ...ENDED }), attempt({ releasedAt: 7 })] }, 7 + FENCE_MS, false],
  ['… and it has not looked since', { attempts: [attempt({ n: 1, ...ENDED }), attempt({ releasedAt: 7 })] }, 6 + FENCE_MS, true],
  ['a later attempt is still at its gate', { attempts: [attempt({ n: 1, ...ENDED }), attempt({})] }, 10 * LIMIT_MS, true],
  ['the job ended', { attempts: [attempt({ n: 1, ...ENDED })], ended: { at: 7 } as NonNullable<View['ended']> }, 7 + FENCE_MS, false],
  [
    'on Kubernetes, where no wrapper looks',
    { attempts: [attempt({ n: 1, ...ENDED, gate: { mechanism: 'suspend', selfDestructs: false } }), attempt({ releasedAt: 7 })] },
    10 * LIMIT_MS,
    true,
  ],
])('P6.3 of a run whose end nobody saw, or that others began: %s', (_, view, now, lives) => {
  const live = isLive({ attempts: [], ...view }, now);
  expect([0, 1].map((run) => live(epochOf(1, run)))).toEqual([lives, lives]);
});

test.each([
  ['within its limit', {}, LIMIT_MS - 1, true],
  ['beyond it', {}, LIMIT_MS, false],
  ['beyond it, and it was suspended', { suspended: true as const }, 10 * LIMIT_MS, true],
])('P6.3 a release fences an earlier run of unknown fate: %s', (_, over, now, may) => {
  const second = attempt({});
  const view = { attempts: [attempt({ n: 1, state: 'ended', processes: 'unknown', ...over }), second] };
  expect(someRunMayLive(view, second, now)).toBe(may);
});
