/**
 * Read a token: the task token under which a blocking question can be answered at Step Functions itself (contract §10).
 * Guards P2.6: this is the one place where a token leaves the record, for a caller who may answer.
 */
import type { View } from '../job/view.ts';
import type { Ports } from './ports.ts';

export type ReadToken =
  | { readonly kind: 'token'; readonly token: string; readonly until: number }
  | { readonly kind: 'unknown' | 'closed' }
  /** It does not block, or the machine has not parked there (any more). */
  | { readonly kind: 'none' };

export const readToken = async (ports: Ports, view: View, id: string): Promise<ReadToken> => {
  const question = view.questions.find((one) => one.id === id);
  if (!question) return { kind: 'unknown' };
  if (question.closed) return { kind: 'closed' };
  const wake = question.blocks ? await ports.store.readWake(view.job, id) : undefined;
  // One that was taken is superseded in a moment: whoever used it would not be heard.
  return wake?.state === 'parked' ? { kind: 'token', token: wake.token, until: wake.until } : { kind: 'none' };
};
