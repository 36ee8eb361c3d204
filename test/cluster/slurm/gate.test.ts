import { describe, expect, it } from 'vitest';
import { gateFor, gateTimes, limitMinutes, mechanismFor, parseVersion } from '../../../lib/cluster/slurm/gate.ts';

describe('P4.1: the gate recipe of each version', () => {
  it.each([
    ['20.11.9', undefined],
    ['21.08.8-2', 'begin'],
    ['22.05.8', 'begin'],
    ['slurm-wlm 22.05.8', 'begin'],
    ['slurm 23.02.1', 'begin_push'],
    ['23.11.10', 'begin_push'],
    ['24.05.0', 'hold_deadline'],
    ['25.11.0', 'hold_deadline'],
    ['slurm unknown', undefined],
    ['', undefined],
  ])('%s → %s', (text, mechanism) => {
    expect(mechanismFor(parseVersion(text), 'never')).toBe(mechanism);
    for (const requeue of ['scheduler', 'supervisor'] as const) expect(mechanismFor(parseVersion(text), requeue)).toBe(mechanism && 'hold');
  });

  const t0 = 1_800_000_000;
  it.each([1, 60, 3600, 604_800, 315_360_000])('patience of %i s: the last possible start is t0 + patience', (patience) => {
    for (const limit of [1, 59, 60, 61, 3599, 3600, 315_360_000, 315_360_001]) {
      const minutes = limitMinutes(limit);
      for (const mechanism of ['begin', 'begin_push', 'hold_deadline'] as const) {
        const gate = gateFor(mechanism, patience, t0 * 1000 + 499);
        expect(gate).toEqual({ mechanism, selfDestructs: true, clusterExpiresAt: (t0 + patience) * 1000 });
        const times = gateTimes(gate, limit);
        expect(times.deadline! - minutes * 60).toBe(t0 + patience);
        expect(minutes * 60 - limit).toBeGreaterThanOrEqual(0);
        expect(minutes * 60 - limit).toBeLessThan(60);
        expect(Object.values(times).every((one) => typeof one === 'boolean' || Number.isSafeInteger(one))).toBe(true);
        // sbatch refuses a deadline before the begin time, in every version.
        if (times.begin !== undefined) expect(times.deadline).toBeGreaterThanOrEqual(times.begin);
        // The begin recipe: not before the last possible start is over. Seen live: at the very second it may start.
        if (mechanism === 'begin') expect(times.begin! - (t0 + patience)).toBe(60);
        if (mechanism === 'begin_push') expect([times.begin, times.pushTo]).toEqual([t0 + patience, t0 + patience + 120]);
        if (mechanism === 'hold_deadline') expect(times).toMatchObject({ hold: true });
      }
    }
  });

  it('a requeueable attempt is held without a deadline and does not destroy itself', () => {
    const gate = gateFor('hold', 60, t0 * 1000);
    expect(gate).toEqual({ mechanism: 'hold', selfDestructs: false });
    expect(gateTimes(gate, 60)).toEqual({ hold: true });
  });
});
