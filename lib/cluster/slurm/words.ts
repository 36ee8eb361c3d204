/**
 * Slurm's state words: one word per job, a flag hiding the base state where one is set (COMPLETING hides the outcome).
 *
 * Invariants: COMPLETING is never an end (C013); only a whole, known word is a state: a cut word (`CANCELLED+`) or a new one is
 * unrecognised and changes nothing by itself (C003, C004).
 */

/** What a word says about an object that has not ended. */
export type LivePhase = 'pending' | 'held' | 'starting' | 'running' | 'suspended' | 'ending';

export const LIVE: Readonly<Record<string, LivePhase>> = {
  PENDING: 'pending',
  REQUEUED: 'pending',
  REQUEUE_FED: 'pending',
  EXPEDITING: 'pending',
  REQUEUE_HOLD: 'held',
  SPECIAL_EXIT: 'held',
  RESV_DEL_HOLD: 'held',
  CONFIGURING: 'starting',
  RUNNING: 'running',
  SIGNALING: 'running',
  STAGE_OUT: 'running',
  RESIZING: 'running',
  SUSPENDED: 'suspended',
  STOPPED: 'suspended',
  COMPLETING: 'ending',
};

export const TERMINAL_WORDS = [
  'COMPLETED',
  'CANCELLED',
  'FAILED',
  'TIMEOUT',
  'NODE_FAIL',
  'PREEMPTED',
  'BOOT_FAIL',
  'DEADLINE',
  'OUT_OF_MEMORY',
  'REVOKED',
] as const;
export type TerminalWord = (typeof TERMINAL_WORDS)[number];

export type StateWord =
  | { readonly kind: 'live'; readonly phase: LivePhase; readonly word: string }
  /** `byUid`: who cancelled, where accounting says so. */
  | { readonly kind: 'terminal'; readonly word: TerminalWord; readonly byUid?: number }
  | { readonly kind: 'unrecognised'; readonly word: string };

const KNOWN = new Map<string, StateWord>([
  ...Object.entries(LIVE).map(([word, phase]) => [word, { kind: 'live', phase, word }] as const),
  ...TERMINAL_WORDS.map((word) => [word, { kind: 'terminal', word }] as const),
]);

/** `RUNNING`, `CANCELLED by 5001`, … Anything that is not exactly a known form is unrecognised. */
export const stateWord = (text: string): StateWord => {
  const known = KNOWN.get(text);
  if (known) return known;
  const by = /^CANCELLED by (\d+)$/.exec(text);
  return by ? { kind: 'terminal', word: 'CANCELLED', byUid: Number(by[1]) } : { kind: 'unrecognised', word: text };
};

/**
 * A list of state and flags (Slurm ≥ 23.11 says them together), as the one word that the text forms would print: flags hide states.
 * Empty: nothing is known yet (C010).
 */
export const stateOfList = (words: readonly string[]): StateWord | undefined => {
  const flag = words.find((word) => FLAGS.has(word));
  const first = flag ?? words[0];
  return first === undefined ? undefined : stateWord(first);
};

const FLAGS = new Set([
  'COMPLETING',
  'STAGE_OUT',
  'CONFIGURING',
  'EXPEDITING',
  'RESIZING',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'SPECIAL_EXIT',
  'STOPPED',
  'REVOKED',
  'RESV_DEL_HOLD',
  'SIGNALING',
]);
