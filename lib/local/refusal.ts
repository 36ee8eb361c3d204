/**
 * Why a local process does not start: one clear line for the person who asked, exit code 2, nothing changed.
 */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
  readonly code = 'local/start_refused';
  readonly retryable = false;
}

/** What the system says of a path or an address, short: its code where it has one. */
export const saysOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};
