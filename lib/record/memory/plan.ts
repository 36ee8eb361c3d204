/** Plans in memory (contract §6). */
import { packPlan } from '../plan-text.ts';
import { PLAN_LIFE_MS, type RecordStore } from '../port.ts';
import type { State } from './state.ts';

export type PlanCalls = Pick<RecordStore, 'putPlan' | 'getPlan'>;

export const memoryPlan = (state: State): PlanCalls => ({
  async putPlan(digest, text, at) {
    packPlan(digest, text);
    const there = state.plans.get(digest);
    if (there && there.at > at - PLAN_LIFE_MS) return 'exists';
    state.plans.set(digest, { text, at });
    return 'stored';
  },
  async getPlan(digest, at) {
    const there = state.plans.get(digest);
    return there && there.at > at - PLAN_LIFE_MS ? there.text : undefined;
  },
});
