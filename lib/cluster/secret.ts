/**
 * Secrets that programs are given (contract §4): read by the name that a spec calls `ref`, from wherever a deployment keeps them.
 * A name is one that the configuration lists, never a path or an address: so no spec can make us read what is ours.
 *
 * Invariants guarded: a value has a bound and a time limit, is kept in memory alone and at most five minutes, and no failure that is
 * thrown here repeats what a store said, which may hold what nobody may see.
 */

/** The value by its name in the configuration. Throws SecretFailure. */
export type SecretSource = (ref: string) => Promise<string>;

export type SecretFailureCode =
  /** The configuration names no such secret, or no longer. */
  | 'secret/unknown'
  /** Its store did not answer in time, refused, or does not have it. */
  | 'secret/unavailable'
  /** It was read, and no program's environment can hold it: too long, no text, or with a NUL. */
  | 'secret/unusable';

export class SecretFailure extends Error {
  override readonly name = 'SecretFailure';
  readonly code: SecretFailureCode;
  /** Whether the same call may succeed later without a change of the configuration: a store's content is not its business. */
  readonly retryable: boolean;

  /** `message` is shown and recorded: it names the secret at most, never its value, nor where it is kept. */
  constructor(code: SecretFailureCode, message: string) {
    super(message);
    this.code = code;
    this.retryable = code === 'secret/unavailable';
  }
}

/** An environment holds at most 128 KiB in one variable; what is longer belongs into a file of the user's own. */
export const SECRET_BYTES = 32 * 1024;
export const SECRET_READ_MS = 10_000;
/** A value that was replaced in its store is taken up after this long at the latest. */
export const SECRET_KEPT_MS = 5 * 60_000;

export interface SecretLimits {
  readonly now: () => number;
  readonly readMs?: number;
}

/**
 * A store's bare reader, within bounds. `read` may throw anything and take any time; `names` are those of the configuration, so what is kept
 * has a bound, too. Two that ask at once share one read; a failure is not kept.
 */
export const boundedSecrets = (
  read: SecretSource,
  names: readonly string[],
  { now, readMs = SECRET_READ_MS }: SecretLimits,
): SecretSource => {
  const known = new Set(names);
  const kept = new Map<string, { readonly value: string; readonly until: number }>();
  const underway = new Map<string, Promise<string>>();
  const fetch = async (ref: string): Promise<string> => {
    const value = await inTime(read, ref, readMs);
    const why = unusable(value);
    if (why !== undefined) throw new SecretFailure('secret/unusable', `secret ${ref} ${why}`);
    kept.set(ref, { value, until: now() + SECRET_KEPT_MS });
    return value;
  };
  return async (ref) => {
    if (!known.has(ref)) throw new SecretFailure('secret/unknown', 'the configuration names no such secret');
    const held = kept.get(ref);
    if (held && now() < held.until) return held.value;
    kept.delete(ref);
    const one = underway.get(ref) ?? fetch(ref).finally(() => underway.delete(ref));
    underway.set(ref, one);
    return one;
  };
};

/** Why no environment can hold it. */
const unusable = (value: string): string | undefined => {
  const bytes = Buffer.byteLength(value);
  if (bytes > SECRET_BYTES) return `has ${bytes} bytes; at most ${SECRET_BYTES} are allowed`;
  return value.includes('\0') || !value.isWellFormed() ? 'holds a character that no environment can hold' : undefined;
};

const inTime = async (read: SecretSource, ref: string, readMs: number): Promise<string> => {
  const failed = (how: string): SecretFailure => new SecretFailure('secret/unavailable', `secret ${ref} ${how}`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed(`was not read within ${readMs / 1000} s`)), readMs);
  });
  try {
    return await Promise.race([read(ref), late]);
  } catch (error) {
    // A store's own words stay out: they may quote what they were asked for, or where it is.
    throw error instanceof SecretFailure ? error : failed('could not be read');
  } finally {
    clearTimeout(timer);
  }
};
