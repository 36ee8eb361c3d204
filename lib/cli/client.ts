/**
 * The API as the command line calls it: one request, its answer, or a failure that says in the API's own words what to do about it.
 * Guards: every call has a time limit and a bound; an answer that is not the API's is a failure, never half understood; the token goes to
 * the address that was named and is never shown.
 */

export interface Client {
  /** The body of a success. Throws Said. */
  call(method: 'GET' | 'POST', path: string, more?: Request): Promise<Record<string, unknown>>;
}

export interface Request {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API said no, or could not be asked: the text is for people. */
export class Said extends Error {
  override readonly name = 'Said';
  /** Of the problem, `cli/unreachable` or `cli/not_the_api`. */
  readonly code: string;
  /** Of HTTP; 0: nobody answered. */
  readonly status: number;
  constructor(code: string, message: string, status = 0) {
    super(message);
    this.code = code;
    this.status = status;
  }
  /** What was asked for may have been done all the same: nobody said that it was not. A gateway gives up before the API does. */
  get isUntold(): boolean {
    return this.code.startsWith('cli/') || (this.status >= 500 && this.code !== 'cluster/blocked');
  }
  /** The same call may succeed later without anybody's doing. */
  get isPassing(): boolean {
    return this.code === 'cli/unreachable' || this.status >= 500 || this.code === 'request/too_many_watches' || this.code === '429';
  }
}

export interface ClientOptions {
  /** Where the API is, with any prefix of its own. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly fetch: typeof fetch;
}

/** Above the longest watch, and what the API itself takes at most. */
const LIMIT_MS = 35_000;
const MOST_BYTES = 16 * 1024 * 1024;

export const createClient = ({ url, token, fetch: send }: ClientOptions): Client => ({
  call: async (method, path, { query = {}, body, headers = {} } = {}) => {
    const address = new URL(`${url.replace(/\/+$/, '')}${path}`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, String(value));
    const response = await send(address, {
      method,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect would carry the token to whoever it names.
      redirect: 'error',
      signal: AbortSignal.timeout(LIMIT_MS),
    }).catch((error: unknown) => {
      throw new Said('cli/unreachable', `${address.origin} cannot be asked: ${reasonOf(error)}`);
    });
    const answer = await readBody(response, address.origin);
    if (response.ok) return answer;
    throw new Said(String(answer['code'] ?? response.status), problemWords(response.status, answer), response.status);
  },
});

const readBody = async (response: Response, origin: string): Promise<Record<string, unknown>> => {
  const text = await readText(response).catch((error: unknown) => {
    throw new Said('cli/unreachable', `the answer of ${origin} broke off: ${reasonOf(error)}`);
  });
  const body = text === undefined ? undefined : parsed(text);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new Said('cli/not_the_api', `${origin} answered ${response.status} with what is no answer of dispatch`, response.status);
};

/** Undefined beyond the bound: what is not read is not kept. */
const readText = async (response: Response): Promise<string | undefined> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MOST_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${LIMIT_MS / 1000} s`;
  const { cause } = error;
  return cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : error.message;
};

/** Title, detail, and each fault with its path. A gateway in front of the API says `message` alone. */
const problemWords = (status: number, { title, detail, message, errors }: Record<string, unknown>): string => {
  const faults = Array.isArray(errors) ? errors.slice(0, 50) : [];
  const lines = faults.map((fault: { path?: unknown; message?: unknown }) => `  ${fault.path || 'the request'}: ${fault.message}`);
  return [`${title ?? `status ${status}`}: ${detail ?? message ?? ''}`, ...(lines.length > 1 ? lines : [])].join('\n');
};
