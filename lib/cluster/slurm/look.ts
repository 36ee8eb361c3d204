/**
 * One answer of the controller against what the record last knew. Pure, and made for ten thousand quiet rows: a row about which
 * there is nothing to say is compared field by field and leaves no object behind.
 *
 * Invariants: a target is found by id *and* identity *and* submit time (protocols §4.5); an end is only noticed here, never judged;
 * an unknown word leaves its target as it was.
 */
import { parseIdentity } from '../../job/identity.ts';
import { type FoundObject, type Observation, seenOf, type Target } from '../port.ts';
import { cut } from './cut.ts';
import { stateOf } from './find.ts';
import { findingOf, liveState, runOf } from './live.ts';
import { type ControllerRow, FIELD, readRow, splitRows } from './squeue.ts';
import { stateWord } from './words.ts';

/** A target of which more must be read: it ended, it began another run, or the controller does not know it any more. */
export interface Wanted {
  readonly target: Target;
  readonly row?: ControllerRow;
  /** What the row itself says, where it is alive. */
  readonly live?: Extract<Observation, { kind: 'live' }>;
}

export interface Look {
  readonly changed: readonly Extract<Observation, { kind: 'live' }>[];
  readonly wanted: readonly Wanted[];
  readonly unexplained: readonly FoundObject[];
  /** Rows of which not even the id can be read: each could be about any target that was not met. */
  readonly odd: readonly string[];
  readonly truncated: boolean;
}

export interface LookFacts {
  readonly tag: string;
  readonly cluster: string;
  readonly login: string;
  /** The cluster's clock before the command, milliseconds. */
  readonly clusterStartedAt: number;
}

const [ID, NAME, STATE, REASON, RESTARTS, SUBMIT, ELIGIBLE, COUNT] = [0, 1, 2, 3, 6, 7, 8, 16];

export const lookAt = (text: string, targets: readonly Target[], facts: LookFacts): Look => {
  const { lines, truncated } = splitRows(text);
  const byId = new Map(targets.map((target) => [target.receipt.schedulerId, target]));
  const met = new Set<string>();
  const found: Found = { changed: [], wanted: [], unexplained: [], odd: [] };
  const ours = `d${facts.tag}-`;
  for (const line of lines) {
    const fields = line.split(FIELD);
    const target = byId.get(fields[ID]!);
    if (fields.length !== COUNT) {
      // Its id still says whom it is about: that one was met, and nothing is said of it; the others lose nothing.
      if (target) met.add(target.receipt.schedulerId);
      else if (!/^\d+$/.test(fields[ID]!)) found.odd.push(line.slice(0, 1024));
    } else if (target && isAbout(fields, target)) {
      met.add(target.receipt.schedulerId);
      compare(fields, target, facts, found);
    } else if (fields[NAME]!.startsWith(ours)) explain(fields, facts, found);
  }
  for (const target of targets) if (!met.has(target.receipt.schedulerId)) found.wanted.push({ target });
  return { ...found, truncated };
};

interface Found {
  readonly changed: Extract<Observation, { kind: 'live' }>[];
  readonly wanted: Wanted[];
  readonly unexplained: FoundObject[];
  readonly odd: string[];
}

/** Slurm counts seconds; a receipt of the same second is the same submission. */
const isAbout = (fields: readonly string[], { receipt }: Target): boolean =>
  fields[NAME] === receipt.identity && Number(fields[SUBMIT]) >= Math.floor(receipt.submittedAt / 1000);

const compare = (fields: readonly string[], target: Target, facts: LookFacts, found: Found): void => {
  const word = stateWord(fields[STATE]!);
  const restarts = Number(fields[RESTARTS]);
  if (word.kind === 'unrecognised') return;
  if (word.kind === 'terminal') {
    if (target.seen === seenOf('ended', restarts)) return;
    const row = readRow(fields);
    if (row) found.wanted.push({ target, row });
    return;
  }
  const run = runOf(word.phase, restarts, target);
  const eligible = fields[ELIGIBLE]!;
  const reason = fields[REASON]!;
  const seen = liveState(
    word.phase,
    reason,
    run,
    isNumber(eligible) ? Number(eligible) : undefined,
    facts.clusterStartedAt / 1000,
    target.seen,
  );
  if (seenOf(seen.state, run, seen.group) === target.seen) return;
  const finding = findingOf(seen, run, target, `${fields[STATE]} ${reason}`, facts.clusterStartedAt);
  const live = {
    kind: 'live' as const,
    target,
    state: seen.state,
    run,
    ...(seen.group ? { pending: { group: seen.group, reason: cut(reason, 1024) } } : {}),
    ...(finding ? { finding } : {}),
  };
  const row = run > target.run ? readRow(fields) : undefined;
  // Why the run before ended is known to others only; where nobody can say, the row alone is news enough.
  if (row) found.wanted.push({ target, row, live });
  else found.changed.push(live);
};

const isNumber = (text: string): boolean => text !== '' && text.charCodeAt(0) >= 48 && text.charCodeAt(0) <= 57;

/** An object with our tag that no target explains. One that ended is of no use to anybody: nothing can be done about it. */
const explain = (fields: readonly string[], facts: LookFacts, found: Found): void => {
  const identity = parseIdentity(fields[NAME]!);
  const row = identity ? readRow(fields) : undefined;
  if (!identity || identity.tag !== facts.tag || !row) return;
  const state = stateOf(row, facts.clusterStartedAt);
  if (state === 'ended') return;
  const { cluster, login } = facts;
  const receipt = { cluster, login, schedulerId: row.id, identity: row.name, submittedAt: row.submit * 1000 };
  found.unexplained.push({ n: identity.n, receipt, state, run: row.run });
};
