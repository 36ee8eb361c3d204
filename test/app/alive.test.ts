/** P6.3, P8.4: which runs may still have processes, by the record alone; in doubt one lives. */
import { expect, test } from 'vitest';
import { fenceWaitMs, isLive, type LastRun } from '../../lib/app/alive.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { TIMING } from '../../lib/job/timing.ts';
import type { AttemptView, View } from '../../lib/job/view.ts';

/** Longer than any limit: no time proves an end. */
const LONG_MS = 1e12;
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

test.each<readonly [string, Partial<AttemptView>, readonly number[]]>([
  ['planned: its first run, and whichever come after', { state: 'planned' }, [0, 1, 2, 3]],
  ['running in run 1: all, whatever the scheduler began since', { run: 1 }, [0, 1, 2, 3]],
  ['ended and gone: none, but what others may have begun since', { state: 'ended', processes: 'gone' }, [1, 2, 3]],
  ['ended, fate unknown: all, however long ago its time limit was over', { state: 'ended', processes: 'unknown' }, [0, 1, 2, 3]],
  ['ended and gone in run 2: the others, of which that says nothing', { state: 'ended', processes: 'gone', run: 2 }, [0, 1, 3]],
  [
    'ended, and a requeue is intended: the next run may begin at any moment',
    { state: 'ended', processes: 'gone', requeueIntendedAt: 1 },
    [0, 1, 2, 3],
  ],
])('%s', (_, over, runs) => {
  const live = isLive({ attempts: [FIRST, attempt(over)] }, LONG_MS);
  expect([0, 1, 2, 3].filter((run) => live(epochOf(2, run)))).toEqual(runs);
});

test('an attempt that the record does not know lives: it was planned since', () => {
  expect(isLive({ attempts: [FIRST] }, LONG_MS)(epochOf(2, 0))).toBe(true);
  expect(isLive({ attempts: [FIRST] }, LONG_MS)(epochOf(1, 0))).toBe(false);
});

const FENCE_MS = TIMING.fenceSeconds * 1000;
const ENDED = { state: 'ended', processes: 'unknown' } as const;
test.each<readonly [string, Partial<View>, number, boolean]>([
  ['a later attempt was released', { attempts: [attempt({ n: 1, ...ENDED }), attempt({ releasedAt: 7 })] }, 7 + FENCE_MS, false],
  ['… and it has not looked since', { attempts: [attempt({ n: 1, ...ENDED }), attempt({ releasedAt: 7 })] }, 6 + FENCE_MS, true],
  ['a later attempt is still at its gate', { attempts: [attempt({ n: 1, ...ENDED }), attempt({})] }, LONG_MS, true],
  ['the job ended', { attempts: [attempt({ n: 1, ...ENDED })], ended: { at: 7 } as NonNullable<View['ended']> }, 7 + FENCE_MS, false],
  [
    'on Kubernetes, where no wrapper looks',
    { attempts: [attempt({ n: 1, ...ENDED, gate: { mechanism: 'suspend', selfDestructs: false } }), attempt({ releasedAt: 7 })] },
    LONG_MS,
    true,
  ],
])('P6.3 of a run whose end nobody saw, or that others began: %s', (_, view, now, lives) => {
  const live = isLive({ attempts: [], ...view }, now);
  expect([0, 1].map((run) => live(epochOf(1, run)))).toEqual([lives, lives]);
});

const SUSPEND = { gate: { mechanism: 'suspend', selfDestructs: false } } as const;
test.each<readonly [string, AttemptView[], number, number]>([
  ['whatever its limit was', [attempt({ n: 1, ...ENDED }), attempt({})], LONG_MS, FENCE_MS - 5],
  ['not for one that is gone', [FIRST, attempt({})], 0, 0],
  ['for runs before one that is gone', [{ ...FIRST, run: 1 }, attempt({})], 0, FENCE_MS - 5],
  [
    'until another has waited for it',
    [attempt({ n: 1, ...ENDED }), attempt({ releasedAt: 7 }), attempt({ n: 3 })],
    6 + FENCE_MS,
    FENCE_MS - 5,
  ],
  ['and not again', [attempt({ n: 1, ...ENDED }), attempt({ releasedAt: 7 }), attempt({ n: 3 })], 7 + FENCE_MS, 0],
  ['P4.7 on Kubernetes, ten minutes from its end', [attempt({ n: 1, ...ENDED, ...SUSPEND, endedAt: 7 }), attempt({})], 8, 599_999],
  ['P4.7 and not longer', [attempt({ n: 1, ...ENDED, ...SUSPEND, endedAt: 7 }), attempt({})], 600_007, 0],
])('P6.3 how long a release waits for earlier runs: %s', (_, attempts, now, waits) => {
  expect(fenceWaitMs({ attempts }, attempts.at(-1)!, 5, now)).toBe(waits);
});

test.each<readonly [string, LastRun[], number]>([
  ['one that the record knows', [{ n: 1, run: 0 }], 0],
  ['one that it does not', [{ n: 1, run: 1 }], FENCE_MS - 5],
  ['one of its own attempt', [{ n: 2, run: 1 }], 0],
])('P6.3 a release waits for a run that a look shows and nobody saw: %s', (_, seen, waits) => {
  const attempts = [FIRST, attempt({})];
  expect(fenceWaitMs({ attempts }, attempts[1]!, 5, 0, seen)).toBe(waits);
});
