/**
 * Campaign: very many worlds, in pieces that are noted as they are done, so that it can be stopped, resumed, and split over machines.
 *
 *   node test/sim/campaign.ts --notes FILE [--from 1] [--seeds 100000] [--chunk 1000] [--kind NAME]
 *
 * The notes hold one line of JSON per piece; a piece that is there is not run again. Split it by `--from` and a file of notes for each part.
 * Every piece runs in a process of its own. What a piece of 1,000 default worlds missed is said at the end: a small piece misses the
 * rarest now and then, all of them together may not. Exit code 1 when a world broke, in this run or an earlier one, or when all missed it.
 */
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs, promisify } from 'node:util';
import { COVERING } from './many.ts';

interface Piece {
  readonly from: number;
  readonly seeds: number;
  readonly worlds: number;
  readonly steps: number;
  readonly seconds: number;
  /** As the simulator says it: seed, invariant, how to replay it. */
  readonly broken: readonly unknown[];
  /** What it did not meet or reach. Notes of old have none. */
  readonly missed?: readonly string[];
}

const PIECE_MS = 4 * 3_600_000;

const { values } = parseArgs({
  options: {
    notes: { type: 'string' },
    from: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '100000' },
    chunk: { type: 'string', default: '1000' },
    kind: { type: 'string' },
  },
});

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`not a whole number above zero: ${text}`);
  return value;
};

const noted = (file: string): readonly Piece[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Piece)
    : [];

/** One process: its report is the last value on its output, broken worlds are lines of their own before it. */
const run = async (from: number, seeds: number): Promise<Piece> => {
  const kind = values.kind === undefined ? [] : ['--kind', values.kind];
  const args = [`${import.meta.dirname}/run.ts`, '--from', String(from), '--seeds', String(seeds), ...kind];
  const options = { timeout: PIECE_MS, maxBuffer: 64 * 2 ** 20 };
  // Exit code 1 is a world that broke, or coverage that a piece need not have; the report is there all the same.
  const said = await promisify(execFile)(process.execPath, args, options).catch((error: Error & { stdout?: string }) => {
    if (!error.stdout?.includes('"worlds"')) throw error;
    return { stdout: error.stdout };
  });
  const lines = said.stdout.split('\n');
  const report = JSON.parse(lines.slice(lines.indexOf('{')).join('\n')) as Required<Omit<Piece, 'from' | 'seeds' | 'broken'>>;
  const broken = lines.filter((line) => line.startsWith('{"seed"')).map((line) => JSON.parse(line) as unknown);
  const { worlds, steps, seconds, missed } = report;
  return { from, seeds, worlds, steps, seconds, broken, missed };
};

const main = async (): Promise<number> => {
  if (values.notes === undefined) throw new Error('--notes FILE is needed: what is done is written there');
  const [from, seeds, chunk] = [whole(values.from), whole(values.seeds), whole(values.chunk)];
  const pieces = [...noted(values.notes)];
  for (let at = from; at < from + seeds; at += chunk) {
    const size = Math.min(chunk, from + seeds - at);
    if (pieces.some((piece) => piece.from === at && piece.seeds === size)) continue;
    const piece = await run(at, size);
    pieces.push(piece);
    appendFileSync(values.notes, `${JSON.stringify(piece)}\n`);
  }
  const broken = pieces.flatMap((piece) => piece.broken);
  const sum = (of: (piece: Piece) => number): number => pieces.reduce((total, piece) => total + of(piece), 0);
  process.stdout.write(`${sum((p) => p.worlds)} worlds, ${sum((p) => p.steps)} steps, ${Math.round(sum((p) => p.seconds))} s\n`);
  for (const each of broken) process.stdout.write(`${JSON.stringify(each)}\n`);
  const missed = saysMissed(pieces);
  process.stdout.write(`${sum((p) => p.worlds) - broken.length} passed, ${broken.length} failed\n`);
  return broken.length === 0 && missed.length === 0 ? 0 : 1;
};

/** Says what pieces missed that were large enough to meet it; gives back what all of them missed. */
const saysMissed = (pieces: readonly Piece[]): readonly string[] => {
  const told = pieces.filter((piece) => values.kind === undefined && piece.worlds >= COVERING && piece.missed !== undefined);
  for (const { from, missed = [] } of told)
    if (missed.length > 0) process.stdout.write(`the piece from ${from} missed: ${missed.join(', ')}\n`);
  const all = (told[0]?.missed ?? []).filter((what) => told.every((piece) => piece.missed?.includes(what)));
  if (all.length > 0) process.stdout.write(`all pieces missed: ${all.join(', ')}\n`);
  return all;
};

process.exitCode = await main();
