/** What the machine passes to its functions, checked at the door: another release's machine may be at the other end. */
import * as z from 'zod';
import { JOB_ID } from '../job/identity.ts';
import { MACHINE } from './advance.ts';

const job = z.string().regex(JOB_ID);

/**
 * This release's machine and the one before (protocols §2.9). Any other is refused as a failure that the machine retries: a newer one
 * until its own functions are there, and where they never come, as after a rollback, reconcile starts a supervisor of the machine that is.
 */
const machine = z
  .int()
  .min(Math.max(1, MACHINE - 1))
  .max(MACHINE, `is newer than machine ${MACHINE}, which is this release's`);

/** Additive on purpose: another release's machine may say more. */
export const advanceInputSchema = z.object({
  machine,
  job,
  generation: z.int().min(1),
  loops: z.int().min(0),
  startedAt: z.iso.datetime({ offset: true }),
  answer: z.object({ question: z.string().optional(), value: z.unknown().optional() }),
});

export const parkInputSchema = z.object({
  machine,
  job,
  generation: z.int().min(1),
  token: z.string().min(1).max(2048),
  version: z.int().min(0),
  until: z.int(),
  question: z.string(),
  enteredAt: z.iso.datetime({ offset: true }),
  retry: z.int().min(0),
});

export const pollInputSchema = z.object({ cluster: z.string().min(1), login: z.string().min(1), sweep: z.boolean().optional() });
