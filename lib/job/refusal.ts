/**
 * Refusals: what is wrong with what a user wrote, where, and how to put it right (contract §4).
 * Every fault is collected, not only the first; the list is bounded so that no input can grow the answer. A value is quoted
 * only where it is a name, a quantity or a choice: contents of `env`, `command` and scripts never come back in a message.
 */
export const REFUSAL_CODES = [
  'missing',
  'unknown_key',
  'unknown_value',
  'wrong_type',
  'out_of_range',
  'malformed',
  'not_finite',
  'too_long',
  'too_many',
  'too_large',
  'too_deep',
  'forbidden_character',
  'reserved',
  'conflict',
  'wrong_cluster_kind',
  'unsupported',
  'more',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

export interface Refusal {
  /** As a reader would write it in code: `policy.rules[0].do.relaunch.max`, `labels["a b"]`; '' is the whole spec. */
  readonly path: string;
  readonly code: RefusalCode;
  /** The fault and its fix, one sentence. */
  readonly says: string;
}

export const MOST_REFUSALS = 50;
const QUOTED_CHARACTERS = 40;

export interface Faults {
  readonly list: Refusal[];
  /** All that differ, also beyond the list. */
  total: number;
  /** Every one that was met, repeated ones too: a reader compares it to learn whether what it called has failed. */
  met: number;
}

export const noFaults = (): Faults => ({ list: [], total: 0, met: 0 });

/** Adds a fault. One path has one fault of a kind, and a forbidden character hides what else it spoils there. */
export const refuse = (faults: Faults, path: string, code: RefusalCode, says: string): undefined => {
  faults.met += 1;
  if (faults.list.some((known) => known.path === path && (known.code === code || known.code === 'forbidden_character'))) return undefined;
  faults.total += 1;
  if (faults.list.length < MOST_REFUSALS) faults.list.push({ path, code, says });
  return undefined;
};

/** At most MOST_REFUSALS; the last one counts those that are left out. */
export const refusalsOf = (faults: Faults): Refusal[] => {
  if (faults.total <= MOST_REFUSALS) return [...faults.list];
  const left = faults.total - (MOST_REFUSALS - 1);
  return [
    ...faults.list.slice(0, MOST_REFUSALS - 1),
    { path: '', code: 'more', says: `${left} more faults are not listed; fix these first` },
  ];
};

export const childPath = (path: string, key: string | number): string => {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key)) return `${path}[${quote(key)}]`;
  return path === '' ? key : `${path}.${key}`;
};

export const quote = (value: unknown): string => {
  if (typeof value === 'string') {
    const cut = value.length > QUOTED_CHARACTERS ? `${value.slice(0, QUOTED_CHARACTERS)}…` : value;
    return JSON.stringify(cut.toWellFormed());
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
};

export const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const kind = typeof value;
  return kind === 'object' ? 'an object' : kind === 'string' ? 'text' : kind === 'undefined' ? 'nothing' : `a ${kind}`;
};

const encoder = new TextEncoder();
/** What a text weighs in UTF-8. */
export const bytesOf = (value: string): number => encoder.encode(value).length;

/** A number as people read it, with thousands separated: `65,536`. */
export const counted = (value: number): string => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
