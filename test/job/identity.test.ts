import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attemptOfEpoch, epochOf, identityOf, JOB_ID, newJobId, newTag, parseIdentity, TAG } from '../../lib/job/identity.ts';

const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const born = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) });

describe('an attempt can be found by a name known before it was submitted (contract §1)', () => {
  test('a job id has 16 characters, a tag 4, an identity at most 32, and it says what it was made of', () => {
    fc.assert(
      fc.property(born, fraction, fc.integer({ min: 1, max: 99_999 }), (at, random, n) => {
        const job = newJobId(at, () => random);
        const tag = newTag(() => random);
        const identity = identityOf(tag, job, n);
        expect(job).toMatch(JOB_ID);
        expect(tag).toMatch(TAG);
        expect(identity.length).toBeLessThanOrEqual(32);
        expect(parseIdentity(identity)).toEqual({ tag, job, n });
      }),
    );
  });

  test('ids sort by time of birth', () => {
    fc.assert(
      fc.property(born, born, fraction, (a, b, random) => {
        fc.pre(a < b);
        expect(newJobId(a, () => random) < newJobId(b, () => random)).toBe(true);
      }),
    );
  });

  const job = newJobId(Date.UTC(2030, 0, 1), () => 0.5);
  test.each([
    ['a plain name', 'bash'],
    ['attempt 0', `dabcd-${job}-0`],
    ['a leading zero', `dabcd-${job}-01`],
    ['six digits', `dabcd-${job}-100000`],
    ['a letter outside the alphabet', `dabcu-${job}-1`],
    ['upper case', `dABCD-${job}-1`],
    ['something behind', `dabcd-${job}-1-x`],
    ['a line break behind', `dabcd-${job}-1\n`],
    ['something before', `x-dabcd-${job}-1`],
  ])('%s is no identity', (_, name) => expect(parseIdentity(name)).toBeUndefined());
});

describe('epochs order every execution of a job', () => {
  test('a later attempt is above every run of an earlier one, and an epoch reads back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_998 }), fc.integer({ min: 0, max: 999_999 }), (n, run) => {
        expect(attemptOfEpoch(epochOf(n, run))).toEqual({ n, run });
        expect(epochOf(n + 1, 0)).toBeGreaterThan(epochOf(n, run));
      }),
    );
  });
});
