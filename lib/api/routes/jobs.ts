/** Routes about jobs: submit, list, read, cancel, and adopting what somebody else submitted. */
import * as z from 'zod';
import { type Accepted, acceptJob } from '../../app/accept-job.ts';
import { cancelJob } from '../../app/command-job.ts';
import { listJobs } from '../../app/list-jobs.ts';
import { observeJob } from '../../app/observe-job.ts';
import type { Principal } from '../../app/principal.ts';
import { readJob, readStatus } from '../../app/read-job.ts';
import { CAUSE_NAMES } from '../../job/cause.ts';
import { JOB_STATES, type View } from '../../job/view.ts';
import type { JobRow } from '../../record/port.ts';
import { Problem } from '../problem.ts';
import { type Call, route } from '../route.ts';
import { jobRowSchema, pageOf, statusSchema } from '../schema/job.ts';
import { cursorQuery, jobParam, limitQuery } from '../schema/query.ts';
import { writtenSpecSchema } from '../schema/spec.ts';
import { etagOf, foreignProject, notCommanded, refused, unknownCluster, unknownJob } from './refused.ts';

const label = z
  .string()
  .regex(/^[^=]{1,63}=[^=]{1,63}$/, 'must be NAME=VALUE')
  .transform((text) => ({ key: text.slice(0, text.indexOf('=')), value: text.slice(text.indexOf('=') + 1) }));
const ifMatch = z
  .string()
  .regex(/^(\*|"[1-9]\d{0,9}")$/, 'must be the ETag of the job as it was read: "7" (quotes included), or *')
  .transform((text) => (text === '*' ? undefined : Number(text.slice(1, -1))));
const text = (most: number) => z.string().min(1).max(most);

const answered = async ({ ports }: Pick<Call, 'ports'>, view: View, status: number, more: Record<string, string> = {}) => ({
  status,
  body: await readStatus(ports, view),
  headers: { etag: etagOf(view.version), ...more },
});

export const jobRoutes = [
  route({
    id: 'submitJob',
    method: 'post',
    path: '/jobs',
    tag: 'jobs',
    says: 'Accepts a job. With an Idempotency-Key (good for 24 h) a repeat answers with the same job.',
    access: 'submit',
    query: z.strictObject({
      plan: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be the digest of a plan: 64 hexadecimal characters')
        .optional()
        .meta({ description: 'The digest of the plan that you read: refused if the plan would be different now.' }),
    }),
    headers: z.object({
      'idempotency-key': z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable characters without spaces')
        .optional(),
    }),
    body: { schema: writtenSpecSchema, raw: true },
    answers: { 202: { says: 'Accepted, or accepted before under the same key.', schema: statusSchema, headers: ['ETag', 'Location'] } },
    problems: [
      'auth/foreign_project',
      'cluster/no_login',
      'plan/changed',
      'plan/refused',
      'request/key_reused',
      'project/too_many_jobs',
      'cluster/blocked',
    ],
    async handle(call) {
      const { ports, principal, query, headers, body, limits } = call;
      const asked = { spec: body, plan: query.plan, key: headers['idempotency-key'], maxActiveJobs: limits.maxActiveJobs };
      const accepted = await acceptJob(ports, principal, asked);
      if (accepted.kind !== 'submitted') throw notAccepted(accepted, principal);
      return answered(call, accepted.view, 202, { location: `/jobs/${accepted.view.job}` });
    },
  }),
  route({
    id: 'listJobs',
    method: 'get',
    path: '/jobs',
    tag: 'jobs',
    says: 'Lists jobs, newest first. Filters that no index answers are applied to the page, which may come back short, or empty, with a cursor.',
    access: 'read',
    query: z.strictObject({
      state: z.enum(JOB_STATES).optional(),
      cluster: text(63).optional(),
      cause: z.enum(CAUSE_NAMES).optional(),
      label: label.optional().meta({ description: 'NAME=VALUE' }),
      project: text(63).optional(),
      limit: limitQuery,
      cursor: cursorQuery,
    }),
    answers: { 200: { says: 'One page.', schema: pageOf('JobPage', jobRowSchema) } },
    problems: ['request/bad_cursor'],
    async handle({ ports, principal, query }) {
      const page = await listJobs(ports, principal, query);
      return { status: 200, body: { items: page.items.map(rowOf), ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }) } };
    },
  }),
  route({
    id: 'readJob',
    method: 'get',
    path: '/jobs/{job}',
    tag: 'jobs',
    says: 'How a job is: its state, why, each attempt with its end and what followed, and what is asked of people.',
    access: 'read',
    params: z.strictObject({ job: jobParam }),
    answers: { 200: { says: 'Its status.', schema: statusSchema, headers: ['ETag'] } },
    problems: ['job/unknown'],
    async handle(call) {
      const view = await readJob(call.ports, call.principal, call.params.job);
      if (!view) throw unknownJob(call.params.job);
      return answered(call, view, 200);
    },
  }),
  route({
    id: 'cancelJob',
    method: 'post',
    path: '/jobs/{job}/cancel',
    tag: 'jobs',
    says: 'Asks for its end. A job that ended meanwhile is answered with its outcome.',
    access: 'cancel',
    params: z.strictObject({ job: jobParam }),
    headers: z.object({ 'if-match': ifMatch.optional().meta({ description: 'The ETag that you decided from.' }) }),
    body: { schema: z.strictObject({ reason: z.string().max(1024).optional() }), optional: true },
    answers: {
      200: { says: 'It has ended, or was being cancelled already.', schema: statusSchema, headers: ['ETag'] },
      202: { says: 'It is being cancelled.', schema: statusSchema, headers: ['ETag'] },
    },
    problems: ['job/unknown', 'job/observe_only', 'job/changed'],
    async handle(call) {
      const { ports, principal, params, headers, body } = call;
      if (!(await readJob(ports, principal, params.job))) throw unknownJob(params.job);
      const ifVersion = headers['if-match'];
      const by = { principal: principal.id, reason: body?.reason ?? '', ...(ifVersion === undefined ? {} : { ifVersion }) };
      const said = await cancelJob(ports, params.job, by);
      if (said.kind !== 'committed' && said.kind !== 'already') throw notCommanded(said, params.job);
      return answered(call, said.view, said.kind === 'committed' ? 202 : 200);
    },
  }),
  route({
    id: 'observeJob',
    method: 'post',
    path: '/observed-jobs',
    tag: 'jobs',
    says: 'Watches a job that somebody else submitted: classified and reported, never acted upon.',
    access: 'submit',
    body: {
      schema: z.strictObject({
        cluster: text(63),
        login: text(63).optional(),
        schedulerId: z
          .string()
          .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be the id that the scheduler gave it')
          .meta({ description: 'The id that the scheduler gave it.' }),
        project: text(63).optional(),
      }),
    },
    answers: { 202: { says: 'It is watched from now on, or was already.', schema: statusSchema, headers: ['ETag', 'Location'] } },
    problems: ['cluster/unknown', 'cluster/no_login', 'cluster/unsupported', 'auth/foreign_project', 'job/unknown', 'cluster/unreachable'],
    async handle(call) {
      const { ports, principal, body } = call;
      const said = await observeJob(ports, principal, body);
      switch (said.kind) {
        case 'adopted':
          return answered(call, said.view, 202, { location: `/jobs/${said.view.job}` });
        case 'unknown_cluster':
          throw unknownCluster(body.cluster);
        case 'no_login':
          throw new Problem('cluster/no_login', `no login of '${body.cluster}' allows ${principal.id}`);
        case 'foreign_project':
          throw foreignProject(principal, said.project);
        case 'unsupported':
          throw new Problem('cluster/unsupported', `'${body.cluster}' cannot show a job that somebody else submitted`);
        case 'unknown_object':
          throw new Problem('job/unknown', `the scheduler of '${body.cluster}' knows no ${body.schedulerId}`);
        case 'ours':
          throw new Problem('cluster/unsupported', `${body.schedulerId} was submitted by dispatch: it is watched by its own job`);
        case 'unreachable':
          throw new Problem('cluster/unreachable', said.says);
      }
    },
  }),
];

const rowOf = ({ job, bornAt, updatedAt, ...row }: JobRow) => ({
  id: job,
  ...row,
  createdAt: new Date(bornAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
});

const notAccepted = (said: Exclude<Accepted, { kind: 'submitted' }>, principal: Principal): Problem => {
  switch (said.kind) {
    case 'refused':
      return refused(said.refusals);
    case 'no_login':
      return new Problem('cluster/no_login', said.says);
    case 'foreign_project':
      return foreignProject(principal, said.project);
    case 'plan_refused':
      return new Problem('plan/refused', said.plan.refusals[0]?.says ?? 'the plan has refusals', {
        errors: said.plan.refusals.map(({ path, says }) => ({ in: 'body', path, code: 'unsupported', message: says })),
        with: { plan: said.plan },
      });
    case 'plan_changed':
      return new Problem('plan/changed', `the plan would be ${said.now.digest} now`, {
        with: { now: said.now, ...(said.read ? { read: said.read } : {}) },
      });
    case 'key_reused':
      return new Problem('request/key_reused', `this key was used for job ${said.job}, with another spec`);
    case 'blocked':
      return new Problem('cluster/blocked', said.says);
    case 'too_many':
      return new Problem(
        'project/too_many_jobs',
        `project '${said.project}' has ${said.most} jobs that have not ended, which is its limit`,
      );
  }
};
