/**
 * The one look at the controller: every job of this login in one command, whatever their number. The same answer serves
 * observation and look-ups by identity, because names are compared here and never there (`--name` makes the controller pack the
 * whole queue, and ignores case).
 *
 * Invariants: no `-j` (one unknown id would fail the whole look); an odd row never costs the others; an answer whose last row is
 * not whole is truncated and proves no absence.
 */
export const FIELD = '\x1f';
export const ROW = '\x1e';

/** A colon without a number means unlimited width (Slurm 21.08 to 25.11); without the colon a field is cut to 20 characters. */
const FIELDS = [
  'JobID',
  'Name',
  'State',
  'Reason',
  'exit_code',
  'derivedec',
  'restartcnt',
  'SubmitTime',
  'EligibleTime',
  'StartTime',
  'EndTime',
  'deadline',
  'preempttime',
  'BatchHost',
  'NodeList',
  'Partition',
] as const;
const FORMAT = FIELDS.map((field, i) => `${field}:${i + 1 < FIELDS.length ? FIELD : ROW}`).join(',');

/** The arguments. `-t all`: finished jobs are hidden otherwise, also those that ended since the last look. */
export const squeueArguments = (): readonly string[] => ['squeue', '--me', '--local', '-h', '-t', 'all', '-O', FORMAT];

/** One row as the controller said it; times in seconds since 1970, undefined where unset. */
export interface ControllerRow {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string;
  readonly exit: WaitStatus | undefined;
  readonly derived: WaitStatus | undefined;
  readonly run: number;
  readonly submit: number;
  readonly eligible: number | undefined;
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly preempt: number | undefined;
  readonly nodes: string;
  readonly partition: string;
}

export interface WaitStatus {
  readonly code: number;
  readonly signal: number;
}

/** `code:signal` (sacct, scontrol, squeue ≥ 23.02) or the raw wait status (squeue ≤ 22.05: 768 is exit 3). */
export const waitStatus = (text: string): WaitStatus | undefined => {
  const pair = /^(\d+):(\d+)$/.exec(text);
  if (pair) return { code: Number(pair[1]), signal: Number(pair[2]) };
  if (!/^\d+$/.test(text)) return undefined;
  const raw = Number(text);
  return { code: (raw >> 8) & 255, signal: raw & 127 };
};

/** Seconds, or undefined for `N/A`, `None`, `Unknown`, `NONE` and whatever else is no number. */
export const seconds = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);

export interface ControllerLook {
  readonly rows: readonly ControllerRow[];
  /** Rows that could not be read: evidence, and a reason not to believe an absence. */
  readonly odd: readonly string[];
  readonly truncated: boolean;
}

/** Splits the answer into the fields of each row, without reading them: what even a quiet poll must do. */
export const splitRows = (text: string): { readonly lines: readonly string[]; readonly truncated: boolean } => {
  if (text === '') return { lines: [], truncated: false };
  const lines = text.split(`${ROW}\n`);
  // A whole answer ends with the end of a row; what follows the last one was cut.
  return { lines: lines.slice(0, -1), truncated: lines.at(-1) !== '' };
};

/** Undefined for a row that does not have the shape that was asked for. */
export const readRow = (fields: readonly string[]): ControllerRow | undefined => {
  const [id, name, state, reason, exit, derived, run, submit, eligible, start, end, , preempt, , nodes, partition] = fields;
  if (fields.length !== FIELDS.length || !/^\d+$/.test(id!) || !/^\d+$/.test(run!) || !/^\d+$/.test(submit!)) return undefined;
  return {
    id: id!,
    name: name!,
    state: state!,
    reason: reason!,
    exit: waitStatus(exit!),
    derived: waitStatus(derived!),
    run: Number(run),
    submit: Number(submit),
    eligible: seconds(eligible!),
    start: seconds(start!),
    end: seconds(end!),
    preempt: seconds(preempt!),
    nodes: nodes!,
    partition: partition!,
  };
};

export const parseSqueue = (text: string): ControllerLook => {
  const { lines, truncated } = splitRows(text);
  const rows: ControllerRow[] = [];
  const odd: string[] = [];
  for (const line of lines) {
    const row = readRow(line.split(FIELD));
    if (row) rows.push(row);
    else odd.push(line.slice(0, 1024));
  }
  return { rows, odd, truncated };
};
