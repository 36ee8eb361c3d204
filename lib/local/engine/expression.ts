/**
 * JSONata expressions: compiled once when the machine is loaded, checked against a closed list, evaluated in a scope.
 *
 * The machine file uses JSONata for field access, a comparison per choice rule and a sum or two. Everything beyond that (lambdas,
 * filters, wildcards, `$now`, `$random`, `$eval`) is refused at load: some of it differs between this library and AWS, some would bring
 * a clock or a random number into a machine that has to be replayed. Guards: an expression refers only to what has a value at its
 * place, and one that yields nothing is an error, never an absent field.
 */

import jsonata from 'jsonata';
import { StateFault } from './fault.ts';
import type { Json } from './json.ts';
import { refuse } from './refusal.ts';

export type Variables = { readonly [name: string]: Json };

/** What `$states.context` says; times are ISO 8601. */
export interface Context {
  Execution: { Id: string; Input: Json; Name: string; StartTime: string };
  State: { EnteredTime: string; Name: string; RetryCount: number };
  StateMachine: { Id: string; Name: string };
  /** Only while the arguments of a `.waitForTaskToken` task are worked out. */
  Task?: { Token: string };
}

export interface Scope {
  readonly states: { readonly input: Json; readonly context: Context; readonly result?: Json; readonly errorOutput?: Json };
  readonly variables: Variables;
}

export type Root = 'input' | 'context' | 'result' | 'errorOutput';

/** What an expression at some place of the definition may refer to. */
export interface Place {
  readonly roots: readonly Root[];
  readonly token: boolean;
  /** Every variable that some state assigns. */
  readonly variables: ReadonlySet<string>;
}

export interface Expression {
  readonly source: string;
  /** The value; throws `States.QueryEvaluationError` when evaluation fails or yields nothing. */
  evaluate(scope: Scope): Promise<unknown>;
}

/** Functions without clock, randomness or regular expressions, the same here and on AWS. */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'string number boolean not exists length count sum max min abs floor ceil round substring contains uppercase lowercase trim ' +
    'join split append merge keys lookup type'
  ).split(' '),
);

const OPERATORS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '&', 'and', 'or', 'in']);

type Known = true | { readonly [name: string]: Known };
const KNOWN_CONTEXT: { readonly [name: string]: Known } = {
  Execution: { Id: {}, Input: true, Name: {}, StartTime: {} },
  State: { EnteredTime: {}, Name: {}, RetryCount: {} },
  StateMachine: { Id: {}, Name: {} },
  Task: { Token: {} },
};

interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly [key: string]: unknown;
}

/** `{% … %}` → its inside; undefined when the text is no expression. A text that opens or closes one only halfway is refused, as on AWS. */
export function insideOf(text: string, path: string): string | undefined {
  const opens = text.startsWith('{%');
  const closes = text.endsWith('%}');
  if (!opens && !closes) return undefined;
  if (!opens || !closes || text.length < 4) refuse(path, 'an expression starts with {% and ends with %}');
  return text.slice(2, -2).trim();
}

export function compileExpression(source: string, path: string, place: Place): Expression {
  const compiled = parse(source, path);
  check(compiled.ast() as unknown as Node, path, place);
  return {
    source,
    async evaluate({ states, variables }) {
      let value: unknown;
      try {
        value = await compiled.evaluate(undefined, { ...variables, states });
      } catch (error) {
        throw StateFault.query(`${path}: '${source}' failed: ${(error as { message?: string }).message ?? String(error)}`);
      }
      if (value === undefined) throw StateFault.query(`${path}: '${source}' yields nothing`);
      return value;
    },
  };
}

function parse(source: string, path: string): jsonata.Expression {
  try {
    return jsonata(source);
  } catch (error) {
    refuse(path, `'${source}' is no JSONata: ${(error as { message?: string }).message ?? String(error)}`);
  }
}

function check(node: Node, path: string, place: Place): void {
  if (node.type === 'variable' || node.type === 'path') checkReference(node, path, place);
  else for (const child of partsOf(node, path)) check(child, path, place);
}

/** The nodes below a node of an implemented kind. */
function partsOf(node: Node, path: string): Node[] {
  const one = (key: string): Node => node[key] as Node;
  const many = (key: string): Node[] => node[key] as Node[];
  const only = (...keys: string[]): void => {
    for (const [key, value] of Object.entries(node)) {
      if (value !== undefined && !['type', 'position', ...keys].includes(key))
        refuse(path, `'${key}' on a ${node.type} is not implemented here`);
    }
  };
  switch (node.type) {
    case 'string':
    case 'number':
    case 'value':
      only('value');
      return [];
    case 'binary':
      only('value', 'lhs', 'rhs');
      if (!OPERATORS.has(String(node.value))) refuse(path, `operator ${String(node.value)} is not implemented here`);
      return [one('lhs'), one('rhs')];
    case 'condition':
      only('condition', 'then', 'else');
      if (node['else'] === undefined) refuse(path, 'a condition needs both branches');
      return [one('condition'), one('then'), one('else')];
    case 'block':
      only('expressions');
      if (many('expressions').length !== 1) refuse(path, 'several expressions in parentheses are not implemented here');
      return many('expressions');
    case 'unary':
      only('value', 'expression', 'expressions', 'lhs');
      if (node.value === '{') return (node['lhs'] as Node[][]).flat();
      return node.value === '[' ? many('expressions') : [one('expression')];
    case 'function': {
      only('value', 'arguments', 'procedure');
      const name = String(one('procedure').value);
      if (one('procedure').type !== 'variable' || !FUNCTIONS.has(name)) refuse(path, `function $${name} is not implemented here`);
      return many('arguments');
    }
    default:
      return refuse(path, `a ${node.type} is not implemented here`);
  }
}

/** A variable, or a path that starts at one and goes down by names. */
function checkReference(node: Node, path: string, place: Place): void {
  const steps = node.type === 'path' ? (node['steps'] as Node[]) : [node];
  const plain =
    (node.type === 'variable' || Object.keys(node).every((key) => key === 'type' || key === 'steps')) &&
    steps.every((step, at) => {
      const keys = Object.keys(step);
      return step.type === (at === 0 ? 'variable' : 'name') && keys.every((key) => key === 'type' || key === 'value' || key === 'position');
    });
  if (!plain) refuse(path, 'only $variable.name.name is implemented here: no filter, wildcard, sort, group or bare name');
  const [first, ...rest] = steps.map((step) => String(step.value));
  if (first !== 'states') {
    if (!place.variables.has(first ?? '')) refuse(path, `no state assigns $${first}`);
    return;
  }
  const [root, ...names] = rest;
  if (!place.roots.includes(root as Root)) refuse(path, `$states.${root ?? ''} has no value here (has: ${place.roots.join(', ')})`);
  if (root === 'context') checkContext(names, path, place);
}

function checkContext(names: readonly string[], path: string, place: Place): void {
  if (names[0] === 'Task' && !place.token) refuse(path, '$states.context.Task exists only in the Arguments of a .waitForTaskToken task');
  let known: Known = KNOWN_CONTEXT;
  for (const name of names) {
    if (known === true) return;
    const next: Known | undefined = Object.hasOwn(known, name) ? known[name] : undefined;
    if (next === undefined) refuse(path, `$states.context.${names.join('.')} is not implemented here`);
    known = next;
  }
}
