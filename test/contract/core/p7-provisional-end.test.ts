/**
 * An outcome of class evidence is provisional until something was decided on it (contract §3). `stop` can never be taken back (P4.2):
 * it is not written on the word of such an outcome alone while the object may be alive; and a person's `stop` is a decision.
 */
import { describe, expect, test } from 'vitest';
import { type Given, type Life, life, SHAPES } from './life.ts';
import { reads } from './reader.ts';

/** Lost from every list for long enough to be believed gone, while no look-up of the job comes through. */
const vanished = async (given: Given): Promise<Life> => {
  const one = await life({ script: [{ program: { runsSeconds: 3000 } }], spec: { timeLimit: '3h' }, ...given });
  await one.until(({ attempt }) => attempt?.state === 'running');
  one.world.lie({ hides: () => true, complete: true });
  one.world.faults.choose(({ verb }) => (verb === 'find' ? { kind: 'unreachable' } : undefined));
  await one.until(({ attempt }) => attempt?.state === 'ended');
  await one.advance(10);
  return one;
};
const backAgain = (one: Life): void => {
  one.world.lie(undefined);
  one.world.faults.choose(() => undefined);
};

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test('P7: given an attempt that only seemed to have vanished and a policy that stops, then its program runs on and completes', async () => {
    const one = await vanished({ shape, unmatched: 'stop' });
    backAgain(one);
    expect((await one.ended(20_000)).state).toBe('succeeded');
    expect(one.world.truth().executions).toHaveLength(1);
    reads(one);
  });

  test('P7: given looks that come through only to the end of the job, then what is alive there is not discarded either', async () => {
    const one = await vanished({ shape, unmatched: 'stop', pollEverySeconds: 60 });
    one.world.lie(undefined);
    one.world.faults.choose(({ verb }) => (verb === 'observe' ? { kind: 'unreachable' } : undefined));
    await one.advance(300);
    expect(one.world.truth().executions).toMatchObject([{ n: 1 }]);
    backAgain(one);
    expect((await one.ended(20_000)).state).toBe('succeeded');
    reads(one);
  });

  test('P9: given a person who said stop about it, then the job ends by that word, though the object shows again', async () => {
    const one = await vanished({ shape, unmatched: 'escalate' });
    await one.until(({ state }) => state === 'awaiting');
    expect(one.question().kind).toBe('outcome_unknown');
    await one.answer('stop');
    await one.advance(10);
    one.world.lie(undefined);
    await one.advance(60);
    backAgain(one);
    await one.ended(3600);
    expect(one.view().ended?.because).toMatchObject({ kind: 'answer', answer: 'stop' });
    expect(one.world.truth().objects.every(({ state }) => state === 'ended')).toBe(true);
    reads(one);
  });
});
