/**
 * Reader: judges a whole life by rules of its own, with nothing of dispatch's folding or deciding: the record must explain itself,
 * and what really happened on the cluster must agree with it. Every row ends with it.
 */
import { expect } from 'vitest';
import { CAUSES, stateOf } from '../../../lib/job/cause.ts';
import { type Commit, type Event, eventSchema } from '../../../lib/job/event.ts';
import type { Life } from './life.ts';

export interface Allowed {
  /** Kubernetes has no wrapper that could fence what survives on a silent node (P4.7). */
  readonly survivors?: boolean;
  /** Strangers ran a program of ours again: truth's own rules do not bind them. */
  readonly foreign?: boolean;
  /** Errors that this row provokes in the log. */
  readonly errors?: boolean;
}

export const reads = (life: Life, allowed: Allowed = {}): void => {
  const commits = life.commits();
  const wrong = [...judgeLog(commits), ...judgeQuestions(commits), ...judgeWorld(life, allowed)];
  if (!allowed.errors)
    wrong.push(...life.logs.filter((line) => line.level === 'error').map((line) => `${line.message} ${JSON.stringify(line.fields)}`));
  const silent = life.whys().filter(({ why }) => !isSentence(why));
  wrong.push(...silent.map(({ state, why }) => `no sentence in state ${state}: ${why}`));
  expect(wrong).toEqual([]);
};

/** One sentence: begins with a capital, ends with a full stop, tells nothing undefined. */
export const isSentence = (text: string): boolean => /^[A-Z`].{10,}\.$/s.test(text) && !/undefined|null|NaN|\[object|\n/.test(text);

const judgeLog = (commits: readonly Commit[]): string[] => {
  const wrong: string[] = [];
  const ids = new Set<string>();
  let before = 0;
  let cancelled = false;
  let ended = false;
  /** Per attempt: what was seen of it so far. */
  const bound = new Set<number>();
  const intended = new Set<number>();
  const released = new Set<number>();
  const over = new Set<number>();
  const deferred = new Set<number>();
  let planned = 0;
  /** A relaunch that was decided and not yet planned. */
  let decided: Extract<Event, { type: 'recovery_decided' }> | undefined;
  const answers = new Map<string, string>();
  for (const [i, commit] of commits.entries()) {
    const say = (text: string): void => void wrong.push(`version ${commit.version}: ${text}`);
    if (commit.version !== i + 1) say(`follows ${i}`);
    if (commit.at < before) say('is earlier than the one before');
    if (ids.has(commit.commitId)) say('repeats a commit id');
    ids.add(commit.commitId);
    before = commit.at;
    for (const event of commit.events) {
      if (!eventSchema.safeParse(event).success) say(`${event.type} is no event of the contract`);
      if (ended) say(`${event.type} follows job_ended`);
      if (cancelled && ['attempt_planned', 'release_intended', 'requeue_intended', 'recovery_decided'].includes(event.type))
        say(`${event.type} after cancel_requested`);
      switch (event.type) {
        case 'attempt_planned': {
          const again = event.n === planned;
          if (again && !deferred.delete(event.n)) say(`attempt ${event.n} is sent again without a deferral`);
          if (!again && event.n !== planned + 1) say(`attempt ${event.n} follows ${planned}`);
          if (!again && planned > 0 && !over.has(planned)) say(`attempt ${event.n} while ${planned} has not ended`);
          if (!again && event.n > 1 && decided?.n !== event.n - 1) say(`attempt ${event.n} was decided by nobody`);
          if (!again && decided && commit.at < decided.notBefore) say(`attempt ${event.n} comes before its moment`);
          if (!again) decided = undefined;
          planned = event.n;
          break;
        }
        case 'attempt_bound':
          if (bound.has(event.n)) say(`attempt ${event.n} is bound twice`);
          bound.add(event.n);
          break;
        case 'attempt_submission_deferred':
          if (bound.has(event.n)) say(`attempt ${event.n} is deferred and bound`);
          deferred.add(event.n);
          break;
        case 'release_intended':
          if (intended.has(event.n)) say(`attempt ${event.n} is to be released twice`);
          if (!bound.has(event.n)) say(`attempt ${event.n} is to be released and not bound`);
          if ([...intended].some((n) => n !== event.n && !over.has(n))) say('another attempt that was to be released has not ended');
          intended.add(event.n);
          break;
        case 'attempt_released':
          if (released.has(event.n)) say(`attempt ${event.n} is released twice`);
          if (!intended.has(event.n)) say(`attempt ${event.n} is released without the intention`);
          released.add(event.n);
          break;
        case 'attempt_ended':
        case 'attempt_refused':
        case 'attempt_never_landed': {
          const { cause, state, evidence } = event.outcome;
          over.add(event.n);
          if (state !== stateOf(cause) || event.outcome.class !== CAUSES[cause]) say(`${cause} is told as ${state}`);
          if (evidence.length === 0) say(`${cause} without evidence`);
          break;
        }
        case 'attempt_requeued':
          over.delete(event.n);
          break;
        case 'attempt_observed':
          if (event.finding?.kind !== 'active_after_end') over.delete(event.n);
          break;
        case 'recovery_decided':
          if (!over.has(event.n)) say(`recovery of attempt ${event.n}, which has not ended`);
          if (event.by.kind === 'answer' && answers.get(event.by.question) !== event.by.answer)
            say(`decided by an answer that nobody gave: ${event.by.question}`);
          if (event.action.kind === 'relaunch') decided = event;
          break;
        case 'escalation_answered':
        case 'escalation_expired':
          answers.set(event.id, event.answer);
          break;
        case 'cancel_requested':
          cancelled = true;
          break;
        case 'job_ended':
          ended = true;
          break;
      }
    }
  }
  return wrong;
};

/** At most one blocking question at a time; each key asked once, each closed once, none left open by the end. */
const judgeQuestions = (commits: readonly Commit[]): string[] => {
  const wrong: string[] = [];
  const keys = new Set<string>();
  const open = new Map<string, { readonly blocks: boolean; readonly options: readonly string[] }>();
  for (const { version, events } of commits) {
    for (const event of events) {
      if (event.type === 'escalation_raised') {
        const key = `${event.kind} ${event.n} ${event.episode}`;
        if (keys.has(key)) wrong.push(`version ${version}: asks ${key} again`);
        if (event.blocks && [...open.values()].some((other) => other.blocks)) wrong.push(`version ${version}: two blocking questions`);
        if (!event.options.includes(event.onExpiry)) wrong.push(`version ${version}: expires into no option`);
        keys.add(key);
        open.set(event.id, event);
      }
      if (event.type === 'escalation_answered' && !open.get(event.id)?.options.includes(event.answer))
        wrong.push(`version ${version}: ${event.answer} is no answer to ${event.id}`);
      if (event.type === 'escalation_answered' || event.type === 'escalation_expired' || event.type === 'escalation_withdrawn')
        if (!open.delete(event.id)) wrong.push(`version ${version}: ${event.id} was not open`);
      if (event.type === 'job_ended' && open.size > 0) wrong.push(`version ${version}: ends with open questions ${[...open.keys()]}`);
    }
  }
  return wrong;
};

/** What really happened: one program at a time, one execution per run, of nothing but what the record released. */
const judgeWorld = (life: Life, allowed: Allowed): string[] => {
  const wrong: string[] = [];
  const truth = life.world.truth();
  const runs = truth.executions.filter((execution) => execution.job === life.job());
  const events = life.events();
  const seen = new Set<string>();
  for (const [i, execution] of runs.entries()) {
    const { n, run, schedulerId, startedAtMs, base } = execution;
    if (seen.has(`${n}-${run}`)) wrong.push(`run ${n}-${run} executed twice`);
    seen.add(`${n}-${run}`);
    for (const other of runs.slice(0, i)) {
      const apart = (other.endedAtMs ?? Number.POSITIVE_INFINITY) <= startedAtMs || (execution.endedAtMs ?? Infinity) <= other.startedAtMs;
      if (!apart && !allowed.foreign && !(allowed.survivors && other.survivor))
        wrong.push(`runs ${other.n}-${other.run} and ${n}-${run} ran at once`);
    }
    const owned = events.some((event) => event.type === 'attempt_bound' && event.n === n && event.receipt.schedulerId === schedulerId);
    if (!owned) wrong.push(`run ${n}-${run} is of ${schedulerId}, which the record does not hold`);
    if (!events.some((event) => event.type === 'release_intended' && event.n === n)) wrong.push(`run ${n}-${run} was never released`);
    const plan = events.find((event) => event.type === 'attempt_planned' && event.n === n);
    if (run === 0 && plan?.type === 'attempt_planned' && plan.resume.path !== base.path)
      wrong.push(`run ${n}-0 resumed from ${base.path}, not from ${plan.resume.path}`);
  }
  if (life.view().ended) {
    const alive = truth.objects.filter((object) => object.job === life.job() && object.state !== 'ended');
    if (alive.length > 0) wrong.push(`the job ended and ${alive.map((object) => `${object.name} is ${object.state}`).join(', ')}`);
    const running = runs.filter((execution) => execution.endedAtMs === undefined && !execution.survivor);
    if (running.length > 0) wrong.push(`the job ended and ${running.length} programs run`);
  }
  return wrong;
};
