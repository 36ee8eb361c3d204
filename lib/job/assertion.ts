/**
 * Assertions: our own mistakes, on in production (contract §12). A view that cannot exist must stop its supervisor loudly
 * rather than be acted upon; the machine never retries an AssertionFailed.
 */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

export function assert(condition: unknown, says: string): asserts condition {
  if (!condition) throw new AssertionFailed(says);
}

export const never = (value: never): never => {
  throw new AssertionFailed(`not a known case: ${JSON.stringify(value)}`);
};
