/**
 * A program's report of a publication (`POST /jobs/{id}/checkpoints`, protocols §8.1): its form, and what becomes of it.
 *
 * Invariants guarded: a token reports only what its own attempt saved, in a run's own folder; what comes after a later point was fixed
 * is refused as late and noted once per run; a report is never a resume point (resolve.ts).
 */
import * as z from 'zod';
import { attemptOfEpoch } from '../job/identity.ts';
import { type Fixed, isLate, lastFixed, type Published } from '../job/point.ts';
import { epochOfPath, isRelative } from './layout.ts';
import { PATH_BYTES } from './marker.ts';

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const reportSchema = z.strictObject({
  epoch: count,
  /** The program's training step. */
  step: count,
  /** Relative to the job's checkpoint root. */
  path: z
    .string()
    .min(1)
    .refine((path) => Buffer.byteLength(path) <= PATH_BYTES && path.isWellFormed() && isRelative(path), {
      error: `must be a path below the checkpoint root of at most ${PATH_BYTES} bytes`,
    }),
  /** Bytes of the save. */
  size: count.optional(),
});
export type Report = z.infer<typeof reportSchema>;

export type Judged =
  /** Commit `checkpoint_published`. */
  | { readonly kind: 'accepted' }
  /** 409 `checkpoint/late`; `note`: commit it once with `late: true`, the first of its run. */
  | { readonly kind: 'late'; readonly note: boolean }
  /** 409 `checkpoint/exists`: already in the record; a program that repeats itself is told so. */
  | { readonly kind: 'exists' }
  /** 400 `checkpoint/invalid`. */
  | { readonly kind: 'invalid'; readonly says: string };

export interface Known {
  /** The attempt that the token speaks for. */
  readonly n: number;
  readonly ended: boolean;
  readonly points: readonly Fixed[];
  /** Reports in the record so far. */
  readonly reported: readonly (Published & { readonly late?: boolean })[];
}

/** An ended job takes no publication: whatever comes then is late (contract §13). */
export const judgeReport = (report: Report, { n, ended, points, reported }: Known): Judged => {
  if (attemptOfEpoch(report.epoch).n !== n) return { kind: 'invalid', says: `epoch ${report.epoch} is not one of attempt ${n}` };
  if (epochOfPath(report.path) !== report.epoch)
    return { kind: 'invalid', says: `${report.path} is not in the folder of epoch ${report.epoch}` };
  if (ended || isLate(report, lastFixed(points)))
    return { kind: 'late', note: !ended && !reported.some((one) => one.late === true && one.epoch === report.epoch) };
  const same = reported.some((one) => one.epoch === report.epoch && one.step === report.step && one.path === report.path);
  return same ? { kind: 'exists' } : { kind: 'accepted' };
};
