import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { realClock, virtualClock } from '../../../lib/local/clock.ts';

describe('the virtual clock', () => {
  test('timers fire in order of time, then of being set, each at its own time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ ms: fc.nat(20), cancel: fc.boolean() }), { maxLength: 60 }), async (timers) => {
        const clock = virtualClock(100);
        const fired: string[] = [];
        const cancels = timers.map(({ ms }, at) => clock.after(ms, () => fired.push(`${clock.now()} ${at}`)));
        timers.forEach(({ cancel }, at) => {
          if (cancel) cancels[at]?.();
        });
        const expected = timers
          .map(({ ms, cancel }, at) => ({ ms, cancel, at }))
          .filter(({ cancel }) => !cancel)
          .sort((a, b) => a.ms - b.ms || a.at - b.at)
          .map(({ ms, at }) => `${100 + ms} ${at}`);
        expect(clock.pending()).toBe(expected.length);
        await clock.advance(20);
        expect(fired).toEqual(expected);
        expect([clock.now(), clock.pending()]).toEqual([120, 0]);
      }),
      { numRuns: 200, seed: 3 },
    );
  });

  test('promises go on between two timers, however deep they are', async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    clock.after(1, async () => {
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
      seen.push('first, and what follows from it');
      clock.after(0, () => seen.push('a timer set by it'));
    });
    clock.after(1, () => seen.push('second'));
    await clock.advance(1);
    expect(seen).toEqual(['first, and what follows from it', 'second', 'a timer set by it']);
  });

  test('advanceToNext jumps; a cancelled timer is not there', async () => {
    const clock = virtualClock(0);
    clock.after(5, () => {})();
    clock.after(86_400_000, () => {});
    expect(clock.nextAtMs()).toBe(86_400_000);
    expect(await clock.advanceToNext()).toBe(true);
    expect(clock.now()).toBe(86_400_000);
    expect(await clock.advanceToNext()).toBe(false);
  });

  test('time never goes back, and a timer in the past fires next', async () => {
    const clock = virtualClock(50);
    const seen: number[] = [];
    clock.after(-10, () => seen.push(clock.now()));
    await clock.advance(0);
    expect(seen).toEqual([50]);
  });

  test('a delay without end is a mistake', () => {
    for (const ms of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => virtualClock(0).after(ms, () => {})).toThrow(RangeError);
  });

  test('cancelling twice, or after it fired, counts once', async () => {
    const clock = virtualClock(0);
    const cancel = clock.after(1, () => {});
    clock.after(2, () => {});
    await clock.advance(1);
    cancel();
    cancel();
    expect(clock.pending()).toBe(1);
  });
});

describe('the real clock', () => {
  test('a wait longer than a timer can be is still one wait, and can be cancelled', () => {
    vi.useFakeTimers({ now: 0 });
    try {
      const dayMs = 86_400_000;
      const seen: number[] = [];
      realClock.after(60 * dayMs, () => seen.push(realClock.now()));
      const cancel = realClock.after(50 * dayMs, () => seen.push(-1));
      vi.advanceTimersByTime(40 * dayMs);
      cancel();
      vi.advanceTimersByTime(20 * dayMs - 1);
      expect(seen).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(seen).toEqual([60 * dayMs]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
