/**
 * The files by which a job's runs and dispatch speak to each other on the cluster: marks, claims, bases, results, refusals in the
 * control folder, and the markers of publications (protocols §4.2, §8.1). Pure: names and contents only.
 *
 * Invariant: a file that does not have exactly the written form says nothing; it is never read as something near it.
 */
import { isRelative } from '../../checkpoint/layout.ts';
import { decodePath as decode, encodePath, formatMarker, parseMarker as parse } from '../../checkpoint/marker.ts';
import { formatPoint, parsePoint } from '../../checkpoint/point-text.ts';
import type { Point } from '../../job/event.ts';
import { epochOf } from '../../job/identity.ts';
import type { Publication } from '../port.ts';
import { cut } from './cut.ts';

export { encodePath, formatPoint, parsePoint };

/** Undefined for anything but the encoding of a relative path that stays below its root and holds no control character. */
export const decodePath = (text: string): string | undefined => {
  const path = decode(text);
  return path !== undefined && isRelative(path) ? path : undefined;
};

/** `pub/<epoch>-<step>-<path>`. */
export const markerName = (publication: Publication): string => formatMarker(publication);

/** One bound for all who read a marker: the library's. */
export const parseMarker = (name: string): Publication | undefined => {
  const marker = parse(name);
  return marker && isRelative(marker.path) ? marker : undefined;
};

/** The start of every marker of attempt n: all digits of the epoch but the six of the run. */
export const markerPrefix = (n: number): string => String(epochOf(n, 0)).padStart(20, '0').slice(0, 14);

/**
 * Shell function: the base in a file as a line of parseBases. By the block: the file is the job's own, may be of any size, and a shell reads a
 * line byte by byte until it ends.
 */
export const READ_BASE = `base() {
  [ -f "$1" ] || return 0
  d_base=$(dd if="$1" bs=512 count=1 2> /dev/null | tr -d '\\000')
  printf '%s %s\\n' "\${1##*/}" "\${d_base%%
*}"
}
`;

/** Lines of `<n>-<run> <point>`: what the claims of a job fixed. */
export const parseBases = (text: string): readonly { readonly n: number; readonly run: number; readonly base: Point }[] =>
  text.split('\n').flatMap((line) => {
    const parts = /^([1-9]\d{0,4})-(\d{1,6}) (.+)$/.exec(line);
    const base = parts ? parsePoint(parts[3]!) : undefined;
    return base ? [{ n: Number(parts![1]), run: Number(parts![2]), base }] : [];
  });

/** A release mark: `<scheduler id> <epoch seconds when it was written>`; a stop mark has `-` for the id. */
export const parseMark = (text: string): { readonly holds: string; readonly writtenAt: number } | undefined => {
  const parts = /^(-|\d+) (\d{1,12})\n?$/.exec(text);
  return parts ? { holds: parts[1] === '-' ? '' : parts[1]!, writtenAt: Number(parts[2]) * 1000 } : undefined;
};

/** What a run's wrapper wrote at its end. */
export interface Result {
  readonly id: string;
  readonly run: number;
  readonly exit: number;
  /** Set where the exit code says that a signal ended the program (128 + signal). */
  readonly signal?: number;
  /** The wrapper itself ended the program: its own time limit, or a later mark. */
  readonly stopped?: 'time_limit' | 'fenced';
  /** The wrapper was told to terminate before the program ended. */
  readonly told: boolean;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Undefined unless whole: the last line is `end`. */
export const parseResult = (text: string): Result | undefined => {
  if (!text.endsWith('\nend\n')) return undefined;
  const said = new Map(text.split('\n').map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)] as const));
  const number = (key: string): number | undefined => (/^\d{1,12}$/.test(said.get(key) ?? '') ? Number(said.get(key)) : undefined);
  const [run, exit, started, ended] = [number('run'), number('exit'), number('started'), number('ended')];
  if (run === undefined || exit === undefined || started === undefined || ended === undefined) return undefined;
  const [signal, stopped] = [number('signal'), said.get('stopped')];
  return {
    id: said.get('id') ?? '',
    run,
    exit,
    ...(signal ? { signal } : {}),
    ...(stopped === 'time_limit' || stopped === 'fenced' ? { stopped } : {}),
    told: said.get('told') === 'yes',
    startedAt: started * 1000,
    endedAt: ended * 1000,
  };
};

/** `refused/<id>-<run>`: `<stage>: <why>`. */
export const parseRefusal = (text: string): { readonly stage: string; readonly says: string } | undefined => {
  // What follows the stage may quote a path or a claim of any length.
  const parts = /^([a-z_]{1,32}): (.*)$/s.exec(text);
  return parts ? { stage: parts[1]!, says: cut(parts[2]!.trim(), 512) } : undefined;
};
