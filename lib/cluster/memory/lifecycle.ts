/**
 * The life of a scheduler object on the memory cluster: lands gated, is released, waits, starts, ends, is put back in its queue.
 * Guards: an unreleased object never starts (P4.1); an ended one begins again only as another run of the same object.
 */
import { type Canceller, cancelledBy, type Ending, endingOf, expired } from './ending.ts';
import type { ClusterObject, Execution } from './object.ts';
import { armExecution, beginWrapper, finishExecution, isOurs } from './program.ts';
import { clusterNow, markLive, type NewObject, putObject, runScriptOf, type State } from './state.ts';

export const land = (state: State, made: NewObject): ClusterObject => {
  const object = putObject(state, made);
  if (object.state === 'queued') queue(state, object, 0);
  else arm(state, object);
  return object;
};

const queue = (state: State, object: ClusterObject, delaySeconds: number): void => {
  const { queueSeconds } = runScriptOf(object);
  object.state = 'queued';
  object.beginAtMs = state.agenda.nowMs + delaySeconds * 1000;
  object.readyAtMs = state.agenda.nowMs + (queueSeconds === 'never' ? Number.POSITIVE_INFINITY : (queueSeconds + delaySeconds) * 1000);
  arm(state, object);
};

/** Unless the object has changed by then. */
export const later = (state: State, object: ClusterObject, atMs: number, happen: () => void): void => {
  const era = object.era;
  state.agenda.at(atMs, () => {
    if (object.era === era) happen();
  });
};

/** Enters what happens next to an object that waits. A held one waits for a person: neither starts nor expires (seen live). */
export const arm = (state: State, object: ClusterObject): void => {
  object.era += 1;
  if (object.held || (object.state !== 'gated' && object.state !== 'queued')) return;
  // The start goes first: the gate's last moment is still a moment at which it may start.
  if (object.open) later(state, object, object.readyAtMs, () => start(state, object));
  const expiresAtMs = expiryOf(state, object);
  if (expiresAtMs !== undefined) later(state, object, expiresAtMs + 1, () => expire(state, object));
};

/** By true time; the gate counts by the cluster's clock. Only a first start has one: requeued runs have no patience. */
const expiryOf = (state: State, object: ClusterObject): number | undefined => {
  const gate = object.submission?.gate;
  if (!gate?.selfDestructs || gate.clusterExpiresAt === undefined || object.run > 0) return undefined;
  return gate.clusterExpiresAt - state.clockOffsetMs;
};

const expire = (state: State, object: ClusterObject): void =>
  endObject(state, object, expired(object.open, runScriptOf(object).pending?.reason ?? 'Resources'));

/** Lifts the gate. False: it ended before. Repeating is harmless; it does not lift what others hold, unless the gate is a hold. */
export const release = (state: State, object: ClusterObject): boolean => {
  if (object.state === 'ended') return false;
  if (!object.open) {
    object.open = true;
    // Where the gate is a hold, ours and a stranger's are the same one.
    if (object.submission?.gate.mechanism === 'hold') delete object.held;
    queue(state, object, 0);
  } else if (object.held?.by === 'others' && object.submission?.gate.mechanism === 'hold') unhold(state, object);
  return true;
};

export const hold = (state: State, object: ClusterObject): boolean => {
  if (object.state !== 'gated' && object.state !== 'queued') return false;
  object.held ??= { by: 'others', sinceMs: state.agenda.nowMs };
  arm(state, object);
  return true;
};

export const unhold = (state: State, object: ClusterObject): void => {
  if (!object.held) return;
  delete object.held;
  arm(state, object);
};

const start = (state: State, object: ClusterObject): void => {
  const expiresAtMs = expiryOf(state, object);
  if (expiresAtMs !== undefined && state.agenda.nowMs > expiresAtMs) {
    expire(state, object);
    return;
  }
  object.era += 1;
  object.state = 'starting';
  object.startedAtMs = state.agenda.nowMs;
  object.nodes = nodesFor(object);
  const { startsSeconds } = runScriptOf(object);
  if (startsSeconds > 0) later(state, object, state.agenda.nowMs + startsSeconds * 1000, () => begin(state, object));
  else begin(state, object);
};

/** The first nodes that are not excluded; there are always enough. At most 64 are named. */
const nodesFor = (object: ClusterObject): string[] => {
  const excluded = new Set(object.submission?.excludeNodes ?? []);
  const wanted = Math.min(64, object.submission?.resources ? object.submission.spec.resources.nodes : 1);
  const nodes: string[] = [];
  for (let i = 1; nodes.length < wanted; i++) if (!excluded.has(`n${i}`)) nodes.push(`n${i}`);
  return nodes;
};

const begin = (state: State, object: ClusterObject): void => {
  object.era += 1;
  const { ends, runsSeconds } = runScriptOf(object).program;
  const neverBegins = ends === 'launch_failed' || ends === 'boot_failed' || (typeof ends === 'object' && 'launch_failed' in ends);
  if (neverBegins) {
    endObject(state, object, endingOf(ends, object.nodes));
    return;
  }
  object.state = 'running';
  if (isOurs(object)) {
    beginWrapper(state, object, endObject);
    return;
  }
  object.everRan = true;
  const lasts = ends === 'hangs' ? object.timeLimitSeconds : Math.min(runsSeconds, object.timeLimitSeconds);
  later(state, object, state.agenda.nowMs + lasts * 1000, () =>
    endObject(state, object, endingOf(ends === 'hangs' ? 'time_limit' : ends, object.nodes)),
  );
};

/** Whatever it was doing, it ends so. Processes of a lost node may live on, as survivors. */
export const endObject = (state: State, object: ClusterObject, ending: Ending): void => {
  if (object.state === 'ended' || object.state === 'ending') return;
  object.era += 1;
  object.ending = ending;
  if (ending.cause === 'node_lost') object.nodeSilent = !ending.answers;
  if (object.execution && ending.survives) surviveWith(state, object, object.execution, ending);
  else if (object.execution) finishExecution(state, object.execution, ending);
  const seconds = object.startedAtMs === undefined ? 0 : runScriptOf(object).program.endingSeconds;
  if (seconds > 0) {
    object.state = 'ending';
    later(state, object, state.agenda.nowMs + seconds * 1000, () => settleEnd(state, object, ending));
  } else settleEnd(state, object, ending);
};

/** Processes of a lost node go on with their script, and beyond its end for as long as the ending says, at most to the time limit. */
const surviveWith = (state: State, object: ClusterObject, execution: Execution, ending: Ending): void => {
  const livedSeconds = (state.agenda.nowMs - execution.startedAtMs - execution.pausedMs) / 1000;
  execution.survivor = true;
  execution.nodeSilent = !ending.answers;
  // When the time that it was submitted with is over, its wrapper asks for more and gets no answer there.
  const asked = object.submission?.resources.timeLimitSeconds;
  if (state.settings.shape === 'slurm' && asked !== undefined && livedSeconds < asked) execution.limitSeconds = asked;
  if (ending.survivesSeconds !== undefined) execution.endsAfterSeconds = livedSeconds + ending.survivesSeconds;
  else if (execution.endsAfterSeconds <= livedSeconds) execution.endsAfterSeconds = Number.POSITIVE_INFINITY;
  armExecution(state, object, execution, endObject);
};

/** The scheduler is done with it: gone for good, or back in its queue by itself. */
const settleEnd = (state: State, object: ClusterObject, ending: Ending): void => {
  const again = object.requeueable && ['preempted', 'node_lost', 'launch_failed'].includes(ending.cause) && ending.exitCode !== '79:0';
  if (again) {
    requeue(state, object);
    // Slurm's "launch failed requeued held": only a person lets it go on.
    if (ending.cause === 'launch_failed') {
      object.held = { by: 'launch', sinceMs: state.agenda.nowMs };
      arm(state, object);
    }
    return;
  }
  object.state = 'ended';
  object.endedAtMs = state.agenda.nowMs;
  if (ending.vanishes) object.vanished = true;
  markLive(state, object, false);
};

/** Run + 1 of the same object, not before the scheduler's own delay. Its gate stays lifted; the guard judges again. */
export const requeue = (state: State, object: ClusterObject): void => {
  if (object.execution && !object.execution.survivor) finishExecution(state, object.execution, cancelledBy('unknown', object.login));
  if (object.ending) object.lastRunCause = object.ending.cause;
  for (const key of ['ending', 'endedAtMs', 'startedAtMs', 'execution', 'held'] as const) delete object[key];
  object.run += 1;
  object.open = true;
  object.clusterSubmittedAt = clusterNow(state);
  markLive(state, object, true);
  queue(state, object, state.settings.requeueDelaySeconds);
};

export const cancel = (state: State, object: ClusterObject, by: Canceller): boolean => {
  if (object.state === 'ended') return false;
  endObject(state, object, cancelledBy(by, object.login));
  return true;
};
