/**
 * Request: what came over the wire, read under bounds and checked against a route's schemas; every fault with path and fix.
 * Guards: a body is never held beyond its limit, whatever its headers say; depth costs no stack; nothing is coerced but numbers and
 * truths in a query, which have no other form there.
 */
import * as z from 'zod';
import { nearest } from '../job/nearest.ts';
import { childPath, kindOf, type RefusalCode } from '../job/refusal.ts';
import { type Fault, invalid, Problem } from './problem.ts';
import { type Route, UNKNOWN } from './route.ts';

export const BODY_BYTES = 256 * 1024;

/** The checked value, or a Problem with every fault. */
export const checked = (where: Fault['in'], schema: z.ZodType, value: unknown): unknown => {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues.slice(0, 50).flatMap((issue) => faultsOf(where, issue, knownKeys(schema))));
};

const knownKeys = (schema: z.ZodType): readonly string[] => ('shape' in schema ? Object.keys(schema.shape as object) : []);

const faultsOf = (where: Fault['in'], issue: z.core.$ZodIssue, known: readonly string[]): Fault[] => {
  const path = issue.path.reduce<string>((at, key) => childPath(at, typeof key === 'number' ? key : String(key)), '');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 10).map((key) => {
      const near = nearest(key, known);
      const message = `is no known key${near ? `; did you mean "${near}"?` : ''}${known.length ? ` known: ${known.join(', ')}` : '; send none'}`;
      return { in: where, path: childPath(path, key), code: 'unknown_key', message };
    });
  }
  // The name of a header is no word of code, and quoting it would only make it harder to find.
  return [{ in: where, path: where === 'header' ? issue.path.join('.') : path, code: codeOf(issue), message: sentenceOf(issue) }];
};

const CODES: Partial<Record<z.core.$ZodIssue['code'], RefusalCode>> = {
  invalid_type: 'wrong_type',
  invalid_value: 'unknown_value',
  invalid_union: 'wrong_type',
  too_small: 'out_of_range',
  too_big: 'out_of_range',
};
const codeOf = (issue: z.core.$ZodIssue): RefusalCode => {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'missing';
  if (issue.code === 'too_big' && issue.origin === 'string') return 'too_long';
  return CODES[issue.code] ?? 'malformed';
};

const sentenceOf = (issue: z.core.$ZodIssue): string => {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type')
    return `is ${kindOf(issue.input)}; it must be ${issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters long' : ''}`;
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}${issue.origin === 'string' ? ' characters long' : ''}`;
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
};

/** A name that cannot be one is the name of nothing: 404, as for one that does not exist. */
export const paramsOf = (route: Route, given: Readonly<Record<string, string>>): unknown => {
  if (!route.params) return undefined;
  const parsed = route.params.safeParse(given);
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0]);
  throw new Problem(UNKNOWN[name] ?? 'request/unknown_route', `there is no such ${name}`);
};

const NO_QUERY = z.strictObject({});

/** A parameter that comes twice is a fault: which of the two was meant cannot be known. Without a schema every one is unknown. */
export const queryOf = (route: Route, url: string): unknown => {
  const at = url.indexOf('?');
  const params = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  const given: Record<string, string> = Object.create(null);
  for (const [name, value] of params) {
    if (Object.hasOwn(given, name)) {
      throw invalid([{ in: 'query', path: childPath('', name), code: 'conflict', message: 'is given twice; give it once' }]);
    }
    given[name] = value;
  }
  // What anyone may read is left alone: probes of load balancers add parameters of their own.
  if (!route.query && route.access === 'anyone') return undefined;
  return checked('query', route.query ?? NO_QUERY, { ...given });
};

export const headersOf = (route: Route, headers: Headers): unknown => {
  if (!route.headers) return undefined;
  const named = Object.keys(route.headers.shape);
  return checked(
    'header',
    route.headers,
    Object.fromEntries(named.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : []))),
  );
};

export const bodyOf = async (route: Route, request: Request): Promise<unknown> => {
  const { body } = route;
  if (!body) return undefined;
  const type = request.headers.get('content-type');
  // Without a type and without a byte there is no body; a type alone does not make one.
  if (type !== null && !/^application\/json\s*(;.*)?$/i.test(type))
    throw new Problem('request/wrong_type', `'${type.slice(0, 100)}' is not application/json`);
  const text = await textOf(request);
  if (text === '' && body.optional) return undefined;
  if (type === null && text !== '') throw new Problem('request/wrong_type', 'the body has no Content-Type; send application/json');
  const value = parsed(text);
  return body.raw || !body.schema ? value : checked('body', body.schema, value);
};

const parsed = (text: string): unknown => {
  try {
    // V8 parses without recursion, so depth within the size limit costs no stack; readers bound it before they walk.
    return JSON.parse(text);
  } catch (error) {
    const says = error instanceof SyntaxError ? error.message.slice(0, 200) : 'unreadable';
    throw new Problem('request/not_json', text === '' ? 'the body is empty; send a JSON value' : says);
  }
};

const tooLarge = (): Problem => new Problem('request/too_large', `the body may have at most ${BODY_BYTES} bytes`);

const textOf = async (request: Request): Promise<string> => {
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > BODY_BYTES) throw tooLarge();
  if (!request.body) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    // Leaving the loop cancels the stream: the rest is never read.
    if (bytes > BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new Problem('request/not_json', error instanceof TypeError ? 'the body is not UTF-8' : 'the body cannot be read');
  }
};
