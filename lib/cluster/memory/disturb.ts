/**
 * What happens to an object of the memory cluster while it lives: it is struck, suspended, edited, its node comes back, it is fenced.
 */
import { endingOf } from './ending.ts';
import { endObject, later } from './lifecycle.ts';
import type { ClusterObject } from './object.ts';
import { armExecution, beginWrapper, finishExecution, isOurs, lookNow, lookSoon } from './program.ts';
import type { Ends } from './script.ts';
import { clusterNow, controlOf, jobKey, type State } from './state.ts';

/** Ends an object that has started, as if this had happened to it now. False: it has not, or it has ended. */
export const strike = (state: State, object: ClusterObject, ends: Exclude<Ends, 'hangs'>): boolean => {
  if (object.state !== 'running' && object.state !== 'starting' && object.state !== 'suspended') return false;
  endObject(state, object, endingOf(ends, object.nodes));
  return true;
};

export const suspend = (state: State, object: ClusterObject): boolean => {
  if (object.state !== 'running' || !object.execution) return false;
  object.state = 'suspended';
  object.execution.pausedAtMs = state.agenda.nowMs;
  object.execution.era += 1;
  return true;
};

export const resume = (state: State, object: ClusterObject): boolean => {
  const { execution } = object;
  if (object.state !== 'suspended' || execution?.pausedAtMs === undefined) return false;
  object.state = 'running';
  execution.pausedMs += state.agenda.nowMs - execution.pausedAtMs;
  delete execution.pausedAtMs;
  armExecution(state, object, execution, endObject);
  lookNow(state, execution, endObject);
  return true;
};

/** Others change its limit. */
export const edit = (state: State, object: ClusterObject, timeLimitSeconds: number): void => {
  object.timeLimitSeconds = timeLimitSeconds;
  object.edited = { said: `time limit is ${timeLimitSeconds} s`, sinceMs: state.agenda.nowMs };
  if (object.execution) armExecution(state, object, object.execution, endObject);
};

/** The lost node answers again: it kills what survived on it, and says that nothing is left. */
export const returnNode = (state: State, object: ClusterObject): boolean => {
  object.nodeSilent = false;
  for (const execution of state.executions)
    if (execution.survivor && execution.schedulerId === object.id)
      finishExecution(state, execution, { cause: 'node_lost', detail: {}, word: 'NODE_FAIL' });
  return true;
};

/** Writes a mark or `stop`, once and for ever; wakes the guards that wait for it and the runs that it fences. */
export const writeMark = (state: State, tag: string, job: string, mark: { n: number; schedulerId: string } | 'stop'): void => {
  const control = controlOf(state, tag, job);
  const visibleAtMs = state.agenda.nowMs + state.settings.markViewSeconds * 1000;
  const written = { writtenAtMs: state.agenda.nowMs, clusterWrittenAt: clusterNow(state), visibleAtMs };
  if (mark === 'stop') {
    if (control.stop) return;
    control.stop = written;
  } else {
    if (control.marks.has(mark.n)) return;
    control.marks.set(mark.n, { ...mark, ...written });
  }
  lookSoon(state, tag, job, endObject);
  for (const object of state.byJob.get(jobKey(tag, job)) ?? []) {
    if (object.state !== 'running' || object.execution || !isOurs(object)) continue;
    later(state, object, visibleAtMs, () => {
      if (!object.execution && isOurs(object)) beginWrapper(state, object, endObject);
    });
  }
};
