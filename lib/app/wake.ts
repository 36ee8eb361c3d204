/**
 * Wake: bringing the head forward and waking whom the new version concerns (protocols §2.3, §2.5).
 * Guards: no order of park and commit loses a wake, and at most one writer ever takes a token. The judgement is made on the
 * fold of everything up to the version written, never on one event, so it does not matter who lags or died.
 */
import { nextStep } from '../job/next-step.ts';
import type { View } from '../job/view.ts';
import type { Wake } from '../record/port.ts';
import { type Made, notify } from './notify.ts';
import { type Ports, SupervisorsFailure } from './ports.ts';
import { summaryOf } from './summary.ts';

const TRIES = 8;

/** Whether a supervisor that was promised this wake must look earlier: `after` is the fold up to the writer's version. */
export const mustWake = (after: View, wake: Pick<Wake, 'until' | 'question'>, now: number): boolean => {
  const step = nextStep(after, now);
  return step.do !== 'await' || step.until < wake.until || (step.question ?? '') !== wake.question;
};

/**
 * Moves the head to the view's version, takes the token in the same update where it must, and signals it. `awake`: the writer is
 * the supervisor itself, so probably no token is parked. `made`: the commit that the view ends with, where the caller has it in hand.
 */
export const publish = async (ports: Ports, view: View, awake = false, made?: Made): Promise<void> => {
  const moved = await moveHead(ports, view, awake);
  await wakeQuestion(ports, view);
  // Whoever moved the head tells of it (P2.7); another writer's move is another writer's to tell.
  if (moved) await notify(ports, view.job, made);
};

/** Whether it was this call that moved it. */
const moveHead = async (ports: Ports, view: View, awake: boolean): Promise<boolean> => {
  for (let i = 0; i < TRIES; i++) {
    // The first update of one who is awake demands that no token is parked, which needs no read: if one is, that is `token_changed`.
    const presumed = awake && i === 0;
    const head = presumed ? undefined : await ports.store.readHead(view.job);
    // A head that is ahead was moved by a writer who folded a longer log, and judged it.
    if (!presumed && (!head || head.version >= view.version)) return false;
    const parked = head?.wake?.state === 'parked' ? head.wake : undefined;
    const at = ports.now();
    const take = parked !== undefined && mustWake(view, parked, at);
    const answer = await ports.store.moveHead(view.job, {
      version: view.version,
      summary: summaryOf(view),
      token: parked?.token,
      take,
      at,
    });
    if (answer === 'behind') return false;
    if (answer === 'moved') {
      if (take) await signal(ports, view.job, '', parked.token);
      return true;
    }
    // `token_changed`: Park stored one in between, or before what was presumed. Read and judge again (W5).
  }
  ports.log('warn', 'head not moved: its token changed at every try', { job: view.job, version: view.version });
  return false;
};

/** The token of the last blocking question, judged by itself whether the head moved or not; whether it was taken. */
export const wakeQuestion = async (ports: Ports, view: View): Promise<boolean> => {
  const question = view.questions.findLast((q) => q.blocks);
  if (!question) return false;
  const wake = await ports.store.readWake(view.job, question.id);
  const now = ports.now();
  // E5: a token parked by a supervisor that already knew this version stays.
  if (wake?.state !== 'parked' || wake.version >= view.version || !mustWake(view, wake, now)) return false;
  if ((await ports.store.takeWake(view.job, question.id, wake.token, now, view.version)) !== 'taken') return false;
  await signal(ports, view.job, question.id, wake.token);
  return true;
};

/** Sends an owed wake and, when it arrived or was superseded, forgets it. When the service fails, it stays owed for the sweep. */
export const signal = async (ports: Ports, job: string, slot: string, token: string): Promise<void> => {
  try {
    await ports.supervisors.signal(token);
  } catch (error) {
    if (!(error instanceof SupervisorsFailure)) throw error;
    ports.log('warn', 'wake stays owed', { job, slot, code: error.code });
    return;
  }
  await ports.store.clearWake(job, slot, token);
};

/** Sends again what is owed for longer than the bound (protocols §2.4). Bounded per call; the next sweep does the rest. */
export const sendOwed = async (ports: Ports, olderThanMs: number, limit = 100): Promise<number> => {
  const owed = await ports.store.listOwed(ports.now() - olderThanMs, limit);
  for (const { job, slot } of owed) {
    const wake = await ports.store.readWake(job, slot);
    if (wake?.state === 'owed') await signal(ports, job, slot, wake.token);
  }
  return owed.length;
};
