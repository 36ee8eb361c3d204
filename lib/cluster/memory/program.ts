/**
 * The wrapper and the program it runs on the memory cluster: guard, claim, base, publications, the look every minute whether it was
 * fenced (protocols §4.2, §6.3). On the kubernetes shape there is no wrapper: what is unsuspended runs (P4.7).
 * Guards S1: on the slurm shape nothing but an object that its attempt's mark names ever starts a program, and once per run.
 */
import { epochOf } from '../../job/identity.ts';
import { announce, baseFor, FENCE_LOOK_SECONDS, fencedBy, GRACE_SECONDS, GUARD_SECONDS, judge, runKey } from './control.ts';
import { type Ending, endingOf, refusedByWrapper, stoppedByWrapper } from './ending.ts';
import { environmentOf } from './environment.ts';
import type { ClusterObject, Execution } from './object.ts';
import { controlOf, jobKey, runScriptOf, type State } from './state.ts';

export type EndObject = (state: State, object: ClusterObject, ending: Ending) => void;

/** An object of one of dispatch's submissions; only those have a wrapper and a program. */
type Ours = ClusterObject & { readonly submission: NonNullable<ClusterObject['submission']>; readonly tag: string };
export const isOurs = (object: ClusterObject): object is Ours => object.submission !== undefined && object.tag !== undefined;

/** The wrapper begins on its nodes: judges, and starts the program, waits for its mark, or refuses. */
export const beginWrapper = (state: State, object: Ours, end: EndObject): void => {
  if (state.settings.shape === 'kubernetes') {
    startProgram(state, object, end);
    return;
  }
  const control = controlOf(state, object.tag, object.submission.job);
  const own = { n: object.submission.n, run: object.run, schedulerId: object.id };
  const verdict = judge(control, own, state.agenda.nowMs);
  if (verdict.kind === 'go') {
    startProgram(state, object, end);
    return;
  }
  const beganAtMs = (object.startedAtMs ?? state.agenda.nowMs) + runScriptOf(object).startsSeconds * 1000;
  const refuseAtMs = beganAtMs + GUARD_SECONDS * 1000;
  if (verdict.kind === 'wait' && state.agenda.nowMs < refuseAtMs) {
    const era = object.era;
    state.agenda.at(refuseAtMs, () => {
      if (object.era === era && !object.execution) beginWrapper(state, object, end);
    });
    return;
  }
  const why = verdict.kind === 'refuse' ? verdict.why : `no release mark of attempt ${own.n} within ${GUARD_SECONDS} s`;
  refuse(state, object, 'guard', why, end);
};

const refuse = (state: State, object: Ours, stage: 'guard' | 'checkpoint', why: string, end: EndObject): void => {
  const { refused } = controlOf(state, object.tag, object.submission.job);
  refused.push({ schedulerId: object.id, run: object.run, why, atMs: state.agenda.nowMs });
  end(state, object, refusedByWrapper(stage, why));
};

const startProgram = (state: State, object: Ours, end: EndObject): void => {
  const { submission, run, tag } = object;
  const { job, n } = submission;
  const control = controlOf(state, tag, job);
  const nonce = Math.floor(state.random() * 2 ** 32).toString(16);
  if (state.settings.shape === 'slurm') {
    const atMs = state.agenda.nowMs;
    const visibleAtMs = atMs + state.settings.markViewSeconds * 1000;
    control.claims.set(runKey(n, run), { n, run, text: `${object.id}-${run}-${nonce}`, atMs, visibleAtMs });
    // Its claim fences whatever run of the same attempt still lives, also when it is all that comes of it.
    lookSoon(state, tag, job, end);
    if (run > 0 && state.faults.pubUnreadable) {
      refuse(state, object, 'checkpoint', 'the publications cannot be listed on this node', end);
      return;
    }
  }
  const base = baseFor(control, n, run, submission.resume);
  control.bases.push({ n, run, base });
  const script = runScriptOf(object).program;
  const execution: Execution = {
    job,
    tag,
    n,
    run,
    epoch: epochOf(n, run),
    schedulerId: object.id,
    base,
    environment: environmentOf(submission, { root: state.settings.root, tag, n, run, base, nodes: object.nodes }),
    startedAtMs: state.agenda.nowMs,
    script: { ...script, publishes: script.publishes.toSorted((a, b) => a.atSeconds - b.atSeconds) },
    survivor: false,
    nodeSilent: false,
    endsAfterSeconds: script.ends === 'hangs' ? Number.POSITIVE_INFINITY : script.runsSeconds,
    published: 0,
    pausedMs: 0,
    era: 0,
  };
  object.execution = execution;
  object.everRan = true;
  state.executions.push(execution);
  const key = jobKey(tag, job);
  const known = state.executionsByJob.get(key);
  if (known) known.push(execution);
  else state.executionsByJob.set(key, [execution]);
  // What its guard could not see yet, a mark that shows late, ends it at a later look.
  const overruled = fencedBy(control, execution, Number.POSITIVE_INFINITY) !== undefined;
  if (state.settings.shape === 'slurm' && overruled)
    lookOnce(state, execution, execution.startedAtMs + state.settings.markViewSeconds * 1000, end);
  armExecution(state, object, execution, end);
};

/** Enters what the program does next: announce, end, or meet the time limit, which its wrapper enforces too. */
export const armExecution = (state: State, object: ClusterObject, execution: Execution, end: EndObject): void => {
  if (execution.endedAtMs !== undefined || execution.pausedAtMs !== undefined) return;
  const era = ++execution.era;
  const publication = execution.script.publishes[execution.published];
  const limit = Math.min(object.timeLimitSeconds, execution.limitSeconds ?? Number.POSITIVE_INFINITY);
  const next = Math.min(publication?.atSeconds ?? Number.POSITIVE_INFINITY, execution.endsAfterSeconds, limit);
  state.agenda.at(execution.startedAtMs + execution.pausedMs + next * 1000, () => {
    if (execution.era !== era || execution.endedAtMs !== undefined) return;
    if (publication && publication.atSeconds === next) {
      publish(state, execution, publication);
      armExecution(state, object, execution, end);
    } else stopExecution(state, object, execution, endOf(execution, object, next === limit && next < execution.endsAfterSeconds), end);
  });
};

const endOf = (execution: Execution, object: ClusterObject, byLimit: boolean): Ending => {
  if (execution.fenced) return stoppedByWrapper(execution.fenced.why);
  const ends = execution.script.ends;
  return endingOf(byLimit || ends === 'hangs' ? 'time_limit' : ends, object.nodes);
};

const publish = (state: State, execution: Execution, { step, path }: { step: number; path?: string | undefined }): void => {
  const { n, run } = execution;
  const reached = step + (execution.script.ignoresResume ? 0 : Math.max(0, execution.base.step));
  const publication = { epoch: execution.epoch, step: reached, path: path ?? `exec/${n}-${run}/step-${reached}` };
  const by = { schedulerId: execution.schedulerId, atMs: state.agenda.nowMs };
  execution.published += 1;
  announce(controlOf(state, execution.tag, execution.job), publication, by);
};

/** The program ends; its object with it, unless that ended before. */
const stopExecution = (state: State, object: ClusterObject, execution: Execution, ending: Ending, end: EndObject): void => {
  if (!execution.survivor && object.execution === execution) end(state, object, ending);
  else finishExecution(state, execution, ending);
};

export const finishExecution = (state: State, execution: Execution, ending: Ending): void => {
  if (execution.endedAtMs !== undefined) return;
  execution.endedAtMs = state.agenda.nowMs;
  execution.how = ending.cause;
  if (ending.result) controlOf(state, execution.tag, execution.job).results.set(runKey(execution.n, execution.run), ending.cause);
};

/** After a mark, a claim or `stop` was written: every living run of the job finds it at its next look. */
export const lookSoon = (state: State, tag: string, job: string, end: EndObject): void => {
  if (state.settings.shape === 'kubernetes') return;
  const visibleAtMs = state.agenda.nowMs + state.settings.markViewSeconds * 1000;
  for (const execution of state.executionsByJob.get(jobKey(tag, job)) ?? [])
    if (execution.endedAtMs === undefined) lookOnce(state, execution, visibleAtMs, end);
};

/** At its first look from that moment on. */
const lookOnce = (state: State, execution: Execution, fromMs: number, end: EndObject): void => {
  const everyMs = FENCE_LOOK_SECONDS * 1000;
  const looks = Math.max(1, Math.ceil((fromMs - execution.startedAtMs) / everyMs));
  state.agenda.at(execution.startedAtMs + looks * everyMs, () => lookNow(state, execution, end));
};

/** What is fenced is told to end, and ended once its time of grace is over. */
export const lookNow = (state: State, execution: Execution, end: EndObject): void => {
  if (execution.endedAtMs !== undefined || execution.pausedAtMs !== undefined) return;
  const { nowMs } = state.agenda;
  const why = execution.fenced?.why ?? fencedBy(controlOf(state, execution.tag, execution.job), execution, nowMs);
  if (why === undefined) return;
  if (!execution.fenced) {
    const killAtMs = nowMs + GRACE_SECONDS * 1000;
    execution.fenced = { why, killAtMs };
    state.agenda.at(killAtMs, () => lookNow(state, execution, end));
    return;
  }
  const object = state.byJob
    .get(jobKey(execution.tag, execution.job))
    ?.find((other) => other.execution === execution || other.id === execution.schedulerId);
  if (object && nowMs >= execution.fenced.killAtMs) stopExecution(state, object, execution, stoppedByWrapper(why), end);
};
