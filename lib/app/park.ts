/**
 * Park: a waiting supervisor leaves its token where writers will find it (protocols §2.2, §2.5).
 * Guards: stored only for the version that was decided from, and only in order; a late or retried Park of an older wait can
 * never overwrite the living token. A Park that is too late throws StaleDecision, which the machine catches back to Advance.
 */
import { nextStep } from '../job/next-step.ts';
import type { TokenOrder } from '../record/port.ts';
import { loadView } from './load.ts';
import { notifyReissued } from './notify.ts';
import type { Ports } from './ports.ts';
import { mustWake } from './wake.ts';

export interface ParkInput {
  readonly machine: number;
  readonly job: string;
  readonly generation: number;
  readonly token: string;
  readonly version: number;
  readonly until: number;
  /** '' in AwaitWake. */
  readonly question: string;
  /** RFC 3339, when the machine entered the state. */
  readonly enteredAt: string;
  readonly retry: number;
}

/** The record moved on: Advance has something newer to decide from. */
export class StaleDecision extends Error {
  override readonly name = 'StaleDecision';
}

/** A newer generation supervises this job: this one leaves. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

export const park = async (ports: Ports, input: ParkInput): Promise<void> => {
  const { job, token, version, until, question } = input;
  const order = { generation: input.generation, enteredAt: Date.parse(input.enteredAt), retry: input.retry };
  // A token that still lies there was neither answered nor woken: a person may hold it, and this one takes its place.
  const before = question === '' || !ports.bus ? undefined : await ports.store.readWake(job, question);
  const parked = await ports.store.park(job, question, { token, order, version, until, question });
  if (parked === 'superseded') throw new Superseded(`generation ${input.generation} of job ${job} was replaced`);
  if (parked === 'stale') throw new StaleDecision(`job ${job} moved on from version ${version}`);
  if (question !== '') await lookAgain(ports, input);
  if (before && before.token !== token) await tellReissued(ports, input, order);
};

const tellReissued = async (ports: Ports, { job, version, question }: ParkInput, order: TokenOrder): Promise<void> => {
  const view = await loadView(ports.store, job);
  const asked = view?.questions.find((one) => one.id === question);
  if (view && asked && !asked.closed) await notifyReissued(ports, view, asked, { version, ...order });
};

/**
 * Stored beside the question and not under the head's version: so the log is read once more, after storing (E1, E2). A record that
 * has not moved is what Advance decided from: a step that is due but could get nowhere was promised its next try at `until`, and
 * judging it again here would only turn in circles.
 */
const lookAgain = async (ports: Ports, input: ParkInput): Promise<void> => {
  const view = await loadView(ports.store, input.job);
  if (view?.version === input.version) return;
  const now = ports.now();
  if (!view || mustWake(view, input, now)) {
    throw new StaleDecision(`job ${input.job}: ${view ? nextStep(view, now).do : 'nothing'} is next, not an answer to ${input.question}`);
  }
};
