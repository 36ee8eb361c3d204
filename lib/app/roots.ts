/**
 * Roots: what did not fit the compact line of a job, read from its log for the few jobs that need it (protocols §1.6): the checkpoint
 * root of what ended, the name that somebody else gave an adopted object. A quiet poll reads no log, however long its jobs' roots are.
 */
import type { Observation, Observed, Session, Target } from '../cluster/port.ts';
import { lastAttempt } from '../job/view.ts';
import { apart } from './apart.ts';
import { loadView } from './load.ts';
import type { Ports } from './ports.ts';
import type { Watched } from './summary.ts';

/** Logs read at a time, and ends with a root to be read in one poll; the others end in the next one. */
const AT_ONCE = 8;
const MOST_ENDS = 100;

const inBatches = async <T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<readonly U[]> => {
  const done: U[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE) done.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(work))));
  return done;
};

/** Adopted objects are known by name: those whose name is not in their line are looked up before the look. */
export const withNames = async (ports: Ports, watched: readonly Watched[]): Promise<readonly Watched[]> => {
  const nameless = watched.filter((one) => one.nameInLog);
  if (nameless.length === 0) return watched;
  const named = await inBatches(nameless, async (one): Promise<readonly [Watched, Watched]> => {
    const view = await apart(ports, one.target.job, () => loadView(ports.store, one.target.job));
    const receipt = (view && lastAttempt(view)?.receipt) ?? one.target.receipt;
    return [one, { ...one, target: { ...one.target, receipt } }];
  });
  const byOld = new Map(named);
  return watched.map((one) => byOld.get(one) ?? one);
};

/**
 * What ended is looked at once more with its root, since its publications lie there; what the first look says of those ends is dropped,
 * and so is whatever the second does not reach: the next poll sees it again.
 */
export const endsWithRoots = async (ports: Ports, session: Session, watched: readonly Watched[], observed: Observed): Promise<Observed> => {
  if (observed.kind === 'unreachable') return observed;
  const rootless = new Map(
    watched.filter((one) => one.rootInLog && !one.nameInLog).map(({ target }) => [target.receipt.schedulerId, target]),
  );
  const isLate = (one: Observation): boolean => one.kind === 'ended' && rootless.has(one.target.receipt.schedulerId);
  const late = observed.changed.filter(isLate);
  if (late.length === 0) return observed;
  const targets = await inBatches(late.slice(0, MOST_ENDS), ({ target }) => withRoot(ports, target));
  const again = await session.observe(targets);
  const known = new Set(targets.map((target) => target.receipt.schedulerId));
  const ends = again.kind === 'observed' ? again.changed.filter(({ target }) => known.has(target.receipt.schedulerId)) : [];
  return { ...observed, changed: [...observed.changed.filter((one) => !isLate(one)), ...ends] };
};

const withRoot = async (ports: Ports, target: Target): Promise<Target> => {
  const root = (await apart(ports, target.job, () => loadView(ports.store, target.job)))?.spec?.checkpoint?.root;
  return root === undefined ? target : { ...target, checkpointRoot: root };
};
