/**
 * Reliance: which capabilities of its cluster a job's plan counts with, so that people are asked when a probe finds one of them lost
 * (contract §10, `capability_lost`). What nobody relies on is recorded and shown, and judged by the next plan.
 */
import { CAPABILITY_NAMES, type CapabilityName } from './capability.ts';
import { detectionOf } from './plan-detect.ts';
import { requeueOf } from './plan-input.ts';
import { possibleCauses } from './plan-match.ts';
import { isObserved, type View } from './view.ts';

/** Without one of these no job of ours can be looked at. */
const WATCHED: readonly CapabilityName[] = ['bulk_observation', 'find_by_identity'];
/** Nor one that is ours be launched once, let go or stopped. */
const SUPERVISED: readonly CapabilityName[] = ['gate', 'landing_bound', 'release', 'cancel', 'submit_allowed'];

export const reliedOn = (view: View): readonly CapabilityName[] => {
  if (view.ended) return [];
  const { spec } = view;
  if (isObserved(view) || !spec) return WATCHED;
  const { rules, limits } = spec.policy;
  const requeue = requeueOf(spec.policy);
  const told = rules.flatMap((rule) => detectionOf(rule, possibleCauses(rule), undefined).by.map(({ by }) => by as string));
  return [
    ...WATCHED,
    ...SUPERVISED,
    ...CAPABILITY_NAMES.filter((name) => told.includes(name)),
    ...(requeue === 'never' ? [] : (['requeue_in_place'] as const)),
    ...(requeue === 'scheduler' ? (['counts_restarts'] as const) : []),
    ...(limits.stalledAfterSeconds === undefined ? [] : (['detects_progress'] as const)),
    ...(spec.checkpoint ? (['checkpoint_files'] as const) : []),
    ...(spec.program.image === undefined ? [] : (['containers'] as const)),
  ];
};
