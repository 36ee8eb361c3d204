/**
 * Work: what performing one step needs, and what it says back. Each step is intention committed, effect, result committed
 * (protocols §1.3); a step that could not be tried, or proved nothing, commits nothing and is tried again later (§2.1).
 */
import { isDeepStrictEqual } from 'node:util';
import type { Event } from '../../job/event.ts';
import { nextStep } from '../../job/next-step.ts';
import type { Step } from '../../job/step.ts';
import type { View } from '../../job/view.ts';
import type { Unreached } from '../cluster/session.ts';
import { type Committed, commit, SUPERVISOR } from '../commit.ts';
import type { Ports } from '../ports.ts';

export { isUnreachable, withSession } from '../cluster/session.ts';

export type Performed =
  | { readonly kind: 'committed'; readonly view: View }
  /** Nothing was learnt: try again, at the pace of that kind of step. */
  | {
      readonly kind: 'nothing';
      readonly view: View;
      readonly pace: Pace;
      readonly says: string;
      readonly notBefore?: number;
      /** The moment from which the next try can decide, so that no back-off sleeps past it. */
      readonly decidesAt?: number;
    };

/** A cluster may tell whole seconds only: so much later its clock has moved on, whatever it left out when it was read. */
export const TOLD_MS = 1000;

/** `slot`: it was not even tried, since no connection was to be had; that says nothing of the cluster and counts as no try. */
export type Pace = 'retry' | 'settle' | 'cancel' | 'slot';

export const nothing = (view: View, says: string, pace: Pace = 'retry'): Extract<Performed, { kind: 'nothing' }> => ({
  kind: 'nothing',
  view,
  pace,
  says,
});

/** No connection: later, at the pace of this kind of step, or as soon as a slot may be free. */
export const unlearnt = (view: View, { unreachable, slot }: Unreached, pace: Pace = 'retry'): Performed =>
  slot ? { ...nothing(view, unreachable, 'slot'), notBefore: slot.notBefore } : nothing(view, unreachable, pace);

/** Commits only while the step is still the next one: an intention lost to a newer version is dropped (protocols §1.2). */
export const commitIfNext = (
  ports: Ports,
  view: View,
  step: Step,
  events: (view: View, now: number) => readonly Event[],
): Promise<Committed> =>
  commit(ports, view, SUPERVISOR, (newest, now) => (isSame(nextStep(newest, now), step) ? events(newest, now) : undefined));

/**
 * The intention of a step, committed once, before its effect: what happened after it and before a second one would be told as others' doing.
 * `instead`: it was not the step's turn any more, or another supervisor was faster.
 */
export const intend = async (
  ports: Ports,
  view: View,
  step: Step,
  intention: Event,
  stands: (view: View) => boolean,
): Promise<{ readonly view: View; readonly instead?: Performed }> => {
  if (stands(view)) return { view };
  const intended = await commitIfNext(ports, view, step, (newest) => (stands(newest) ? [] : [intention]));
  return { view: intended.view, ...(intended.commitId ? {} : { instead: done(intended) }) };
};

/** In every part: a verdict on a replaced outcome, or the end of a job for another reason, is another step. */
const isSame = (a: Step, b: Step): boolean => isDeepStrictEqual(a, b);

/** A fact is offered to whatever view there is; `still` keeps what is already recorded from being recorded twice. */
export const commitFact = (ports: Ports, view: View, still: (view: View) => readonly Event[]): Promise<Committed> =>
  commit(ports, view, SUPERVISOR, still);

export const done = (committed: Committed): Performed => ({ kind: 'committed', view: committed.view });
