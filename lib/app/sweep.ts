/**
 * Sweep: objects with our tag that no active attempt explains (protocols §4.1).
 * Guards S7 and promise 5. It looked first and reads the log now. It ends only what the record surely does not want; what has
 * no record here is reported and never touched (it may be a restored table), and another tag is none of our business.
 */
import type { FoundObject, Session } from '../cluster/port.ts';
import { parseIdentity } from '../job/identity.ts';
import { type AttemptView, lastAttempt, type View } from '../job/view.ts';
import { apart } from './apart.ts';
import { isBoundTo } from './bound.ts';
import { commit } from './commit.ts';
import { loadView } from './load.ts';
import type { Ports } from './ports.ts';

/** An ended attempt counts as not ended for so long: its successor's release, or its own requeue, looks for itself. */
const SETTLED_MS = 10 * 60 * 1000;
const MOST = 100;

export const sweepObjects = async (
  ports: Ports,
  session: Pick<Session, 'discard'>,
  cluster: string,
  objects: readonly FoundObject[],
  actor: string,
): Promise<void> => {
  const doomed: FoundObject[] = [];
  for (const object of someOf(objects, ports.random)) {
    const identity = parseIdentity(object.receipt.identity);
    if (!identity || identity.tag !== ports.tag) continue;
    const verdict = await apart(ports, identity.job, () => judged(ports, cluster, object, identity.job, actor));
    if (verdict === 'discard') doomed.push(object);
  }
  for (const object of doomed) {
    const answer = await session.discard(object.receipt);
    ports.log('warn', 'discarded an object that the record does not want', {
      cluster,
      identity: object.receipt.identity,
      id: object.receipt.schedulerId,
      answer: answer.kind,
    });
  }
};

/** Begun anywhere when they are too many: what stays for ever at the front of the list must not hide the rest. */
const someOf = (objects: readonly FoundObject[], random: () => number): readonly FoundObject[] => {
  if (objects.length <= MOST) return objects;
  const from = Math.floor(random() * objects.length);
  return [...objects.slice(from), ...objects.slice(0, from)].slice(0, MOST);
};

const judged = async (ports: Ports, cluster: string, object: FoundObject, job: string, actor: string): Promise<Verdict> => {
  const view = await loadView(ports.store, job);
  if (!view) {
    const { identity, schedulerId: id } = object.receipt;
    ports.log('warn', 'an object of our tag has no record here: left alone', { cluster, identity, id });
    return 'leave';
  }
  const verdict = judge(view, object, ports.now());
  if (verdict === 'duplicate') await recordDuplicate(ports, job, object, actor);
  return verdict;
};

type Verdict = 'leave' | 'duplicate' | 'discard';

const judge = (view: View, object: FoundObject, now: number): Verdict => {
  if (view.ended) return now - view.ended.at > SETTLED_MS ? 'discard' : 'leave';
  const attempt = view.attempts[object.n - 1];
  // Not planned yet by what we can read, or its answer is being settled: whoever does that binds it.
  if (!attempt || attempt.state === 'planned' || attempt.state === 'uncertain') return 'leave';
  if (isBoundTo(attempt)(object)) return isSettled(view, attempt, now) ? 'discard' : 'leave';
  if (attempt.state === 'ended' && isSettled(view, attempt, now)) return 'discard';
  // What may turn out not to have ended is treated like what lives: a person may take days to say.
  if (attempt.state === 'ended' && !isProvisional(view, attempt)) return 'leave';
  const known = attempt.duplicates.some((d) => d.receipt.schedulerId === object.receipt.schedulerId && !d.discarded);
  return known ? 'leave' : 'duplicate';
};

const isProvisional = (view: View, attempt: AttemptView): boolean => attempt === lastAttempt(view) && attempt.outcome?.class === 'evidence';

const isSettled = (view: View, attempt: AttemptView, now: number): boolean => {
  if (attempt.state !== 'ended' || attempt.requeueIntendedAt !== undefined) return false;
  const requeued = attempt === lastAttempt(view) && view.decision?.action.kind === 'requeue';
  return !isProvisional(view, attempt) && !requeued && now - (attempt.endedAt ?? now) > SETTLED_MS;
};

/** Of an attempt that lives, the supervisor discards what is not bound: it is told by the record. */
const recordDuplicate = async (ports: Ports, job: string, object: FoundObject, actor: string): Promise<void> => {
  await commit(ports, job, actor, (view) =>
    judge(view, object, ports.now()) === 'duplicate'
      ? [{ type: 'duplicate_found', n: object.n, receipt: object.receipt, running: object.state === 'running' }]
      : undefined,
  );
};
