import { describe, expect, test } from 'vitest';
import { judgeReport, type Known, type Report, reportSchema } from '../../lib/checkpoint/report.ts';
import { NOTHING } from '../../lib/job/event.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { fixedByBase, fixedByPlan } from '../../lib/job/point.ts';

const report = (n: number, run: number, step = 5, path = `exec/${n}-${run}/s`): Report => ({ epoch: epochOf(n, run), step, path });

describe('P8.1 the form of a report', () => {
  test.each([
    ['whole', { ...report(1, 0), size: 9 }, true],
    ['without a size', report(1, 0), true],
    ['a path of 130 bytes', report(1, 0, 5, `exec/1-0/${'x'.repeat(121)}`), true],
    ['a path of 131 bytes', report(1, 0, 5, `exec/1-0/${'x'.repeat(122)}`), false],
    ['bytes, not letters, are counted', report(1, 0, 5, `exec/1-0/${'é'.repeat(61)}`), false],
    ['a path that leads away', report(1, 0, 5, 'exec/1-0/../../x'), false],
    ['an absolute path', report(1, 0, 5, '/exec/1-0/x'), false],
    ['a control character', report(1, 0, 5, 'exec/1-0/a\nb'), false],
    ['no step', { epoch: 1, path: 'x' }, false],
    ['a step of −1', report(1, 0, -1), false],
    ['a fraction', report(1, 0, 1.5), false],
    ['an unknown word', { ...report(1, 0), late: true }, false],
  ])('%s', (_, body, good) => expect(reportSchema.safeParse(body).success).toBe(good));
});

describe('P6.2 what becomes of a report', () => {
  const points = [fixedByPlan(1, NOTHING()), fixedByBase({ n: 1, run: 1, base: NOTHING() })];
  const known: Known = { n: 1, ended: false, points, reported: [] };
  test.each<[string, Report, Partial<Known>, unknown]>([
    ['of the current run', report(1, 1), {}, { kind: 'accepted' }],
    ['below its base: accepted, and shown as behind', report(1, 1, 0), {}, { kind: 'accepted' }],
    ['again', report(1, 1), { reported: [report(1, 1)] }, { kind: 'exists' }],
    ['another path at the same step', report(1, 1, 5, 'exec/1-1/t'), { reported: [report(1, 1)] }, { kind: 'accepted' }],
    ['late: noted the first time', report(1, 0), {}, { kind: 'late', note: true }],
    ['late: noted once per run', report(1, 0), { reported: [{ ...report(1, 0, 4), late: true }] }, { kind: 'late', note: false }],
    [
      'late: an attempt that was planned after it',
      report(1, 1),
      { points: [...points, fixedByPlan(2, NOTHING())] },
      { kind: 'late', note: true },
    ],
    ['after the end of the job', report(1, 1), { ended: true }, { kind: 'late', note: false }],
    ["with another attempt's token", report(1, 1), { n: 2 }, { kind: 'invalid', says: expect.stringContaining('attempt 2') }],
    ["in another run's folder", report(1, 1, 5, 'exec/1-0/s'), {}, { kind: 'invalid', says: expect.stringContaining('folder') }],
    ['the folder of the run itself', report(1, 1, 5, 'exec/1-1'), {}, { kind: 'invalid', says: expect.stringContaining('folder') }],
  ])('%s', (_, body, over, judged) => expect(judgeReport(body, { ...known, ...over })).toEqual(judged));
});
