/**
 * Work: what performing one step needs, and what it says back. Each step is intention committed, effect, result committed
 * (protocols §1.3); a step that could not be tried, or proved nothing, commits nothing and is tried again later (§2.1).
 */
import { isDeepStrictEqual } from 'node:util';
import { ClusterFailure } from '../../cluster/failure.ts';
import type { Session } from '../../cluster/port.ts';
import type { Event } from '../../job/event.ts';
import { nextStep } from '../../job/next-step.ts';
import type { Step } from '../../job/step.ts';
import type { View } from '../../job/view.ts';
import { type Committed, commit, SUPERVISOR } from '../commit.ts';
import type { Ports } from '../ports.ts';

export type Performed =
  | { readonly kind: 'committed'; readonly view: View }
  /** Nothing was learnt: try again, at the pace of that kind of step. */
  | { readonly kind: 'nothing'; readonly view: View; readonly pace: Pace; readonly says: string };
export type Pace = 'retry' | 'settle' | 'cancel';

export const nothing = (view: View, says: string, pace: Pace = 'retry'): Extract<Performed, { kind: 'nothing' }> => ({
  kind: 'nothing',
  view,
  pace,
  says,
});

/** Commits only while the step is still the next one: an intention lost to a newer version is dropped (protocols §1.2). */
export const commitIfNext = (
  ports: Ports,
  view: View,
  step: Step,
  events: (view: View, now: number) => readonly Event[],
): Promise<Committed> =>
  commit(ports, view, SUPERVISOR, (newest, now) => (isSame(nextStep(newest, now), step) ? events(newest, now) : undefined));

/** In every part: a verdict on a replaced outcome, or the end of a job for another reason, is another step. */
const isSame = (a: Step, b: Step): boolean => isDeepStrictEqual(a, b);

/** A fact is offered to whatever view there is; `still` keeps what is already recorded from being recorded twice. */
export const commitFact = (ports: Ports, view: View, still: (view: View) => readonly Event[]): Promise<Committed> =>
  commit(ports, view, SUPERVISOR, still);

export const done = (committed: Committed): Performed => ({ kind: 'committed', view: committed.view });

/** Runs with one connection to the cluster and login of the job, closed whatever happens. Undefined: it could not be had. */
export const withSession = async <T>(
  ports: Pick<Ports, 'clusters'>,
  cluster: string,
  login: string,
  use: (session: Session) => Promise<T>,
): Promise<T | { readonly unreachable: string }> => {
  const configuration = ports.clusters.get(cluster);
  if (!configuration) return { unreachable: `the configuration no longer names cluster ${cluster}` };
  try {
    const session = await configuration.adapter.connect(login);
    try {
      return await use(session);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (error instanceof ClusterFailure) return { unreachable: `${error.code}: ${error.message}` };
    throw error;
  }
};

export const isUnreachable = (value: unknown): value is { readonly unreachable: string } =>
  typeof value === 'object' && value !== null && 'unreachable' in value;
