/** Routes about this server itself. */
import * as z from 'zod';
import { Problem } from '../problem.ts';
import { route } from '../route.ts';

export const systemRoutes = [
  route({
    id: 'readDocument',
    method: 'get',
    path: '/openapi.json',
    tag: 'server',
    says: 'This document.',
    access: 'anyone',
    answers: { 200: { says: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }).meta({ id: 'Document' }) } },
    problems: ['request/unknown_route'],
    async handle({ document }) {
      const body = await document();
      if (body === undefined) throw new Problem('request/unknown_route', 'the document is not served here');
      return { status: 200, body };
    },
  }),
  route({
    id: 'readHealth',
    method: 'get',
    path: '/health',
    tag: 'server',
    says: 'Whether this server answers. It looks at nothing else: an outage of the record is a 503 where it matters.',
    access: 'anyone',
    answers: { 200: { says: 'It does.', schema: z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' }) } },
    problems: [],
    async handle() {
      return { status: 200, body: { status: 'ok' } };
    },
  }),
];
