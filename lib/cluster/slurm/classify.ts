/**
 * Classification: what the sources say together about how an attempt's object ended, as one typed outcome (contract §3).
 * Precedence: identity · the controller's record · the newest accounting row · the steps · the run's own result · the error file.
 *
 * Invariants: a live word of the controller beats a terminal row of the database (C013, C024); one that could not be asked says
 * nothing; the scheduler's terminal word decides success and the result file only the code (C001), where both contradict each
 * other that is the outcome (C008); an exit code counts only beside a state that is an end by itself.
 */
import { type Cause, type Evidence, type Outcome, outcomeOf } from '../../job/cause.ts';
import type { Result } from './control-files.ts';
import { causeOf, type Finding } from './end-table.ts';
import { evidenceOf } from './evidence.ts';
import type { Accounting, AccountingRow, WhichObject } from './sacct.ts';
import { rowsAbout } from './sacct.ts';
import { type Signatures, signatures } from './signatures.ts';
import type { ControllerRow } from './squeue.ts';
import { stateWord, type TerminalWord } from './words.ts';

/** What was found in the job's control folder about one run. Absent: the folder could not be read, or the job is not ours. */
export interface RunFiles {
  readonly claimed: boolean;
  readonly result?: Result;
  readonly refused?: { readonly stage: string; readonly says: string };
}

export interface Sources {
  readonly object: WhichObject;
  readonly released: boolean;
  /** The user id of the login: tells our own cancels from those of others. */
  readonly uid?: number;
  /** Undefined: the controller answered and does not know the id. */
  readonly controller?: ControllerRow;
  readonly accounting: Accounting;
  /** The last run that any source knows of, and what was found about it. */
  readonly run?: number;
  readonly files?: RunFiles;
  readonly stderr: string;
  readonly observedAt: number;
}

export type Classified =
  | { readonly kind: 'ended'; readonly run: number; readonly outcome: Outcome; readonly gone: boolean; readonly missing: readonly string[] }
  /** Not ended, or nothing that says how: look again. `known`: some source still speaks of it as alive. */
  | { readonly kind: 'unsettled'; readonly known: boolean };

/** Everything the table needs to know of one end, from whichever source is trusted most. */
export interface End {
  readonly word: TerminalWord;
  readonly controller?: ControllerRow;
  readonly row?: AccountingRow;
  readonly byUid?: number;
  readonly uid?: number;
  readonly released: boolean;
  readonly accounting: Accounting['kind'];
  readonly files?: RunFiles;
  readonly signs: Signatures;
}

export const classify = (sources: Sources): Classified => {
  const { controller, accounting, object } = sources;
  const rows = accounting.kind === 'rows' ? rowsAbout(accounting.rows, object) : [];
  const newest = rows.at(-1);
  const said = controller && stateWord(controller.state);
  // A live or unknown word of the controller is the truth for now, whatever the database already or still says.
  if (said && said.kind !== 'terminal') return { kind: 'unsettled', known: true };
  const recorded = newest && stateWord(newest.state);
  const row = recorded?.kind === 'terminal' ? newest : undefined;
  const run = controller?.run ?? sources.run ?? Math.max(0, rows.length - 1);
  const word = said?.word ?? (recorded?.kind === 'terminal' ? recorded.word : undefined);
  if (word === undefined) return withoutWord(sources, newest, recorded?.kind === 'live', run);
  const end: End = {
    word,
    released: sources.released,
    accounting: accounting.kind,
    signs: signatures(sources.stderr, object.schedulerId),
    ...(controller ? { controller } : {}),
    ...(row ? { row } : {}),
    ...(recorded?.kind === 'terminal' && recorded.byUid !== undefined ? { byUid: recorded.byUid } : {}),
    ...(sources.uid === undefined ? {} : { uid: sources.uid }),
    ...(sources.files ? { files: sources.files } : {}),
  };
  const missing = missingOf(end);
  const found = causeOf(end);
  return ended(sources, run, found, evidenceOf(sources, row), missing, SAID_BY_NODES.has(word));
};

/**
 * Ends that the node of the batch step itself has reported. The other words are the controller's own: it also closes what it ended on a node
 * that had stopped answering, and what runs there runs on. Of those only the run's result proves that nothing is left.
 */
const SAID_BY_NODES: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'OUT_OF_MEMORY']);

/** Evidence that the end's cause may hang on and that has not arrived. */
const missingOf = (end: End): readonly string[] => {
  const missing: string[] = [];
  if (end.row === undefined && end.accounting !== 'none') missing.push('accounting');
  // Only a program that ended by itself leaves a result for certain; one that was killed may not have had the time.
  const leavesResult = end.word === 'COMPLETED' || (end.word === 'FAILED' && end.files?.claimed === true);
  if (leavesResult && end.files && !end.files.result && !end.files.refused) missing.push('result');
  return missing;
};

/** Neither source has a terminal word that we know. */
const withoutWord = (sources: Sources, newest: AccountingRow | undefined, isLive: boolean, run: number): Classified => {
  const { accounting, files, object } = sources;
  if (newest && !isLive && newest.end !== undefined) {
    // C004: a new word, an end time, and the controller does not know it any more: it ended, we cannot say how.
    const found: Finding = { cause: 'unrecognised', detail: { word: newest.state }, ran: newest.elapsedSeconds > 0 ? 'yes' : 'unknown' };
    return ended(sources, run, found, evidenceOf(sources, newest), [], false);
  }
  if (files?.result) {
    return ended(
      sources,
      files.result.run,
      ofResult(files.result),
      evidenceOf(sources, newest),
      accounting.kind === 'none' ? [] : ['accounting'],
      true,
    );
  }
  if (files?.refused) {
    const found: Finding =
      files.refused.stage === 'told'
        ? { cause: 'cancelled_by_unknown', confidence: 'guess', ran: 'no' }
        : { cause: 'launch_failed', detail: { stage: files.refused.stage, message: files.refused.says }, ran: 'no' };
    const missing = files.refused.stage === 'told' && accounting.kind !== 'none' ? ['accounting'] : [];
    return ended(sources, run, found, evidenceOf(sources, newest), missing, true);
  }
  const { killed } = signatures(sources.stderr, object.schedulerId);
  if (accounting.kind === 'none' && killed && killed !== 'requeue') {
    const cause: Cause = (
      { preemption: 'preempted', time_limit: 'time_limit', node_failure: 'node_lost', cancel: 'cancelled_by_unknown' } as const
    )[killed];
    return ended(sources, run, { cause, confidence: 'likely' }, evidenceOf(sources, newest), [], killed !== 'node_failure');
  }
  return { kind: 'unsettled', known: isLive };
};

/** What the run itself wrote, where no scheduler remembers it. */
const ofResult = (result: Result): Finding => {
  if (result.stopped === 'time_limit') return { cause: 'time_limit', detail: { clock: 'wrapper' }, confidence: 'likely' };
  if (result.stopped === 'fenced') return { cause: 'cancelled_by_dispatch', detail: { reason: 'fenced' }, confidence: 'likely' };
  if (result.told) return { cause: 'cancelled_by_unknown', confidence: 'guess' };
  if (result.exit === 0) return { cause: 'completed', confidence: 'likely' };
  return result.signal
    ? { cause: 'signalled', detail: { signal: result.signal, code: result.exit }, confidence: 'likely' }
    : { cause: 'exited', detail: { code: result.exit }, confidence: 'likely' };
};

const ended = (
  { observedAt }: Sources,
  run: number,
  found: Finding,
  evidence: readonly Evidence[],
  missing: readonly string[],
  gone: boolean,
): Classified => {
  const confidence = found.confidence ?? 'certain';
  const outcome = outcomeOf(found.cause, {
    observedAt,
    detail: found.detail ?? {},
    evidence: [...evidence],
    confidence: missing.length > 0 && confidence === 'certain' ? 'likely' : confidence,
    ran: found.ran ?? 'yes',
  });
  return { kind: 'ended', run, outcome, gone: gone || outcome.ran === 'no', missing };
};
