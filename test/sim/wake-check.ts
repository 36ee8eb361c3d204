/**
 * What must be true of tokens at every moment (protocols §2.2, §2.3): a parked token was promised no more than the record says by now,
 * and no older token ever takes the place of a newer one. What a supervisor decided from is taken from its own words, not from what the
 * record kept of them.
 */
import { nextStep } from '../../lib/job/next-step.ts';
import type { View } from '../../lib/job/view.ts';
import { compareOrders } from '../../lib/record/order.ts';
import type { TokenOrder, Wake } from '../../lib/record/port.ts';
import { SKEW_MS } from './climate.ts';
import type { Parking } from './store.ts';
import { holds } from './verdict.ts';

export interface WakeCheck {
  parks(wake: Parking): void;
  check(view: View, headVersion: number, slots: ReadonlyMap<string, { readonly token: string; readonly wake?: Wake }>, nowMs: number): void;
}

/**
 * Whether what the record says by now concerns a supervisor that was promised this wake (protocols §2.3): there is work, the next moment is
 * an earlier one, or it waits for another answer, or for none. What dispatch compares with is not asked, since it is what is judged.
 */
export const concerns = (view: View, wake: Pick<Wake, 'until' | 'question'>, nowMs: number): boolean => {
  const step = nextStep(view, nowMs);
  if (step.do !== 'await') return true;
  const waitsFor = step.question ?? '';
  return waitsFor !== wake.question || step.until < wake.until;
};

/** Whether a supervisor that waits under it should have been woken for what the record says now, whichever clock one goes by. */
export const oversleeps = (view: View, wake: Wake, nowMs: number): boolean =>
  wake.state === 'parked' && wake.version < view.version && concerns(view, wake, nowMs - SKEW_MS);

export const createWakeCheck = (): WakeCheck => {
  const said = new Map<string, Parking>();
  /** By job and slot: the token seen there last, and its order. */
  const seen = new Map<string, { readonly token: string; readonly order: TokenOrder }>();
  const judged = new Map<string, number>();

  const inOrder = (place: string, token: string): void => {
    const before = seen.get(place);
    if (before?.token === token) return;
    const order = said.get(token)?.order;
    if (!order) return;
    holds(!before || compareOrders(before.order, order) < 0, 'L3', () => `on ${place} a late Park overwrote the living token`);
    seen.set(place, { token, order });
  };

  return {
    parks: (wake) => said.set(wake.token, wake),
    check(view, headVersion, slots, nowMs) {
      for (const [slot, { token }] of slots) inOrder(`${view.job}/${slot}`, token);
      const wake = slots.get('')?.wake;
      // Whoever moves the head judges; until then a sweep may still find the commit.
      if (wake?.state !== 'parked' || headVersion !== view.version || nowMs >= wake.until - SKEW_MS) return;
      const decidedFrom = said.get(wake.token)?.version ?? wake.version;
      const key = `${view.job} ${wake.token}`;
      if (decidedFrom >= view.version || judged.get(key) === view.version) return;
      judged.set(key, view.version);
      holds(
        !concerns(view, wake, nowMs),
        'L3',
        () => `${view.job} was decided from version ${decidedFrom} and sleeps over version ${view.version}`,
      );
    },
  };
};
