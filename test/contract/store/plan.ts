import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import { SUBMISSION_CHARACTERS } from '../../../lib/job/plan-spec.ts';
import { PLAN_BYTES, PLAN_TEXT_BYTES } from '../../../lib/record/plan-text.ts';
import { PLAN_LIFE_MS, type RecordStore } from '../../../lib/record/port.ts';
import { fresh, T0 } from './given.ts';

/** Text that hardly compresses, the same in every run. */
const random = (characters: number): string => {
  let text = '';
  for (let i = 0; text.length < characters; i++) text += createHash('sha512').update(String(i)).digest('base64');
  return text.slice(0, characters);
};

export const planContract = (store: () => RecordStore): void => {
  describe('plans', () => {
    it('§6: a plan is found under its digest', async () => {
      const digest = fresh('plan');
      expect(await store().getPlan(digest, T0)).toBeUndefined();
      expect(await store().putPlan(digest, '{"é":1}', T0)).toBe('stored');
      expect(await store().getPlan(digest, T0)).toBe('{"é":1}');
      expect(await store().getPlan(`${digest}x`, T0)).toBeUndefined();
    });

    it('§6: the text that was read first stays, for seven days to the millisecond, and its life is not renewed', async () => {
      const digest = fresh('plan');
      await store().putPlan(digest, 'first', T0);
      expect(await store().putPlan(digest, 'second', T0 + PLAN_LIFE_MS - 1)).toBe('exists');
      expect(await store().getPlan(digest, T0 + PLAN_LIFE_MS - 1)).toBe('first');
      expect(await store().getPlan(digest, T0 + PLAN_LIFE_MS)).toBeUndefined();
      expect(await store().putPlan(digest, 'second', T0 + PLAN_LIFE_MS)).toBe('stored');
      expect(await store().getPlan(digest, T0 + PLAN_LIFE_MS)).toBe('second');
    });

    it('§6: of ten that plan the same at once one is stored', async () => {
      const digest = fresh('plan');
      const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => store().putPlan(digest, `text ${i}`, T0)));
      expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1);
      expect(await store().getPlan(digest, T0)).toBe(`text ${answers.indexOf('stored')}`);
    });

    it('§6: a plan whose submission is as large as it may be is one item, whatever its quoting makes of it', async () => {
      const submissions = [
        `"\\\n'`.repeat(SUBMISSION_CHARACTERS / 4),
        '\u0001'.repeat(SUBMISSION_CHARACTERS),
        random(SUBMISSION_CHARACTERS),
      ];
      for (const submission of submissions) {
        const [digest, text] = [fresh('plan'), JSON.stringify({ submission })];
        expect(submission).toHaveLength(SUBMISSION_CHARACTERS);
        expect(await store().putPlan(digest, text, T0)).toBe('stored');
        expect(await store().getPlan(digest, T0)).toBe(text);
      }
    });

    it('§6: one that does not fit is refused before any write', async () => {
      const digest = fresh('plan');
      for (const text of [random(PLAN_BYTES * 2), 'x'.repeat(PLAN_TEXT_BYTES + 1)]) {
        await expect(store().putPlan(digest, text, T0)).rejects.toThrow(AssertionFailed);
      }
      expect(await store().getPlan(digest, T0)).toBeUndefined();
    });
  });
};
