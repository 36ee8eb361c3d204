import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkToken, issueToken, type TokenKey } from '../../lib/checkpoint/token.ts';

const JOB = '0123456789abcdef';
const OTHER = '0123456789abcdeg';
const key = (id: string, fill: number): TokenKey => ({ id, secret: new Uint8Array(32).fill(fill) });
const [old, fresh] = [key('a', 1), key('b', 2)];

describe('attempt tokens', () => {
  test('speak for one attempt of one job', () => {
    const token = issueToken([old], JOB, 3);
    expect(checkToken([old], token, JOB)).toEqual({ kind: 'valid', job: JOB, n: 3 });
    expect(checkToken([old], token, OTHER)).toEqual({ kind: 'invalid' });
  });

  test('are made of characters that dispatch-publish and a header take', () => {
    expect(issueToken([old], JOB, 99_999)).toMatch(/^[A-Za-z0-9._~+/=-]{1,128}$/);
  });

  test('rotation: the first key signs, the ones after it are still accepted, one that is gone is not', () => {
    const before = issueToken([old], JOB, 1);
    const after = issueToken([fresh, old], JOB, 1);
    expect(after).toContain('.b.');
    expect(checkToken([fresh, old], before, JOB).kind).toBe('valid');
    expect(checkToken([fresh, old], after, JOB).kind).toBe('valid');
    expect(checkToken([fresh], before, JOB).kind).toBe('invalid');
  });

  test('another secret under the same id does not accept them', () => {
    expect(checkToken([key('a', 9)], issueToken([old], JOB, 1), JOB)).toEqual({ kind: 'invalid' });
  });

  test('no change of any character leaves a token valid', () => {
    const token = issueToken([old], JOB, 12);
    const alphabet = [...'ABCXYZabcxyz0129-_.=~'];
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...alphabet), (at, letter) => {
        fc.pre(token[at] !== letter);
        expect(checkToken([old], token.slice(0, at) + letter + token.slice(at + 1), JOB)).toEqual({ kind: 'invalid' });
      }),
      { seed: 11, numRuns: 600 },
    );
  });

  test.each([
    ['nothing', ''],
    ['cut short', issueToken([old], JOB, 1).slice(0, -1)],
    ['a letter more', `${issueToken([old], JOB, 1)}A`],
    ['a line more', `${issueToken([old], JOB, 1)}\n`],
    ['another attempt beside the seal', issueToken([old], JOB, 1).replace('.1.', '.2.')],
    ['another job beside the seal', issueToken([old], OTHER, 1).replace(OTHER, JOB)],
    ['a key that nobody has', issueToken([old], JOB, 1).replace('.a.', '.z.')],
  ])('invalid: %s', (_, token) => expect(checkToken([old], token, JOB)).toEqual({ kind: 'invalid' }));

  test.each([
    ['a short secret', () => issueToken([{ id: 'a', secret: new Uint8Array(31) }], JOB, 1)],
    ['a short secret that is to be accepted only', () => issueToken([old, { id: 'b', secret: new Uint8Array(0) }], JOB, 1)],
    ['an id with a dot', () => issueToken([{ ...old, id: 'a.b' }], JOB, 1)],
    ['attempt 0', () => issueToken([old], JOB, 0)],
    ['no job', () => issueToken([old], 'x', 1)],
  ])('our own mistake: %s', (_, act) => expect(act).toThrow(RangeError));
});
