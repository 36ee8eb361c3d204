/** Routes about questions to people: listed, answered, and the token for answering one at Step Functions itself. */
import * as z from 'zod';
import { answerQuestion } from '../../app/command-job.ts';
import { listEscalations } from '../../app/list-escalations.ts';
import { readJob, readStatus } from '../../app/read-job.ts';
import { readToken } from '../../app/read-token.ts';
import { ANSWERS } from '../../job/event.ts';
import { Problem } from '../problem.ts';
import { route } from '../route.ts';
import { escalationOf, escalationSchema, tokenSchema } from '../schema/escalation.ts';
import { pageOf, statusSchema } from '../schema/job.ts';
import { cursorQuery, jobParam, truth } from '../schema/query.ts';
import { etagOf, notCommanded, unknownJob } from './refused.ts';

const params = z.strictObject({ job: jobParam, escalation: z.string().min(1).max(32).meta({ example: 'q1' }) });

export const escalationRoutes = [
  route({
    id: 'listEscalations',
    method: 'get',
    path: '/escalations',
    tag: 'escalations',
    says: 'Open questions: those that a job waits for, or, with `blocking=false`, the others, those about clusters first.',
    access: 'read',
    query: z.strictObject({
      blocking: truth(true),
      cursor: cursorQuery,
    }),
    answers: {
      200: { says: 'One page; it may come back short, or empty, with a cursor.', schema: pageOf('EscalationPage', escalationSchema) },
    },
    problems: ['request/bad_cursor'],
    async handle({ ports, principal, query }) {
      const page = await listEscalations(ports, principal, query);
      return {
        status: 200,
        body: { items: page.items.map(escalationOf), ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }) },
      };
    },
  }),
  route({
    id: 'readToken',
    method: 'get',
    path: '/jobs/{job}/escalations/{escalation}/token',
    tag: 'escalations',
    says: 'The task token under which a blocking question is answered at Step Functions: `send-task-success` with `{"answer": …}`.',
    access: 'answer',
    params,
    answers: { 200: { says: 'The token. A new one replaces it whenever the machine asks again.', schema: tokenSchema } },
    problems: ['job/unknown', 'escalation/unknown', 'escalation/closed', 'escalation/no_token'],
    async handle({ ports, principal, params: { job, escalation } }) {
      const view = await readJob(ports, principal, job);
      if (!view) throw unknownJob(job);
      const said = await readToken(ports, view, escalation);
      if (said.kind !== 'token') throw noToken(said.kind, escalation);
      return { status: 200, body: { question: escalation, token: said.token, until: new Date(said.until).toISOString() } };
    },
  }),
  route({
    id: 'answerEscalation',
    method: 'post',
    path: '/jobs/{job}/escalations/{escalation}/answer',
    tag: 'escalations',
    says: 'Answers a question about a job. The first valid answer wins.',
    access: 'answer',
    params,
    body: { schema: z.strictObject({ answer: z.enum(ANSWERS) }) },
    answers: { 200: { says: 'The answer is in the record.', schema: statusSchema, headers: ['ETag'] } },
    problems: ['job/unknown', 'escalation/unknown', 'escalation/closed', 'escalation/not_an_option'],
    async handle({ ports, principal, params: { job, escalation }, body }) {
      if (!(await readJob(ports, principal, job))) throw unknownJob(job);
      const said = await answerQuestion(ports, job, { question: escalation, answer: body.answer, by: principal.id });
      if (said.kind !== 'committed' && said.kind !== 'already') throw notCommanded(said, job);
      return { status: 200, body: await readStatus(ports, said.view), headers: { etag: etagOf(said.view.version) } };
    },
  }),
];

const noToken = (why: 'unknown' | 'closed' | 'none', escalation: string): Problem => {
  if (why === 'unknown') return new Problem('escalation/unknown', `there is no question ${escalation} on this job`);
  if (why === 'closed') return new Problem('escalation/closed', `question ${escalation} is closed`);
  return new Problem('escalation/no_token', `nobody waits under a token for ${escalation} now`);
};
