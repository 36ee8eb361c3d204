/**
 * Bound: whether what a look found is the object that an attempt is bound to (protocols §4.5). Pure.
 * Guards S1 and S8: a scheduler's id may come round, also within one job; the name says of which attempt an object is.
 */
import type { FoundObject } from '../cluster/port.ts';
import type { AttemptView } from '../job/view.ts';

export const isBoundTo =
  ({ n, receipt }: Pick<AttemptView, 'n' | 'receipt'>) =>
  (object: FoundObject): boolean =>
    object.n === n && object.receipt.schedulerId === receipt?.schedulerId;
