/**
 * Refusing a definition, and the readers that do it.
 *
 * An interpreter that skips what it does not know turns a green local run into a red one on AWS. So whatever is not implemented is
 * refused when the definition is loaded, naming the place. Guards: no field of a definition is ever ignored (except Comment).
 */

export class MachineRefused extends Error {
  readonly code = 'machine/refused';
  readonly retryable = false;
  /** JSON path of what was refused, such as `$.States.Advance.Retry[0].JitterStrategy`. */
  readonly path: string;

  constructor(path: string, why: string) {
    super(`${path}: ${why}`);
    this.name = 'MachineRefused';
    this.path = path;
  }
}

export function refuse(path: string, why: string): never {
  throw new MachineRefused(path, why);
}

/** The fields of an object, of which every one must be in `known`. */
export function fieldsAt(value: unknown, path: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(path, 'must be an object');
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) refuse(`${path}.${key}`, `this field is not implemented here (known: ${known.join(', ')})`);
  }
  return value as Record<string, unknown>;
}

export function listAt(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) refuse(path, 'must be a list with at least one entry');
  return value;
}

export function textAt(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') refuse(path, 'must be a text');
  return value;
}

export function wholeNumberAt(value: unknown, path: string, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    refuse(path, `must be a whole number from ${least} to ${most}`);
  }
  return value;
}
