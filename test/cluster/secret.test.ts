/** Contract §4: secrets come by a name of the configuration, within bounds, and no failure repeats what a store said. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { boundedSecrets, SECRET_BYTES, SECRET_KEPT_MS, SECRET_READ_MS } from '../../lib/cluster/secret.ts';

const START = 1_000_000;
beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

const given = (answer: (ref: string) => Promise<string>) => {
  const asked: string[] = [];
  const read = boundedSecrets(
    (ref) => {
      asked.push(ref);
      return answer(ref);
    },
    ['a', 'b'],
    { now: Date.now },
  );
  return { asked, read };
};

describe('a secret', () => {
  test('of a name that the configuration does not list is never asked for', async () => {
    const { asked, read } = given(async () => 'x');
    for (const ref of ['c', '/etc/passwd', '__proto__', 'constructor'])
      await expect(read(ref)).rejects.toMatchObject({ code: 'secret/unknown', retryable: false });
    expect(asked).toEqual([]);
  });

  test('is kept five minutes at most, so that a new value is taken up', async () => {
    let value = 'old';
    const { asked, read } = given(async () => value);
    expect(await read('a')).toBe('old');
    value = 'new';
    vi.setSystemTime(START + SECRET_KEPT_MS - 1);
    expect(await read('a')).toBe('old');
    vi.setSystemTime(START + SECRET_KEPT_MS);
    expect(await read('a')).toBe('new');
    expect(asked).toEqual(['a', 'a']);
  });

  test('that many ask for at once is read once; a failure is not kept', async () => {
    let fails = true;
    const { asked, read } = given(async () => (fails ? Promise.reject(new Error('hunter2 in vault/prod')) : 'x'));
    const said = await Promise.allSettled([read('a'), read('a')]);
    expect(asked).toEqual(['a']);
    for (const one of said)
      expect(one).toMatchObject({ reason: { code: 'secret/unavailable', retryable: true, message: 'secret a could not be read' } });
    fails = false;
    expect(await read('a')).toBe('x');
  });

  test('that is not read in time is unavailable', async () => {
    const { read } = given(() => new Promise(() => undefined));
    const said = expect(read('a')).rejects.toMatchObject({ code: 'secret/unavailable', message: 'secret a was not read within 10 s' });
    await vi.advanceTimersByTimeAsync(SECRET_READ_MS);
    await said;
  });

  test.each([
    ['one byte too long', 'x'.repeat(SECRET_BYTES + 1)],
    ['too long in bytes, not in letters', 'é'.repeat(SECRET_BYTES / 2 + 1)],
    ['with a NUL', 'hunter2\0'],
    ['with half a character', 'hunter2\ud800'],
  ])('that no environment can hold is unusable: %s', async (_, value) => {
    const { read } = given(async () => value);
    const error = await read('a').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'secret/unusable', retryable: false });
    expect(String(error)).not.toContain('hunter2');
  });

  test('of exactly the bound is given whole', async () => {
    const { read } = given(async () => 'x'.repeat(SECRET_BYTES));
    expect(await read('b')).toHaveLength(SECRET_BYTES);
  });
});
