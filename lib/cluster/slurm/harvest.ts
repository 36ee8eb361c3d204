/**
 * The second program of an observation, run only when something ended, vanished or began another run: accounting for those ids,
 * and the files of those runs, before any of it vanishes.
 *
 * Invariants: bounded in jobs, bytes and time; a control folder that cannot be read is told apart from one that holds nothing; a
 * claim, a result or a refusal counts only for the object whose id it names.
 */

import type { Point, Run } from '../../job/event.ts';
import { parseIdentity } from '../../job/identity.ts';
import { runsOf } from '../../job/point.ts';
import type { Publication, Target } from '../port.ts';
import type { RunFiles } from './classify.ts';
import { markerPrefix, parseMarker, parsePoint, parseRefusal, parseResult } from './control-files.ts';
import type { Wanted } from './look.ts';
import { checkpointsOf, controlOf, isBucket, type Root } from './paths.ts';
import { type Answers, shell } from './remote.ts';
import { type Accounting, type AccountingRow, parseSacct, sacctById } from './sacct.ts';
import { quote } from './transport/quote.ts';

/** Jobs per program. */
export const MOST_WANTED = 50;
const MOST_MARKERS = 20_000;

const FUNCTIONS = `first() { tail -c 65536 "$1" | grep -m 1 '^srun: error: .* tasks* [0-9,-]*: '; }
publications() {
  names=$(ls -1 "$1/pub") || return 1
  printf '%s\\n' "$names" | grep "^$2" | head -n ${MOST_MARKERS}
  return 0
}
files() {
  if [ -d "$2/claims" ] && [ -r "$2/claims" ] && [ -r "$2/results" ] && [ -r "$2/refused" ]; then tell "$1 readable" yes; fi
  for f in "$2/claims/$3"-*; do [ ! -h "$f" ] || tell "$1 claim \${f##*/}" "$(readlink "$f")"; done
  for f in "$2/results/$3"-*; do [ ! -f "$f" ] || ask "$1 result \${f##*/}" head -c 2048 "$f"; done
  for f in "$2/refused/$4"-*; do [ ! -f "$f" ] || ask "$1 refused \${f##*/}" head -c 2048 "$f"; done
  for f in "$2/bases/$3"-*; do [ ! -f "$f" ] || ask "$1 base \${f##*/}" head -c 1024 "$f"; done
  ask "$1 log" tail -c 4096 "$2/output/$3.log"
  e=$(ls -1t "$2/output/" 2> /dev/null | grep "^$3-[0-9]*\\.err$" | head -n 1)
  [ -z "$e" ] || { ask "$1 first" first "$2/output/$e"; ask "$1 err" tail -c 4096 "$2/output/$e"; }
}
`;

export const harvestProgram = (wanted: readonly Wanted[], at: Root): string => {
  const ids = wanted.map(({ target }) => target.receipt.schedulerId);
  const accounting = sacctById(ids).map((words, i) => `ask sacct${i} slurm 30 ${shell(words)}\n`);
  const files = wanted.map(({ target }, i) => {
    if (!isOurs(target)) return '';
    const control = controlOf(at, target.job);
    const checkpoints = checkpointsOf(at, target.job, target.checkpointRoot);
    const listing = isBucket(target.checkpointRoot)
      ? ''
      : `ask ${quote(`j${i} pub`)} publications ${quote(checkpoints)} ${markerPrefix(target.n)}\n`;
    return `files j${i} ${quote(control)} ${target.n} ${target.receipt.schedulerId}\n${listing}`;
  });
  return `${FUNCTIONS}ask uid id -u\n${accounting.join('')}${files.join('')}`;
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
  /** Undefined: not asked for (an object store). */
  readonly listed: boolean | undefined;
}

export const readHarvest = (answers: Answers, wanted: readonly Wanted[]): Harvest => {
  const uid = answers.get('uid')?.stdout.trim() ?? '';
  return {
    ...(/^\d+$/.test(uid) ? { uid: Number(uid) } : {}),
    accounting: accountingOf(answers, sacctById(wanted.map(({ target }) => target.receipt.schedulerId)).length),
    of: (index) => filesOf(answers, `j${index}`, wanted[index]!.target),
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

const filesOf = (answers: Answers, key: string, target: Target): Files => {
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
    mine('refused').flatMap(([run, text]) => [parseRefusal(text)].flatMap((one) => (one ? [[run, one] as const] : []))),
  );
  const bases = new Map<number, Point>();
  for (const [run, text] of mine('base')) {
    const point = parsePoint(text);
    if (point) bases.set(run, point);
  }
  const pub = answers.get(`${key} pub`);
  const markers = pub?.exitCode === 0 ? pub.stdout.split('\n').filter((name) => name !== '') : [];
  const publications = markers.map(parseMarker).filter((one): one is Publication => one !== undefined);
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
    listed: isBucket(target.checkpointRoot) ? undefined : pub?.exitCode === 0 && markers.length < MOST_MARKERS,
  };
};
