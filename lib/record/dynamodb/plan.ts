/** Plans in DynamoDB (contract §6): stored once under their digest, for as long as a submission may name them. */
import { planKey, TTL_ATTRIBUTE } from '../keys.ts';
import { packPlan, unpackPlan } from '../plan-text.ts';
import { PLAN_LIFE_MS, type RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { count, text } from './item.ts';

export type PlanCalls = Pick<RecordStore, 'putPlan' | 'getPlan'>;

/** Later than the end of its life by our own clock, so that a removal by TTL never decides. */
const REMOVED_AFTER_MS = PLAN_LIFE_MS + 24 * 3600 * 1000;

export const dynamoPlan = (calls: TableCalls): PlanCalls => ({
  async putPlan(digest, plan, at) {
    const item = { ...planKey(digest), packed: packPlan(digest, plan), at, [TTL_ATTRIBUTE]: Math.ceil((at + REMOVED_AFTER_MS) / 1000) };
    // The text that somebody read stays what the digest names, though another plan of that digest may tell other probe times.
    const when = 'attribute_not_exists(#pk) OR #at <= :dead';
    return (await calls.put(item, { when, values: { dead: at - PLAN_LIFE_MS } })) ? 'stored' : 'exists';
  },
  async getPlan(digest, at) {
    const item = await calls.get(planKey(digest));
    return item && count(item, 'at') > at - PLAN_LIFE_MS ? unpackPlan(text(item, 'packed')) : undefined;
  },
});
