/**
 * Watch: what is not yet a fact about a job (protocols §5.6): absent since, a pending reason that must persist, evidence that
 * has not arrived. Not folded, without a version, written only when it changes; losing it only lengthens a wait.
 */
import * as z from 'zod';
import type { RecordStore } from '../record/port.ts';

const watchSchema = z.object({
  /** The first complete look-up that found nothing after the settle time of the try with that commit. */
  settle: z.object({ commit: z.string(), absentAt: z.int() }).optional(),
  /** Consecutive complete polls that did not see it: `fence` is the last one's, so that a sighting in between shows. */
  absent: z.object({ n: z.int(), since: z.int(), looks: z.int(), fence: z.int() }).optional(),
  pending: z.object({ n: z.int(), seen: z.string(), fence: z.int() }).optional(),
  missing: z.object({ n: z.int(), run: z.int(), since: z.int() }).optional(),
  /** When a requeue of that run was first sent. */
  requeue: z.object({ n: z.int(), run: z.int(), sentAt: z.int() }).optional(),
  output: z.object({ n: z.int(), run: z.int(), bytes: z.int(), reported: z.int(), since: z.int() }).optional(),
});
export type Watch = z.infer<typeof watchSchema>;

export const readWatch = async (store: RecordStore, job: string): Promise<Watch> => {
  const text = await store.readWatch(job);
  if (text === undefined) return {};
  const parsed = watchSchema.safeParse(JSON.parse(text));
  // Written by another release: losing it only lengthens a wait.
  return parsed.success ? parsed.data : {};
};

export const writeWatch = (store: RecordStore, job: string, watch: Watch): Promise<void> =>
  store.writeWatch(job, Object.keys(watch).length === 0 ? undefined : JSON.stringify(watch));
