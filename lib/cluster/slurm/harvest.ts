/**
 * The second program of an observation, run only when something ended, vanished or began another run: accounting for those ids,
 * and the files of those runs, before any of it vanishes.
 *
 * Invariants: bounded in jobs, bytes and time; a control folder that cannot be read is told apart from one that holds nothing; a
 * claim, a result or a refusal counts only for the object whose id it names.
 */

import type { Run } from '../../job/event.ts';
import { parseIdentity } from '../../job/identity.ts';
import { runsOf } from '../../job/point.ts';
import type { Publication, Target } from '../port.ts';
import type { RunFiles } from './classify.ts';
import { markerPrefix, parseBases, parseMarker, parseRefusal, parseResult, READ_BASE } from './control-files.ts';
import type { Wanted } from './look.ts';
import { checkpointsOf, controlOf, isBucket, type Root } from './paths.ts';
import { type Answers, shell } from './remote.ts';
import { type Accounting, type AccountingRow, parseSacct, sacctById } from './sacct.ts';
import { quote } from './transport/quote.ts';
import { claimedBy, toldUnclaimed } from './wrapper.ts';

/** Jobs per program. */
export const MOST_WANTED = 50;
const MOST_MARKERS = 20_000;
/** Of each kind of file the newest runs: only the last decides, and a folder may hold any number of files. */
const NEWEST = 20;
const MOST_BASES = 1000;

/** `[ -f ]` before every read: a pipe in place of a file would keep its reader, and all other jobs, waiting. */
const FUNCTIONS = `${READ_BASE}first() { tail -c 65536 "$1" | grep -m 1 '^srun: error: .* tasks* [0-9,-]*: '; }
publications() {
  names=$(timeout -s KILL 5 ls -1 "$1/pub") || return $?
  printf '%s\\n' "$names" | grep "^$2" | head -n ${MOST_MARKERS}
  return 0
}
runs() { ls -1 "$1" 2> /dev/null | grep -x "$2-[0-9]\\{1,6\\}" | sort -t - -k 2n | tail -n "$3"; }
bases() {
  runs "$1" "$2" ${MOST_BASES} | while read -r r; do base "$1/$r"; done
}
files() {
  if [ -d "$2/claims" ] && [ -r "$2/claims" ] && [ -r "$2/results" ] && [ -r "$2/refused" ]; then tell "$1 readable" yes; fi
  for r in $(runs "$2/claims" "$3" ${NEWEST}); do [ ! -h "$2/claims/$r" ] || tell "$1 claim $r" "$(readlink "$2/claims/$r" | head -c 128)"; done
  for r in $(runs "$2/results" "$3" ${NEWEST}); do [ ! -f "$2/results/$r" ] || ask "$1 result $r" head -c 1024 "$2/results/$r"; done
  for r in $(runs "$2/refused" "$4" ${NEWEST}); do [ ! -f "$2/refused/$r" ] || ask "$1 refused $r" head -c 2048 "$2/refused/$r"; done
  ask "$1 bases" bases "$2/bases" "$3"
  [ ! -f "$2/output/$3.log" ] || ask "$1 log" tail -c 4096 "$2/output/$3.log"
  e=$(ls -1t "$2/output/" 2> /dev/null | grep "^$3-[0-9]*\\.err$" | head -n 1)
  if [ -n "$e" ] && [ -f "$2/output/$e" ]; then ask "$1 first" first "$2/output/$e"; ask "$1 err" tail -c 4096 "$2/output/$e"; fi
}
hung=no
listed() {
  [ "$hung" = no ] || return 0
  ask "$1" publications "$2" "$3"
  [ "$d_rc" -ne 137 ] || hung=yes
}
`;

/** One file system that hangs costs the wait for it once; what else lies on it is missing until the next look. */
export const harvestProgram = (wanted: readonly Wanted[], at: Root): string => {
  const ids = wanted.map(({ target }) => target.receipt.schedulerId);
  const accounting = sacctById(ids).map((words, i) => `ask sacct${i} slurm 8 ${shell(words)}\n`);
  const ours = wanted.map(({ target }, i) => ({ target, i })).filter(({ target }) => isOurs(target));
  const files = ours.map(({ target, i }) => {
    const control = controlOf(at, target.job);
    return `files j${i} ${quote(control)} ${target.n} ${quote(target.receipt.schedulerId)}\n`;
  });
  const listings = ours
    .filter(({ target }) => !isBucket(target.checkpointRoot))
    .map(({ target, i }) => {
      const checkpoints = checkpointsOf(at, target.job, target.checkpointRoot);
      return `listed ${quote(`j${i} pub`)} ${quote(checkpoints)} ${markerPrefix(target.n)}\n`;
    });
  return `${FUNCTIONS}ask uid id -u\n${accounting.join('')}${files.join('')}${listings.join('')}`;
};

/** Only what dispatch submitted has a control folder; an adopted object has a name of its own. */
export const isOurs = (target: Target): boolean => parseIdentity(target.receipt.identity)?.job === target.job;

export interface Harvest {
  readonly uid?: number;
  readonly accounting: Accounting;
  readonly of: (index: number) => Files;
}

export interface Files {
  readonly readable: boolean;
  /** The greatest run of this object that left a file. */
  readonly lastRun: number;
  readonly run: (run: number) => RunFiles;
  readonly stderr: string;
  readonly runs: readonly Run[];
  /** Whether what it announced was listed completely. */
  readonly listed: boolean;
}

/** What lies in buckets, listed apart: by place in the batch; one that is not there could not be listed. */
export type Stored = ReadonlyMap<number, readonly Publication[]>;

export const readHarvest = (answers: Answers, wanted: readonly Wanted[], stored: Stored = new Map()): Harvest => {
  const uid = answers.get('uid')?.stdout.trim() ?? '';
  return {
    ...(/^\d+$/.test(uid) ? { uid: Number(uid) } : {}),
    accounting: accountingOf(answers, sacctById(wanted.map(({ target }) => target.receipt.schedulerId)).length),
    of: (index) => filesOf(answers, `j${index}`, wanted[index]!.target, stored.get(index)),
  };
};

const accountingOf = (answers: Answers, commands: number): Accounting => {
  const rows: AccountingRow[] = [];
  let odd = 0;
  for (let i = 0; i < commands; i++) {
    const part = parseSacct(answers.get(`sacct${i}`) ?? { exitCode: 1, stdout: '', stderr: 'sacct was not asked' });
    if (part.kind !== 'rows') return part;
    rows.push(...part.rows);
    odd += part.odd;
  }
  return { kind: 'rows', rows, odd };
};

const filesOf = (answers: Answers, key: string, target: Target, stored: readonly Publication[] | undefined): Files => {
  const id = target.receipt.schedulerId;
  const mine = (kind: string): (readonly [run: number, text: string])[] =>
    [...answers].flatMap(([name, answer]) => {
      const found = name.startsWith(`${key} ${kind} `) ? /-(\d{1,6})$/.exec(name) : null;
      return found && answer.exitCode === 0 ? [[Number(found[1]), answer.stdout] as const] : [];
    });
  const claims = new Set(
    mine('claim')
      .filter(([, text]) => text.startsWith(`${id}-`))
      .map(([run]) => run),
  );
  const results = new Map(
    mine('result').flatMap(([run, text]) => [parseResult(text)].flatMap((one) => (one?.id === id ? [[run, one] as const] : []))),
  );
  const refusals = new Map(
    mine('refused').flatMap(([run, text]) => {
      const one = parseRefusal(text);
      // Slurm may start the same run twice; the refusal of the one says nothing about the other.
      const isOfTwin = claims.has(run) && (one?.says.startsWith(claimedBy(run, `${id}-${run}-`)) || one?.says === toldUnclaimed(run));
      return one && !isOfTwin ? [[run, one] as const] : [];
    }),
  );
  const bases = new Map(
    parseBases(answers.get(`${key} bases`)?.stdout ?? '').flatMap(({ n, run, base }) => (n === target.n ? [[run, base] as const] : [])),
  );
  const pub = answers.get(`${key} pub`);
  const markers = pub?.exitCode === 0 ? pub.stdout.split('\n').filter((name) => name !== '') : [];
  const publications = stored ?? markers.map(parseMarker).filter((one): one is Publication => one !== undefined);
  return {
    readable: answers.has(`${key} readable`),
    lastRun: Math.max(0, ...claims, ...results.keys(), ...refusals.keys()),
    run: (run) => {
      const [result, refused] = [results.get(run), refusals.get(run)];
      return { claimed: claims.has(run), ...(result ? { result } : {}), ...(refused ? { refused } : {}) };
    },
    stderr: ['first', 'log', 'err']
      .map((kind) => answers.get(`${key} ${kind}`))
      .map((answer) => answer?.stdout ?? '')
      .join('\n')
      .trim(),
    runs: runsOf(target.n, bases, publications).slice(-1000),
    listed: isBucket(target.checkpointRoot) ? stored !== undefined : pub?.exitCode === 0 && markers.length < MOST_MARKERS,
  };
};
