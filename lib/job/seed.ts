/**
 * Seeded: a number in [0, 1) that follows from a text alone, for jitter that must come out the same when the same view is
 * folded twice. FNV-1a with a final avalanche; not for secrets.
 */
export const seeded = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
};
