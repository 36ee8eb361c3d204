/** What must hold in every life that can be, judged on thousands of random moments of it. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AssertionFailed, assert } from '../../lib/job/assertion.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import { overOf } from '../../lib/job/over.ts';
import { fold, lastAttempt, openQuestions } from '../../lib/job/view.ts';
import { type Moment, walk } from './walk.ts';

const LIVES = 200;
const MOVES = 60;
/** One seed is one life, so each is walked once and judged by every property. */
const lives = new Map<number, readonly Moment[]>();
const lifeOf = (seed: number): readonly Moment[] => {
  const life = lives.get(seed) ?? walk(seed, MOVES);
  lives.set(seed, life);
  return life;
};
const everyMoment = (judge: (moment: Moment) => void): void => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 30 }), (seed) => lifeOf(seed).forEach(judge)),
    { numRuns: LIVES, seed: 20300101 },
  );
};

const LATER = [0, 1000, 60_000, 120_000, 900_000, 3_600_000, 86_400_000, 3 * 86_400_000, 8 * 86_400_000, 400 * 86_400_000];
/** Every moment that the record knows of, where a step may turn from waiting to due. */
const knownTo = ({ view, now }: Moment): number[] => {
  const text = JSON.stringify(view);
  const known = [...new Set(text.match(/\d{13}/g))].map(Number);
  return [...known, now].flatMap((moment) => LATER.flatMap((ms) => [moment + ms - 1, moment + ms]));
};

describe('nextStep', () => {
  test('contract §9: is total and deterministic, also on a view folded again from the record', () => {
    everyMoment((life) => {
      // Folding is dear: a life's every tenth version, and always the last.
      const again = life.log.length % 10 === 0 || life.view.ended ? fold(JSON.parse(JSON.stringify(life.log)))! : life.view;
      for (const ms of LATER) {
        const step = nextStep(life.view, life.now + ms);
        assert(isDeepStrictEqual(nextStep(again, life.now + ms), step), `twice asked, two answers: ${JSON.stringify(step)}`);
      }
    });
  });

  test('P2.1: if it says await(t), it says await at every moment before t', () => {
    everyMoment((life) => {
      const from = life.now + LATER[life.log.length % LATER.length]!;
      const step = nextStep(life.view, from);
      if (step.do !== 'await') return;
      assert(step.until > from, `await until ${step.until}, which is not after ${from}`);
      for (const moment of knownTo(life)) {
        if (moment >= step.until) continue;
        const earlier = nextStep(life.view, moment);
        if (earlier.do !== 'await')
          throw new AssertionFailed(`await(${step.until}) at ${from}, but ${JSON.stringify(earlier)} at ${moment}`);
      }
    });
  });

  test('S5, contract §5: after a cancel, the deadline or the wall clock nothing is submitted, released, requeued or decided', () => {
    everyMoment((life) => {
      for (const ms of LATER) {
        const step = nextStep(life.view, life.now + ms);
        if (overOf(life.view, life.now + ms))
          assert(!['submit', 'release', 'requeue', 'decide'].includes(step.do), `${step.do} although it is over`);
      }
    });
  });

  test('P9: an open blocking question holds back submit, release, requeue, decide and finish, and only one is open', () => {
    everyMoment((life) => {
      const blocking = openQuestions(life.view).filter((question) => question.blocks);
      expect(blocking.length).toBeLessThanOrEqual(1);
      if (blocking.length === 0) return;
      for (const ms of LATER) {
        const step = nextStep(life.view, life.now + ms);
        if (!overOf(life.view, life.now + ms) && lastAttempt(life.view)?.outcome?.class !== 'success')
          assert(!['submit', 'release', 'requeue', 'decide', 'finish'].includes(step.do), `${step.do} although a question is open`);
      }
    });
  });

  test('S2, S6: only what is bound is released; an attempt is submitted when none is outstanding', () => {
    everyMoment((life) => {
      const step = nextStep(life.view, life.now);
      const attempt = lastAttempt(life.view);
      if (step.do === 'release') expect(attempt?.receipt).toBeDefined();
      if (step.do === 'submit' && step.n > 1) expect(life.view.attempts.slice(0, step.n - 1).every((a) => a.state === 'ended')).toBe(true);
    });
  });
});

describe('the record', () => {
  test('P9: a question’s key (kind, attempt, episode) is asked once', () => {
    everyMoment((life) => {
      const keys = life.view.questions.map((q) => `${q.kind} ${q.n} ${q.episode}`);
      expect(new Set(keys).size).toBe(keys.length);
    });
  });
  test('S6: attempts stay within limits.attempts, beyond them only by an answer; each rule within its max', () => {
    everyMoment(({ view }) => {
      const policy = view.spec!.policy;
      const beyond = view.decisions.filter((d) => d.by.kind === 'answer').length;
      expect(view.attempts.length).toBeLessThanOrEqual(policy.limits.attempts + beyond);
      expect(view.decisions.filter((d) => d.by.kind === 'unmatched').length).toBeLessThanOrEqual(1);
      policy.rules.forEach((rule, index) => {
        const max = 'relaunch' in rule.do ? rule.do.relaunch.max : 'requeue' in rule.do ? rule.do.requeue.max : 0;
        const uses = view.decisions.filter(
          (d) => d.by.kind === 'rule' && d.by.rule === index && (d.action.kind === 'requeue' || d.action.counts),
        );
        // A requeue by the scheduler is decided once more than it happened, at most.
        const one = 'requeue' in rule.do && rule.do.requeue.by === 'scheduler' ? 1 : 0;
        expect(uses.length).toBeLessThanOrEqual(max + one);
      });
    });
  });
  test('most lives end, and in every way', () => {
    const ends = new Set<string>();
    let ended = 0;
    for (let seed = 0; seed < 300; seed++) {
      const view = walk(seed, 400).at(-1)?.view;
      if (!view?.ended) continue;
      ended++;
      ends.add(view.ended.because.kind);
    }
    expect(ended).toBeGreaterThan(250);
    expect([...ends].toSorted()).toEqual(['answer', 'cancel', 'completed', 'deadline', 'limit', 'rule', 'unmatched', 'wall_clock']);
  });
});
