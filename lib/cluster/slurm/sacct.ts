/**
 * Accounting: what the database says of objects that the controller no longer knows, or that it knows too little about (who
 * cancelled, how the steps ended, how earlier runs of the same id ended).
 *
 * Invariants: a row counts only if it is about this very object (C012: ids are used again); a missing row is missing, not an end;
 * "no accounting here" and "accounting did not answer" are two different answers, and neither is "no such job".
 */
import { FIELD, seconds, type WaitStatus, waitStatus } from './squeue.ts';

/** Valid in every version from 21.08 to 25.11; an unknown field would fail the whole command. */
const FIELDS = [
  'JobIDRaw',
  'DBIndex',
  'JobName',
  'State',
  'ExitCode',
  'DerivedExitCode',
  'Submit',
  'Eligible',
  'Start',
  'End',
  'ElapsedRaw',
  'NodeList',
  'Partition',
] as const;

/** More would come near the limit of one argument (128 KiB), and one refused command would cost all of them (C018). */
export const MOST_IDS = 1000;

const command = (...which: readonly string[]): readonly string[] => ['sacct', '-nP', ...which, '-o', FIELDS.join(',')];

/** Allocations and steps of these ids, every run of each (`-D`), as one command per 1,000 ids. */
export const sacctById = (ids: readonly string[]): readonly (readonly string[])[] => {
  const commands: (readonly string[])[] = [];
  for (let i = 0; i < ids.length; i += MOST_IDS) {
    commands.push(command('-D', `--delimiter=${FIELD}`, '-j', ids.slice(i, i + MOST_IDS).join(',')));
  }
  return commands;
};

/**
 * Allocations by name. Without `-j` rows are matched by their *eligible* time, which of a gated job is its begin time: the window
 * must reach beyond it. The shell words `$since`, `$until` and `$names` are set by the program that runs this.
 */
export const SACCT_BY_NAME = `sacct -nPX -D --delimiter=${FIELD} --name="$names" -S "uts$since" -E "uts$until" -o ${FIELDS.join(',')}`;

export interface StepRow {
  /** `batch`, `extern`, `0`, … */
  readonly step: string;
  readonly state: string;
  /** Undefined where the step's end was never reported: its launch failed or its node was lost. */
  readonly exit: WaitStatus | undefined;
}

/** One run of one id. Times in seconds since 1970. */
export interface AccountingRow {
  readonly id: string;
  readonly index: bigint;
  readonly name: string;
  readonly state: string;
  readonly exit: WaitStatus | undefined;
  readonly derived: WaitStatus | undefined;
  readonly submit: number;
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly elapsedSeconds: number;
  readonly nodes: string;
  readonly steps: readonly StepRow[];
}

export type Accounting =
  | { readonly kind: 'rows'; readonly rows: readonly AccountingRow[]; readonly odd: number }
  /** The site keeps no accounting: nothing will ever come. */
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly says: string };

export const parseSacct = (answer: { readonly exitCode: number; readonly stdout: string; readonly stderr: string }): Accounting => {
  if (/accounting storage is disabled/i.test(answer.stderr)) return { kind: 'none' };
  if (answer.exitCode !== 0) return { kind: 'failed', says: answer.stderr.trim().slice(-512) || `sacct exit ${answer.exitCode}` };
  if (answer.stdout !== '' && !answer.stdout.endsWith('\n')) return { kind: 'failed', says: 'sacct: the answer is cut' };
  const rows: (AccountingRow & { steps: StepRow[] })[] = [];
  let odd = 0;
  for (const line of answer.stdout.split('\n')) {
    if (line === '') continue;
    const fields = line.split(FIELD);
    const id = fields[0] ?? '';
    const step = /^(\d+)\.(\S+)$/.exec(id);
    const owner = rows.at(-1);
    if (step && owner && owner.id === step[1] && fields.length === FIELDS.length) {
      owner.steps.push({ step: step[2]!, state: fields[3]!, exit: waitStatus(fields[4]!) });
      continue;
    }
    const row = step ? undefined : readAllocation(fields);
    if (row) rows.push(row);
    else odd += 1;
  }
  return { kind: 'rows', rows, odd };
};

const readAllocation = (fields: readonly string[]): (AccountingRow & { steps: StepRow[] }) | undefined => {
  const [id, index, name, state, exit, derived, submit, , start, end, elapsed, nodes] = fields;
  // Array tasks and components of heterogeneous jobs have other forms of id; dispatch submits neither (C009).
  if (fields.length !== FIELDS.length || !/^\d+$/.test(id!) || !/^\d+$/.test(submit!)) return undefined;
  return {
    id: id!,
    index: /^\d+$/.test(index!) ? BigInt(index!) : 0n,
    name: name!,
    state: state!,
    exit: waitStatus(exit!),
    derived: waitStatus(derived!),
    submit: Number(submit),
    start: seconds(start!),
    end: seconds(end!),
    elapsedSeconds: seconds(elapsed!) ?? 0,
    nodes: nodes === 'None assigned' ? '' : nodes!,
    steps: [],
  };
};

export interface WhichObject {
  readonly schedulerId: string;
  readonly identity: string;
  /** Milliseconds since 1970; a requeue moves the submit time later, never earlier. */
  readonly submittedAt: number;
}

/**
 * The runs of this object, oldest first. A row that was written before the controller had told the database its name is called
 * `allocation`; found by its id, it counts (seen live for jobs that end within 5 s).
 */
export const rowsAbout = (rows: readonly AccountingRow[], object: WhichObject): readonly AccountingRow[] =>
  rows
    .filter(
      (row) =>
        row.id === object.schedulerId &&
        (row.name === object.identity || row.name === 'allocation') &&
        row.submit * 1000 >= object.submittedAt - (object.submittedAt % 1000),
    )
    .sort((a, b) => a.submit - b.submit || (a.index < b.index ? -1 : a.index > b.index ? 1 : 0));
