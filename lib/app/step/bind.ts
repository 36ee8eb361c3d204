/**
 * Bind: an attempt that was found under its identity becomes the record's (protocols §3.5). The lowest id wins while nothing
 * is bound; every other object is a duplicate to be discarded. A record of a refused submission is the refusal.
 */
import type { FindAnswer, FoundObject } from '../../cluster/port.ts';
import type { Event } from '../../job/event.ts';
import { attemptOf, type View } from '../../job/view.ts';
import type { Ports } from '../ports.ts';
import { commitFact, done, type Performed } from './work.ts';

type Found = Extract<FindAnswer, { kind: 'found' }>;

/** Scheduler ids order by number where they are numbers (Slurm), else as text. */
const byId = (a: FoundObject, b: FoundObject): number =>
  a.receipt.schedulerId.localeCompare(b.receipt.schedulerId, 'en', { numeric: true });

export const bindFound = async (ports: Ports, view: View, n: number, found: Found): Promise<Performed> =>
  done(await commitFact(ports, view, (newest) => bindings(newest, n, found.objects)));

const bindings = (view: View, n: number, objects: readonly FoundObject[]): readonly Event[] => {
  const attempt = attemptOf(view, n);
  const mine = objects.filter((object) => object.n === n && !object.refused).toSorted(byId);
  const known = new Set([attempt.receipt?.schedulerId, ...attempt.duplicates.map((d) => d.receipt.schedulerId)]);
  const unknown = mine.filter((object) => !known.has(object.receipt.schedulerId));
  const bound = attempt.receipt || attempt.state === 'ended' ? undefined : unknown[0];
  const events: Event[] = bound ? [{ type: 'attempt_bound', n, receipt: bound.receipt }] : [];
  for (const object of unknown) {
    if (object !== bound && object.state !== 'ended')
      events.push({ type: 'duplicate_found', n, receipt: object.receipt, running: object.state === 'running' });
  }
  const refused = objects.find((object) => object.n === n && object.refused)?.refused;
  if (mine.length === 0 && refused && !attempt.receipt && attempt.state !== 'ended')
    events.push({ type: 'attempt_refused', n, outcome: refused });
  return events;
};
