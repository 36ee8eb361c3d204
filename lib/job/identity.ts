/**
 * Names: job ids, attempt identities, epochs, tags (contract §1).
 * Guards: an attempt can be found by a name known before it was submitted, and another deployment's object is never
 * mistaken for ours, whatever else its name looks like.
 */
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const EPOCH_RUNS = 1_000_000;

export const JOB_ID = /^[0-9a-hjkmnp-tv-z]{16}$/;
export const TAG = /^[0-9a-hjkmnp-tv-z]{4}$/;

const base32 = (value: number, length: number): string => {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = CROCKFORD[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

/** 9 characters of milliseconds (sortable by time of birth) and 7 of randomness. `random()` gives [0, 1). */
export const newJobId = (nowMs: number, random: () => number): string =>
  base32(nowMs, 9) + Array.from({ length: 7 }, () => CROCKFORD[Math.floor(random() * 32)]).join('');

/** 4 characters, chosen once per deployment. */
export const newTag = (random: () => number): string => base32(Math.floor(random() * 32 ** 4), 4);

/** The name under which attempt n of a job can be found on its cluster; at most 32 characters. */
export const identityOf = (tag: string, job: string, n: number): string => `d${tag}-${job}-${n}`;

/** What a name says, or undefined when it is no identity at all. A different tag makes the object foreign. */
export const parseIdentity = (name: string): { tag: string; job: string; n: number } | undefined => {
  const found = /^d([0-9a-hjkmnp-tv-z]{4})-([0-9a-hjkmnp-tv-z]{16})-([1-9][0-9]{0,4})$/.exec(name);
  return found ? { tag: found[1]!, job: found[2]!, n: Number(found[3]) } : undefined;
};

/** Orders every execution of a job: attempt × 1,000,000 + run. */
export const epochOf = (n: number, run: number): number => n * EPOCH_RUNS + run;

export const attemptOfEpoch = (epoch: number): { n: number; run: number } => ({
  n: Math.floor(epoch / EPOCH_RUNS),
  run: epoch % EPOCH_RUNS,
});
