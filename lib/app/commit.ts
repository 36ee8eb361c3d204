/**
 * Commit: the one way in which anything becomes part of a record (protocols §1.2).
 * Guards promise 4. The caller's `decide` is asked with the newest view, and asked again after every conflict: what it
 * returns for the new view is what counts, so a conflict drops a decision and never a fact.
 */
import { AssertionFailed } from '../job/assertion.ts';
import { type Commit, type Event, type EventType, eventSchema, SCHEMA } from '../job/event.ts';
import { RecordFailure } from '../job/failure.ts';
import { LOG_ENDS_ONLY } from '../job/limit.ts';
import { withWithdrawals } from '../job/moot.ts';
import { overOf } from '../job/over.ts';
import { fold, type View } from '../job/view.ts';
import { loadView, refresh } from './load.ts';
import type { Ports } from './ports.ts';
import { publish } from './wake.ts';

const CONFLICTS = 5;

export const SUPERVISOR = 'supervisor';
/** Actors that are the job's supervisor at work, or speak through it: it does not wait meanwhile. */
const AWAKE: ReadonlySet<string> = new Set([SUPERVISOR, 'token']);

/** What only tells how it goes on, and may do so for ever: a record that is nearly full keeps its room for how it ends. */
const NEWS: ReadonlySet<EventType> = new Set(['attempt_observed', 'checkpoint_published']);

export interface Committed {
  readonly view: View;
  /** The commit that this call made; undefined when `decide` had nothing to say (any more). */
  readonly commitId?: string;
}

/** Events for this view, or nothing. `over` explains withdrawals when the job's time is up. */
export type Decide = (view: View, now: number) => readonly Event[] | undefined;

/** Decides on, appends to and publishes a job's record. Throws RecordFailure after five conflicts in a row or an outage. */
export const commit = async (ports: Ports, from: View | string, actor: string, decide: Decide): Promise<Committed> => {
  let view = typeof from === 'string' ? await loadView(ports.store, from) : from;
  if (!view) throw new AssertionFailed(`job ${from as string} has no record`);
  for (let i = 0; i <= CONFLICTS; i++) {
    // Nothing follows job_ended (S4), whatever was learnt meanwhile.
    if (view.ended) return { view };
    const now = ports.now();
    const events = decide(view, now);
    if (!events || events.length === 0) return { view };
    if (view.version >= LOG_ENDS_ONLY && events.every(({ type }) => NEWS.has(type))) return { view };
    const made = compose(view, events, actor, now, ports.random);
    if ((await ports.store.append(made)) === 'appended') {
      const after = fold([made], view) as View;
      await publish(ports, after, AWAKE.has(actor), { before: view, commit: made });
      return { view: after, commitId: made.commitId };
    }
    await ports.sleep(Math.ceil(ports.random() * 20 * 2 ** i));
    view = await refresh(ports.store, view);
  }
  throw new RecordFailure('record/unavailable', `job ${view.job}: ${CONFLICTS} conflicts in a row at version ${view.version + 1}`);
};

const compose = (view: View, events: readonly Event[], actor: string, now: number, random: () => number): Commit => {
  const commitId = newCommitId(random);
  const over = overOf(view, now);
  const timeIsUp =
    over && over.kind !== 'cancel' && over.kind !== 'answer'
      ? `the job's ${over.kind === 'deadline' ? 'deadline' : 'wall clock'} has passed`
      : undefined;
  const meta = { job: view.job, version: view.version + 1, commitId, at: now };
  const all = withWithdrawals(view, events, meta, timeIsUp);
  return { ...meta, actor, schema: SCHEMA, events: all.map(checked) };
};

/** What leaves this process for the record has been checked; a failure here is our own mistake. */
export const checked = (event: Event): Event => {
  const parsed = eventSchema.safeParse(event);
  if (!parsed.success)
    throw new AssertionFailed(`event ${event.type}: ${parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`);
  return parsed.data;
};

export const newCommitId = (random: () => number): string =>
  Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 30).toString(36)).join('');
