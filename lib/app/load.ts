/**
 * Load: the view of a job from its whole log, read consistently. Every decision begins here (protocols §1.4): heads and
 * indexes are hints.
 */
import { fold, type View } from '../job/view.ts';
import type { RecordStore } from '../record/port.ts';

/** Undefined: no such job, or one whose birth was never finished. */
export const loadView = async (store: RecordStore, job: string): Promise<View | undefined> => fold(await store.read(job));

/** The view brought up to date by whatever was committed since. */
export const refresh = async (store: RecordStore, view: View): Promise<View> =>
  fold(await store.read(view.job, view.version), view) ?? view;
