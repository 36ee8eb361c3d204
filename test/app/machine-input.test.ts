/** Which machines' words the functions take (protocols §2.9). */
import { describe, expect, test } from 'vitest';
import { MACHINE } from '../../lib/app/advance.ts';
import { advanceInputSchema, parkInputSchema } from '../../lib/app/machine-input.ts';

const job = '01h5j6k7m8n9p0qr';
const ADVANCE = { job, generation: 1, loops: 0, startedAt: '2030-01-01T00:00:00Z', answer: {} };
const PARK = { job, generation: 1, token: 't', version: 3, until: 5, question: '', enteredAt: '2030-01-01T00:00:00Z', retry: 0 };

describe.each([
  ['Advance', advanceInputSchema, ADVANCE],
  ['Park', parkInputSchema, PARK],
] as const)('P2.9: %s', (_, schema, input) => {
  test('takes the words of this release’s machine, and more than it knows', () => {
    expect(schema.safeParse({ ...input, machine: MACHINE, more: true }).success).toBe(true);
  });
  test.each([MACHINE + 1, MACHINE - 2, 0.5, '1', undefined])(
    'refuses machine %j, which is another release’s by more than one, or newer',
    (machine) => {
      const read = schema.safeParse({ ...input, machine });
      expect(read.success).toBe(false);
      expect(read.error?.issues.map((issue) => issue.path.join('.'))).toEqual(['machine']);
    },
  );
});
