/**
 * A piece of what a run wrote, read from its file in the control folder. Guards: bytes arrive as they were written, whatever they are,
 * since they travel as base64; and a folder that cannot be read is told apart from a run that wrote nothing.
 */
import type { OutputAnswer, OutputAsked } from '../port.ts';
import type { Asked } from './remote.ts';
import { quote } from './transport/quote.ts';

const SUFFIX = { stdout: 'out', stderr: 'err' } as const;

export const outputProgram = (
  control: string,
  { n, run, stream, offset, limit }: OutputAsked,
): string => `f=${quote(`${control}/output/${n}-${run}.${SUFFIX[stream]}`)}
# The size is asked for last: a file that grows meanwhile is never said to be smaller than what was read of it.
piece() { tail -c +${offset + 1} "$f" | head -c ${limit} | base64 | tr -d '\\n'; }
# A pipe in its place would keep the reader waiting.
if [ -f "$f" ] && [ -r "$f" ]; then
  ask piece piece
  ask size stat -c %s "$f"
elif [ -d ${quote(control)} ]; then tell none ''
else tell lost ''
fi
`;

export const readPiece = (asked: Asked): OutputAnswer => {
  if (asked.kind === 'unreachable') return { kind: 'unreachable', says: asked.says };
  const { answers } = asked;
  // A control folder that is gone, or was never made, holds nothing to read either way.
  if (answers.has('none') || answers.has('lost')) return { kind: 'none' };
  const [size, piece] = [answers.get('size'), answers.get('piece')];
  const totalBytes = /^\d+\s*$/.test(size?.stdout ?? '') ? Number(size?.stdout) : undefined;
  if (size?.exitCode !== 0 || piece?.exitCode !== 0 || totalBytes === undefined)
    return { kind: 'unreachable', says: `the output cannot be read: ${(piece ?? size)?.stderr.slice(-256) ?? ''}` };
  const bytes = Buffer.from(piece.stdout, 'base64');
  return { kind: 'piece', bytes, totalBytes };
};
