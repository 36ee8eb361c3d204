/**
 * Cancel: the bound object is asked to end; only a look ends the attempt (protocols §7). Repeats commit nothing. Of a deferred
 * attempt nothing was ever sent, so it ends at once, by its own word.
 */
import { unsent } from '../../job/attribution.ts';
import type { CancelWhy } from '../../job/event.ts';
import { attemptOf, type View } from '../../job/view.ts';
import type { Ports } from '../ports.ts';
import { commitFact, commitIfNext, done, intend, isUnreachable, nothing, type Performed, unlearnt, withSession } from './work.ts';

export const cancel = async (
  ports: Ports,
  view: View,
  step: { readonly n: number; readonly why: CancelWhy; readonly said?: string },
): Promise<Performed> => {
  const { n, why } = step;
  const attempt = attemptOf(view, n);
  const next = { do: 'cancel' as const, ...step };
  if (attempt.deferred) {
    return done(
      await commitIfNext(ports, view, next, (newest, now) => [
        { type: 'attempt_ended', n, outcome: unsent(attemptOf(newest, n), why, now), processes: 'gone', runs: [] },
      ]),
    );
  }
  const intention = { type: 'cancel_intended' as const, n, why, ...(step.said === undefined ? {} : { said: step.said }) };
  const { view: newest, instead } = await intend(ports, view, next, intention, (at) => attemptOf(at, n).cancel !== undefined);
  if (instead) return instead;
  const { receipt, cluster, login } = attemptOf(newest, n);
  if (!receipt) return nothing(newest, 'nothing is bound', 'cancel');
  const answer = await withSession(ports, cluster, login, (session) => session.cancel(receipt));
  if (isUnreachable(answer)) return unlearnt(newest, answer, 'cancel');
  if (answer.kind !== 'sent') return nothing(newest, answer.says, 'cancel');
  if (attemptOf(newest, n).cancel?.sentAt !== undefined) return nothing(newest, 'cancelled again', 'cancel');
  return done(
    await commitFact(ports, newest, (at) =>
      attemptOf(at, n).cancel?.sentAt === undefined && attemptOf(at, n).state !== 'ended' ? [{ type: 'attempt_cancel_sent', n }] : [],
    ),
  );
};
