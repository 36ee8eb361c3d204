/**
 * Discard: objects that the record knows and no attempt is bound to are ended, in whatever state, and looked for again
 * (protocols §4.3). Only a complete look that no longer sees one alive makes it `duplicate_discarded`.
 */
import type { Session } from '../../cluster/port.ts';
import type { Event } from '../../job/event.ts';
import { attemptOf, type View } from '../../job/view.ts';
import type { Ports } from '../ports.ts';
import { commitFact, done, isUnreachable, nothing, type Performed, unlearnt, withSession } from './work.ts';

export const discard = async (ports: Ports, view: View, n: number): Promise<Performed> => {
  const attempt = attemptOf(view, n);
  const gone = await withSession(ports, attempt.cluster, attempt.login, (session) => discardAll(session, view, n));
  if (isUnreachable(gone)) return unlearnt(view, gone);
  if (typeof gone === 'string') return nothing(view, gone);
  if (gone.length === 0) return nothing(view, 'the second object is still alive');
  return done(
    await commitFact(ports, view, (newest) =>
      attemptOf(newest, n)
        .duplicates.filter((d) => !d.discarded && gone.includes(d.receipt.schedulerId))
        .map((d): Event => ({ type: 'duplicate_discarded', n, schedulerId: d.receipt.schedulerId })),
    ),
  );
};

/** Scheduler ids that are gone, or why that could not be told. */
const discardAll = async (session: Session, view: View, n: number): Promise<readonly string[] | string> => {
  const left = attemptOf(view, n).duplicates.filter((d) => !d.discarded);
  for (const duplicate of left) {
    const answer = await session.discard(duplicate.receipt);
    if (answer.kind === 'unreachable') return answer.says;
  }
  const found = await session.find(view.job);
  if (found.kind === 'unreachable') return found.says;
  if (found.kind === 'found' && !found.complete) return 'not every source answered';
  const alive = new Set(
    found.kind === 'found' ? found.objects.filter((object) => object.state !== 'ended').map((object) => object.receipt.schedulerId) : [],
  );
  return left.map((d) => d.receipt.schedulerId).filter((id) => !alive.has(id));
};
