/** What the machine passes to its functions, checked at the door: another release's machine may be at the other end. */
import * as z from 'zod';
import { JOB_ID } from '../job/identity.ts';

const job = z.string().regex(JOB_ID);

/** Additive on purpose: a newer machine may say more (protocols §2.9). */
export const advanceInputSchema = z.object({
  machine: z.int().min(1),
  job,
  generation: z.int().min(1),
  loops: z.int().min(0),
  startedAt: z.iso.datetime({ offset: true }),
  answer: z.object({ question: z.string().optional(), value: z.unknown().optional() }),
});

export const parkInputSchema = z.object({
  machine: z.int().min(1),
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
