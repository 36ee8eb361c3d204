/**
 * The listing of a job's publications and of the bases that its claims fixed. Only a complete listing is an answer: a resume point
 * that was picked from a part of `pub/` could be an old one (protocols §2.1, §8.2).
 */
import type { Publication, Publications } from '../port.ts';
import { parseBases, parseMarker, READ_BASE } from './control-files.ts';
import type { Asked } from './remote.ts';
import { quote } from './transport/quote.ts';

/**
 * A job of which nothing was ever sent has no `pub/` yet: that is an empty listing, if the cluster's root is there to prove that
 * its file system is. `checkpoints` undefined: they are in a bucket, and only the bases are read here.
 */
export const publicationsProgram = (
  root: string,
  control: string,
  checkpoints: string | undefined,
): string => `${READ_BASE}c=${quote(control)}
# A folder that is there and cannot be read is not an empty one.
bases() {
  for f in "$c" "$c/bases"; do
    [ ! -e "$f" ] || ls "$f" > /dev/null || return 1
  done
  for f in "$c/bases/"*; do base "$f"; done
}
if ${checkpoints === undefined ? '[ -d "$c/bases" ]' : `[ -d ${quote(`${checkpoints}/pub`)} ]`}; then
  ask bases bases
  ask pub ${checkpoints === undefined ? ':' : `timeout -s KILL 20 ls -1 ${quote(`${checkpoints}/pub`)}`}
elif [ -d ${quote(root)} ] && [ -z "$(ls "$c/sent" 2> /dev/null)" ]; then
  tell none ''
else
  tell unlistable ''
fi
`;

export const readPublications = (asked: Asked): Publications | undefined => {
  if (asked.kind === 'unreachable') return undefined;
  if (asked.answers.has('none')) return { publications: [], bases: [] };
  const [pub, bases] = [asked.answers.get('pub'), asked.answers.get('bases')];
  if (pub?.exitCode !== 0 || bases?.exitCode !== 0) return undefined;
  const read = parseBases(bases.stdout);
  const unread = bases.stdout.split('\n').filter((line) => line !== '').length - read.length;
  return {
    publications: pub.stdout
      .split('\n')
      .map(parseMarker)
      .filter((one): one is Publication => one !== undefined),
    bases: read,
    ...(unread > 0 ? { unread } : {}),
  };
};
