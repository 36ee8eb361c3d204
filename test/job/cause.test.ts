import { describe, expect, test } from 'vitest';
import { CAUSE_CLASSES, CAUSE_NAMES, CAUSES, END_STATES, outcomeOf, outcomeSchema, stateOf } from '../../lib/job/cause.ts';

const STATE_OF_CLASS = {
  success: 'succeeded',
  infrastructure: 'failed',
  capacity: 'failed',
  limit: 'failed',
  request: 'failed',
  application: 'failed',
  people: 'cancelled',
  evidence: 'unknown',
} as const;

describe('the coarse state follows the class, never the other way round (contract §3)', () => {
  test.each(CAUSE_NAMES)('%s', (cause) => expect(stateOf(cause)).toBe(STATE_OF_CLASS[CAUSES[cause]]));
  test('every class is named, once', () => expect([...CAUSE_CLASSES].sort()).toEqual(Object.keys(STATE_OF_CLASS).sort()));
  test('no cause, class or `any` shares its name with another kind of name', () => {
    const names = ['any', ...CAUSE_NAMES, ...CAUSE_CLASSES];
    expect(new Set(names).size).toBe(names.length);
  });
  test('not being able to look is neither a cause nor a state', () => {
    for (const word of ['unreachable', 'stale']) expect([...CAUSE_NAMES, ...END_STATES]).not.toContain(word);
  });
});

describe('an outcome', () => {
  test.each(CAUSE_NAMES)('of %s is valid as it is made', (cause) =>
    expect(() => outcomeSchema.parse(outcomeOf(cause, { observedAt: 1 }))).not.toThrow(),
  );
  test('of an unknown cause is refused at the boundary', () => {
    const outcome = { ...outcomeOf('exited', { observedAt: 1 }), cause: 'exploded' };
    expect(outcomeSchema.safeParse(outcome).success).toBe(false);
  });
  test('is certain and ran, unless told otherwise', () => {
    expect(outcomeOf('node_lost', { observedAt: 5 })).toMatchObject({ confidence: 'certain', ran: 'yes', class: 'infrastructure' });
    expect(outcomeOf('vanished', { observedAt: 5, confidence: 'guess', ran: 'unknown' })).toMatchObject({
      confidence: 'guess',
      ran: 'unknown',
    });
  });
});
