/**
 * Nearest: the known word that a user most likely meant.
 * Guards the promise that an unknown key or name is refused with the nearest known one, and with none when nothing is near:
 * a far-fetched guess sends a reader the wrong way.
 */
const LONGEST_WORD = 64;

/** The nearest of `known`, or undefined. Case, `_`, `-` and spaces do not count; a swap of two neighbours is one change. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  if (word.length === 0 || word.length > LONGEST_WORD) return undefined;
  const meant = plain(word);
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const candidate = plain(name);
    // A third of the longer word may differ; with more, unrelated words of one length start to look alike.
    const allowed = Math.max(1, Math.floor(Math.max(meant.length, candidate.length) / 3));
    if (Math.abs(meant.length - candidate.length) > allowed) continue;
    const distance = distanceOf(meant, candidate);
    // A word of which nothing is left is no typing mistake.
    if (distance > allowed || distance >= candidate.length) continue;
    if (!best || distance < best.distance) best = { name, distance };
  }
  return best?.name;
};

const plain = (word: string): string => word.toLowerCase().replace(/[_\-\s]/g, '');

/** Edits between two short words: insert, remove, replace, swap neighbours. */
export const distanceOf = (a: string, b: string): number => {
  let twoBack: number[] = [];
  let back = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(back[j]! + 1, row[j - 1]! + 1, back[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, twoBack[j - 2]! + 1);
      row.push(cost);
    }
    twoBack = back;
    back = row;
  }
  return back[b.length]!;
};
