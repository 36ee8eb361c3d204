/**
 * Removing saves on a cluster's file system, as checkpoint/collect.ts decided (protocols §8.4): one remote program, repeated where it is much.
 *
 * Invariants: the marker goes first, so none names what is gone; a save is first put aside by one rename within its own run's folder, so
 * that what a cut connection leaves is whole or put aside, and the next call ends it; nothing is reached through a link.
 */
import type { Doomed } from '../../checkpoint/collect.ts';
import { formatMarker } from '../../checkpoint/marker.ts';
import type { CollectAnswer } from '../port.ts';
import { cut } from './cut.ts';
import type { Asked } from './remote.ts';
import { quote } from './transport/quote.ts';

/** Within what a caller of the API waits for, connecting and listing included. */
export const COLLECT_SECONDS = 12;

/** What was put aside is removed last, and again by each later call: a large save may take longer than any call. */
export const collectProgram = (checkpoints: string, doomed: readonly Doomed[]): string => `r=${quote(checkpoints)}
real=$(cd -P -- "$r" && pwd -P) || { tell failed 'the checkpoint root cannot be entered'; exit 0; }
until=$(($(date +%s) + ${COLLECT_SECONDS}))
# number, marker, path of the save or nothing, where it is put aside
drop() {
  [ "$(date +%s)" -lt "$until" ] || return 0
  rm -f -- "$real/pub/$2" 2> /dev/null
  [ ! -e "$real/pub/$2" ] || { tell "$1" 'its marker could not be removed'; return 0; }
  [ -n "$3" ] || { tell "$1" marker; return 0; }
  [ -e "$real/$3" ] || [ -h "$real/$3" ] || { tell "$1" save; return 0; }
  at=$(cd -P -- "$real/\${3%/*}" 2> /dev/null && pwd -P)
  [ "$at" = "$real/\${3%/*}" ] || { tell "$1" 'a link is in its path: what it leads to is not removed'; return 0; }
  # Of this call alone: what an earlier one put aside for the same step may be a folder, and would take this one in.
  mv -f -- "$real/$3" "$real/$4-$$" 2> /dev/null || { tell "$1" 'it could not be put aside'; return 0; }
  tell "$1" save
}
tell begun ''
${doomed.map((one, i) => `drop ${i} ${wordsOf(one, i)}\n`).join('')}for old in "$real"/exec/*/.collected-*; do
  left=$((until - $(date +%s)))
  if [ "$left" -gt 0 ] && [ -e "$old" ] && [ ! -h "\${old%/*}" ]; then timeout -s KILL "$left" rm -rf -- "$old" 2> /dev/null; fi
done
`;

/** In the folder of its run, which is one file system, whatever is mounted elsewhere. */
const wordsOf = ({ publication, files }: Doomed, i: number): string => {
  const marker = formatMarker(publication);
  const [exec, run] = publication.path.split('/');
  return [marker, files ? publication.path : '', `${exec}/${run}/.collected-${marker.slice(0, 41)}-${i}`].map(quote).join(' ');
};

export const readCollect = (asked: Asked, doomed: readonly Doomed[]): CollectAnswer => {
  if (asked.kind === 'unreachable') return { kind: 'unreachable', says: asked.says };
  const { answers } = asked;
  if (!answers.has('begun')) return { kind: 'unreachable', says: answers.get('failed')?.stdout ?? 'the program ended early' };
  const said = doomed.map((_, i) => answers.get(String(i))?.stdout);
  // In order, so that what was not reached is the rest.
  const reached = said.findLastIndex((one) => one !== undefined) + 1;
  const done = said.slice(0, reached);
  const isDone = (one: string | undefined): boolean => one === 'marker' || one === 'save';
  return {
    kind: 'removed',
    markers: done.filter(isDone).length,
    saves: done.filter((one) => one === 'save').length,
    failed: done.flatMap((one, i) => (isDone(one) ? [] : [{ path: doomed[i]!.publication.path, says: cut(one ?? 'not told', 256) }])),
    left: doomed.length - reached,
  };
};
