/**
 * Mutate: a line or two of production code changed while it is loaded, so that a mutant is dispatch itself with one rule taken out, and
 * production code needs no seam for it. Call `mutate` before anything of lib/ is imported.
 * Guards that a mutant is what it says: a line that is not there exactly once is a stale mutant, and fails loudly.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

export interface SourceChange {
  /** From the root of the repository. */
  readonly file: string;
  /** Each text that is there exactly once, and what takes its place. */
  readonly lines: readonly (readonly [from: string, to: string])[];
  /** A rule that stands in two files is taken out of both. */
  readonly also?: SourceChange;
}

const ROOT = new URL('../../', import.meta.url);

/** The file with the change made. */
export const changed = ({ file, lines }: SourceChange): string =>
  lines.reduce(
    (text, [from, to]) => {
      const parts = text.split(from);
      if (parts.length !== 2) throw new Error(`${file} holds ${JSON.stringify(from)} ${parts.length - 1} times, not once`);
      return parts.join(to);
    },
    readFileSync(new URL(file, ROOT), 'utf8'),
  );

export const mutate = (change: SourceChange): void => {
  if (change.also) mutate(change.also);
  const url = new URL(change.file, ROOT).href;
  const text = changed(change);
  registerHooks({
    load: (loaded, context, next) => {
      const result = next(loaded, context);
      return loaded === url ? { ...result, source: text } : result;
    },
  });
};
