/**
 * Document: the OpenAPI 3.1 document, made from the table of routes, so that it says what the router does.
 * Loaded only where the document is served: the generator's library brings all of zod and its languages with it, 400 KB that no
 * other function needs.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { PROBLEMS, type ProblemCode, problemSchema } from './problem.ts';
import { problemsOf, type Route } from './route.ts';
import { ROUTES } from './routes.ts';

const HEADERS = {
  ETag: 'The version of the job, for If-Match.',
  Location: 'Where it can be read.',
  'Retry-After': 'Seconds.',
  Allow: 'The methods that fit.',
} as const;

type Registered = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0];

export const makeDocument = (routes: readonly Route[] = ROUTES) => {
  const app = new OpenAPIHono();
  const { openAPIRegistry } = app;
  openAPIRegistry.registerComponent('securitySchemes', 'caller', {
    type: 'http',
    scheme: 'bearer',
    description: 'Who calls: what the deployment’s sign-in gives; locally the token of the configuration, if there is one.',
  });
  openAPIRegistry.registerComponent('securitySchemes', 'attempt', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of an attempt, in the file that DISPATCH_TOKEN_FILE names.',
  });
  for (const one of routes) openAPIRegistry.registerPath(registered(one));
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'dispatch',
      version: '1',
      description:
        'Submits and supervises multi-node training jobs. Everything that goes wrong is a problem document with a stable `type`.',
    },
    servers: [{ url: '/' }],
  });
};

const registered = (one: Route): Registered => {
  const { params, query, headers, body } = one;
  return {
    method: one.method,
    path: one.path,
    operationId: one.id,
    tags: [one.tag],
    summary: one.says,
    ...(one.access === 'anyone' ? {} : { security: [{ [one.access === 'attempt' ? 'attempt' : 'caller']: scopesOf(one) }] }),
    request: {
      ...(params ? { params } : {}),
      ...(query ? { query } : {}),
      ...(headers ? { headers } : {}),
      ...(body ? { body: { required: !body.optional, content: { 'application/json': { schema: body.schema } } } } : {}),
    },
    responses: { ...answersOf(one), ...problemResponses(problemsOf(one)) },
  } as Registered;
};

/** OpenAPI 3.1 lets a scheme of any type name the roles that it needs. */
const scopesOf = (one: Route): string[] => (one.access === 'anyone' || one.access === 'attempt' ? [] : [one.access]);

const headersOf = (names: readonly (keyof typeof HEADERS)[]) =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { description: HEADERS[name], schema: { type: 'string' } }])) };

const answersOf = (one: Route) =>
  Object.fromEntries(
    Object.entries(one.answers).map(([status, { says, schema, headers = [] }]) => [
      status,
      { description: says, ...headersOf(headers), content: { 'application/json': { schema } } },
    ]),
  );

const problemResponses = (codes: readonly ProblemCode[]) => {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, its]) => [
      status,
      {
        description: its.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
        ...headersOf(status === 429 || status === 503 ? ['Retry-After'] : []),
        content: { 'application/problem+json': { schema: problemSchema } },
      },
    ]),
  );
};

export const documentText = (): string => `${JSON.stringify(makeDocument(), null, 2)}\n`;
