/**
 * Read only: a connection over which nothing can be written (contract §7). Submissions are refused long before; this holds for jobs
 * that were accepted while their cluster could be written to, and for sweeps.
 */
import type { Session } from '../../cluster/port.ts';

export const readOnlyWords = (cluster: string): string => `cluster ${cluster} is read only: it is looked at, never written to`;

/** Not refused, which would be the scheduler's word: it was not asked. */
export const readOnly = (session: Session, cluster: string): Session => {
  const says = readOnlyWords(cluster);
  const unasked = async () => ({ kind: 'unreachable', says }) as const;
  return {
    ...session,
    submit: async () => ({ kind: 'uncertain', sent: 'no', answer: says }),
    fence: unasked,
    release: unasked,
    cancel: unasked,
    discard: unasked,
    ...(session.requeue ? { requeue: unasked } : {}),
    ...(session.collect ? { collect: unasked } : {}),
  };
};
