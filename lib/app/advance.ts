/**
 * Advance: the supervisor's hand (design README, Shape). Reads the record, folds it, performs what is next, up to a bound,
 * and tells the machine what to do: the directive. It holds no state; it may crash anywhere, run twice, or run late.
 */
import { answer as answerCommand } from '../job/command.ts';
import { nextStep } from '../job/next-step.ts';
import { seeded } from '../job/seed.ts';
import { TIMING } from '../job/timing.ts';
import { blockingQuestion, fold, type View } from '../job/view.ts';
import { commit } from './commit.ts';
import type { Ports } from './ports.ts';
import { perform } from './step/perform.ts';
import { nothing, type Pace, type Performed } from './step/work.ts';
import { publish } from './wake.ts';

/** The machine that this release's file describes; handlers accept it and the one before (protocols §2.9). */
export const MACHINE = 1;

export interface AdvanceInput {
  readonly machine: number;
  readonly job: string;
  readonly generation: number;
  readonly loops: number;
  /** RFC 3339, as Step Functions says when the execution began. */
  readonly startedAt: string;
  /** `{}`, or the raw result of AwaitAnswer. */
  readonly answer: { readonly question?: string; readonly value?: unknown };
}

export interface Directive {
  readonly next: 'await' | 'answer' | 'again' | 'continue_as_new' | 'done';
  readonly version: number;
  /** Milliseconds since 1970: the moment promised beside the token. */
  readonly until: number;
  /** Whole seconds until then, at least 1: a zero would be an uncatchable error of the machine. */
  readonly seconds: number;
  readonly question: string;
}

export const advance = async (ports: Ports, input: AdvanceInput): Promise<Directive> => {
  const { job, generation } = input;
  const begun = ports.now();
  // A supervisor of an older generation leaves; the first Advance of a higher one raises the head's (protocols §2.8).
  if ((await ports.store.seen(job, generation, input.machine, begun)) === 'superseded') return directive('done', 0, begun, begun);
  let view = await load(ports, job);
  if (!view) return directive('done', 0, begun, begun);
  view = await takeAnswer(ports, view, input);
  const said = await steps(ports, view, begun);
  await ports.store.resetFailures(job);
  const tooLong = input.loops >= TIMING.loopsPerExecution || begun - Date.parse(input.startedAt) > TIMING.executionDays * 86_400_000;
  const renew = said.next !== 'done' && (tooLong || input.machine < MACHINE);
  return renew ? { ...said, next: 'continue_as_new' } : said;
};

/** The head is brought to the version decided from before anything is promised: a dead writer's commit is published here. */
const load = async (ports: Ports, job: string): Promise<View | undefined> => {
  const view = fold(await ports.store.read(job));
  if (view) await publish(ports, view);
  return view;
};

/** The raw result of AwaitAnswer: valid → committed, actor `token`; `{}` is a wake; anything else is ignored (protocols §2.5). */
const takeAnswer = async (ports: Ports, view: View, input: AdvanceInput): Promise<View> => {
  const { question, value } = input.answer;
  if (question === undefined || typeof value !== 'object' || value === null || !('answer' in value)) return view;
  const { answer } = value;
  const committed = await commit(ports, view, 'token', (newest) => {
    const decided = answerCommand(newest, { question, answer, by: 'token' });
    return decided.kind === 'events' ? decided.events : undefined;
  });
  if (!committed.commitId) ports.log('info', 'an answer by token was late or invalid', { job: view.job, question });
  return committed.view;
};

const steps = async (ports: Ports, from: View, begun: number): Promise<Directive> => {
  let view = from;
  for (let i = 0; i < TIMING.advanceSteps && ports.now() - begun < TIMING.advanceSeconds * 1000; i++) {
    const now = ports.now();
    const step = nextStep(view, now);
    if (step.do === 'done') return directive('done', view.version, now, now);
    if (step.do === 'await') return waiting(view, now, step.until, step.question);
    const performed: Performed = await perform(ports, view, step);
    if (performed.kind === 'nothing') return laterTry(ports, performed);
    // Neither learnt nor moved on: without this a step that keeps finding nothing to commit would spin through the machine.
    if (performed.view.version === view.version) return laterTry(ports, nothing(view, `${step.do} changed nothing`));
    view = performed.view;
  }
  const now = ports.now();
  const step = nextStep(view, now);
  if (step.do === 'done') return directive('done', view.version, now, now);
  if (step.do === 'await') return waiting(view, now, step.until, step.question);
  return directive('again', view.version, now, now);
};

/** Moments relative to now, like the safety wake, belong here and not to nextStep (protocols §2.1). */
const waiting = (view: View, now: number, until: number, question: string | undefined): Directive => {
  const safe = Math.min(until, now + TIMING.safetyWakeSeconds * 1000);
  return question ? directive('answer', view.version, now, safe, question) : directive('await', view.version, now, safe);
};

const PACES: Readonly<Record<Exclude<Pace, 'slot'>, readonly [first: number, most: number]>> = {
  retry: [TIMING.retrySeconds, TIMING.retryMostSeconds],
  settle: [TIMING.lookUpSeconds, TIMING.lookUpMostSeconds],
  cancel: [TIMING.cancelAgainSeconds, TIMING.cancelAgainMostSeconds],
};

/** Tries are counted on the head, not folded, and end with the next commit. */
const laterTry = async (ports: Ports, performed: Extract<Performed, { kind: 'nothing' }>): Promise<Directive> => {
  const { view, pace, says } = performed;
  ports.log('info', 'nothing was learnt', { job: view.job, version: view.version, says });
  if (pace === 'slot') return pausing(view, ports.now(), slotAgainAt(view, performed.notBefore ?? 0, ports.now()));
  const tries = await ports.store.countTry(view.job, view.version);
  const now = ports.now();
  if (tries === 'stale') return directive('again', view.version, now, now);
  const [first, most] = PACES[pace];
  const ceiling = Math.min(first * 2 ** (tries - 1), most);
  // Equal jitter: never sooner than half, so that a settle time is not hammered.
  const seconds = ceiling / 2 + (seeded(`${view.job}:${view.version}:${tries}`) * ceiling) / 2;
  const later = now + Math.ceil(seconds * 1000);
  const { decidesAt } = performed;
  return pausing(view, now, decidesAt !== undefined && decidesAt > now ? Math.min(later, decidesAt) : later);
};

/**
 * Seconds, not minutes: a share of what was waited since the last commit, so that many who wait for few slots neither hammer nor
 * sleep through a free one (protocols §5.8). Not counted as a try: the cluster was not asked.
 */
const slotAgainAt = (view: View, notBefore: number, now: number): number => {
  const waitedSeconds = (now - view.updatedAt) / 1000;
  const ceiling = Math.min(Math.max(waitedSeconds / 3, TIMING.slotSeconds), TIMING.slotMostSeconds);
  const jitter = 0.5 + seeded(`${view.job}:${view.version}:${now}`) / 2;
  // Not past what a try may wait at most: what is due may change meanwhile, the deadline for one.
  const from = Math.min(Math.max(now, notBefore), now + TIMING.retryMostSeconds * 1000);
  return from + Math.ceil(ceiling * jitter * 1000);
};

const pausing = (view: View, now: number, until: number): Directive => {
  const question = blockingQuestion(view);
  return question
    ? directive('answer', view.version, now, Math.min(until, question.expiresAt), question.id)
    : directive('await', view.version, now, until);
};

const directive = (next: Directive['next'], version: number, now: number, until: number, question = ''): Directive => ({
  next,
  version,
  until,
  seconds: Math.max(1, Math.ceil((until - now) / 1000)),
  question,
});
