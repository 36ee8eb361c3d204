/**
 * Policy: whether statements of a role allow a request, as IAM decides it, for the few forms that templates of dispatch use. Whatever
 * else a statement holds is refused loudly: a condition that is not understood must not count as met, nor as unmet.
 */

export interface Statement {
  readonly effect: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** Operator → key → values. */
  readonly conditions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

export interface Asked {
  /** `dynamodb:PutItem` */
  readonly action: string;
  readonly resource: string;
  /** What the request itself says: `events:source`. */
  readonly context?: Readonly<Record<string, string>>;
}

/** An explicit denial wins; without an allowance nothing is allowed. */
export const isAllowed = (statements: readonly Statement[], asked: Asked): boolean => {
  const about = statements.filter((one) => isAbout(one, asked));
  return about.some((one) => one.effect === 'Allow') && !about.some((one) => one.effect === 'Deny');
};

const isAbout = ({ actions, resources, conditions }: Statement, { action, resource, context = {} }: Asked): boolean =>
  actions.some((one) => matches(one.toLowerCase(), action.toLowerCase())) &&
  resources.some((one) => matches(one, resource)) &&
  Object.entries(conditions).every(([operator, keys]) => {
    if (operator !== 'StringEquals') throw new Error(`the condition ${operator} is not understood here`);
    return Object.entries(keys).every(([key, values]) => context[key] !== undefined && values.includes(context[key]));
  });

/** `*` is any text, `?` any one character. */
const matches = (pattern: string, text: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  ).test(text);

const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);

/** From a template, every name in it already replaced. */
export const statementOf = (raw: Readonly<Record<string, unknown>>): Statement => {
  const known = ['Action', 'Resource', 'Effect', 'Condition', 'Sid'];
  const odd = Object.keys(raw).filter((key) => !known.includes(key));
  if (odd.length > 0) throw new Error(`a statement with ${odd.join(', ')} is not understood here`);
  const conditions = Object.entries((raw['Condition'] ?? {}) as Record<string, Record<string, unknown>>).map(([operator, keys]) => [
    operator,
    Object.fromEntries(Object.entries(keys).map(([key, values]) => [key, list(values)])),
  ]);
  return {
    effect: String(raw['Effect']),
    actions: list(raw['Action']),
    resources: list(raw['Resource']),
    conditions: Object.fromEntries(conditions),
  };
};
