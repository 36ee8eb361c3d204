/**
 * One look at everything the record wants looked at (protocols §5): what changed, what ended, what nobody knows, what nobody explains.
 * Guards P4.5 and P5.2: evidence is about this object only; what was recorded already is not said again.
 */
import type { Finding } from '../../job/event.ts';
import { parseIdentity } from '../../job/identity.ts';
import { runsOf } from '../../job/point.ts';
import { type Observation, type Observed, seenOf, type Target } from '../port.ts';
import { basesOfAttempt, publicationsOf } from './control.ts';
import { foundObject, outcomeOfObject, pendingOf, processesOf, type Viewer, viewOf } from './look.ts';
import type { ClusterObject } from './object.ts';
import { controlOf, isOf, type State } from './state.ts';

export const observe = (state: State, viewer: Viewer, targets: readonly Target[]): Observed => {
  const view = viewOf(state, viewer);
  const changed: Observation[] = [];
  const absent: Target[] = [];
  const explained = new Set<ClusterObject>();
  for (const target of targets) {
    const known = parseIdentity(target.receipt.identity)
      ? view.ofJob(viewer.tag, target.job)
      : [view.stranger(target.receipt.schedulerId)].filter((one) => one !== undefined);
    const object = known.find((candidate) => isOf(candidate, target.receipt));
    if (!object) {
      absent.push(target);
      continue;
    }
    explained.add(object);
    const observation = object.state === 'ended' ? observeEnded(state, object, target) : observeLive(state, object, target);
    if (observation) changed.push(observation);
  }
  const unexplained = [...view.live(viewer.tag)].filter((object) => !explained.has(object));
  return {
    kind: 'observed',
    clusterStartedAt: view.clusterAt,
    complete: view.complete,
    changed,
    absent,
    unexplained: unexplained.map((object) => foundObject(state, object, viewer.cluster)),
  };
};

const observeEnded = (state: State, object: ClusterObject, target: Target): Observation | undefined => {
  if (target.seen === seenOf('ended', object.run)) return undefined;
  // A program outside dispatch has no control folder, and publishes nothing.
  const control = object.tag && object.job ? controlOf(state, object.tag, object.job) : undefined;
  const { accounting, accountingLagSeconds } = state.settings;
  const missing: string[] = [];
  if (accounting && state.agenda.nowMs < object.endedAtMs! + accountingLagSeconds * 1000) missing.push('accounting');
  if (state.faults.pubUnreadable) missing.push('publications');
  return {
    kind: 'ended',
    target,
    run: object.run,
    outcome: outcomeOfObject(state, object),
    processes: processesOf(state, object),
    runs: state.faults.pubUnreadable || !control ? [] : runsOf(target.n, basesOfAttempt(control, target.n), publicationsOf(control)),
    missing,
  };
};

const observeLive = (state: State, object: ClusterObject, target: Target): Observation | undefined => {
  if (object.state === 'ended') return undefined;
  const pending = pendingOf(state, object);
  const finding = findingOf(object, target);
  if (!finding && target.seen === seenOf(object.state, object.run, pending?.group)) return undefined;
  return {
    kind: 'live',
    target,
    state: object.state,
    run: object.run,
    ...(pending ? { pending } : {}),
    ...(finding ? { finding } : {}),
    ...(object.run > 0 && object.lastRunCause ? { lastRunCause: object.lastRunCause } : {}),
  };
};

/** What somebody else did to it. A requeueable object may come back by itself or by our own doing: that is no finding. */
const findingOf = (object: ClusterObject, target: Target): Finding | undefined => {
  const since = object.clusterSubmittedAt;
  if (!target.requeueable && target.seen.startsWith('ended.'))
    return { kind: 'active_after_end', since, said: `run ${object.run} is ${object.state}` };
  if (!target.requeueable && object.run > target.run) return { kind: 'requeued', since, said: `run ${object.run} is ${object.state}` };
  if (!target.released && object.open && object.run === 0) return { kind: 'released', since, said: `${object.state} without our release` };
  if (object.held?.by === 'others') return { kind: 'held', since: object.held.sinceMs, said: 'JobHeldUser' };
  if (object.edited) return { kind: 'edited', since: object.edited.sinceMs, said: object.edited.said };
  return undefined;
};
