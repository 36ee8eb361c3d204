/** Routes about parts of a job: its events, its output, its checkpoints. */
import * as z from 'zod';
import { collectCheckpoints } from '../../app/collect-checkpoints.ts';
import { listCheckpoints, type ShownCheckpoint } from '../../app/list-checkpoints.ts';
import { publishCheckpoint } from '../../app/publish-checkpoint.ts';
import { readJob } from '../../app/read-job.ts';
import { OUTPUT_BYTES, readOutput } from '../../app/read-output.ts';
import { watchEvents } from '../../app/watch-events.ts';
import { reportSchema } from '../../checkpoint/report.ts';
import { invalid, Problem } from '../problem.ts';
import { type Call, route } from '../route.ts';
import {
  checkpointOf,
  checkpointSchema,
  checkpointsSchema,
  collectedOf,
  collectedSchema,
  collectingSchema,
  publishedSchema,
} from '../schema/checkpoint.ts';
import { eventsSchema } from '../schema/job.ts';
import { jobParam, truth, whole } from '../schema/query.ts';
import { unknownJob } from './refused.ts';

const refresh = truth(false).meta({ description: 'List `pub/` on the cluster now.' });

const seen = async ({ ports, principal }: Call, job: string) => {
  const view = await readJob(ports, principal, job);
  if (!view) throw unknownJob(job);
  return view;
};

const checkpointsAsked = async (call: Call, job: string, refreshed: boolean) => {
  const said = await listCheckpoints(call.ports, await seen(call, job), refreshed);
  if (said.kind === 'listed') return said;
  if (said.kind === 'observe_only')
    throw new Problem('job/observe_only', 'this job was submitted by someone else: its saves are not known');
  throw new Problem('cluster/unreachable', said.says);
};

export const jobPartRoutes = [
  route({
    id: 'watchEvents',
    method: 'get',
    path: '/jobs/{job}/events',
    tag: 'jobs',
    says: 'The record of a job after a version; with `wait`, for so long until there is something.',
    access: 'read',
    params: z.strictObject({ job: jobParam }),
    query: z.strictObject({
      after: whole(0, 10_000).default(0).meta({ description: 'The version up to which you know it.' }),
      wait: whole(0, 25).default(0).meta({ description: 'Seconds; at most 5 calls of one principal wait at the same time.' }),
    }),
    answers: { 200: { says: 'What came after, maybe nothing.', schema: eventsSchema } },
    problems: ['job/unknown', 'request/too_many_watches'],
    async handle(call) {
      const { ports, principal, params, query, signal, limits, watches } = call;
      const view = await seen(call as Call, params.job);
      const look = () => watchEvents(ports, view, { after: query.after, waitSeconds: query.wait }, signal);
      const said = query.wait === 0 ? await look() : await watches.within(principal.id, limits.watches, look);
      if (!said) throw new Problem('request/too_many_watches', `${limits.watches} of your calls wait already`);
      const items = said.commits.flatMap(({ version, at, actor, events }) =>
        events.map((event, i) => ({ id: `${view.job}:${version}:${i}`, version, at: new Date(at).toISOString(), actor, event })),
      );
      const next = said.commits.at(-1)?.version ?? query.after;
      const ended =
        !said.more && (items.some((item) => item.event.type === 'job_ended') || (view.ended !== undefined && next >= view.version));
      return { status: 200, body: { items, next, more: said.more, ended } };
    },
  }),
  route({
    id: 'readOutput',
    method: 'get',
    path: '/jobs/{job}/attempts/{attempt}/output',
    tag: 'jobs',
    says: 'A piece of what a run wrote, where its cluster keeps it. `nextOffset` is where the next piece begins.',
    access: 'read',
    params: z.strictObject({ job: jobParam, attempt: whole(1, 99_999) }),
    query: z.strictObject({
      stream: z.enum(['stdout', 'stderr']).default('stdout'),
      run: whole(0, 999_999).optional().meta({ description: 'The newest, unless told.' }),
      offset: whole(0, Number.MAX_SAFE_INTEGER).default(0).meta({ description: 'In bytes.' }),
      limit: whole(1, OUTPUT_BYTES)
        .default(64 * 1024)
        .meta({ description: 'In bytes.' }),
    }),
    answers: {
      200: {
        says: 'A piece; empty behind the end. What is no UTF-8 shows as U+FFFD.',
        schema: z
          .strictObject({ run: z.int().min(0), text: z.string(), nextOffset: z.int().min(0), totalBytes: z.int().min(0) })
          .meta({ id: 'Output' }),
      },
    },
    problems: ['job/unknown', 'attempt/unknown', 'output/none', 'cluster/unsupported', 'cluster/unreachable'],
    async handle(call) {
      const { ports, params, query } = call;
      const view = await seen(call as Call, params.job);
      const said = await readOutput(ports, view, { n: params.attempt, ...query });
      if (said.kind === 'unknown_attempt') throw new Problem('attempt/unknown', `the job has no attempt ${params.attempt}`);
      if (said.kind === 'unsupported')
        throw new Problem('cluster/unsupported', 'this cluster keeps no output that could be read from here');
      if (said.kind === 'none') throw new Problem('output/none', 'this run has written nothing yet, or it is gone');
      if (said.kind === 'unreachable') throw new Problem('cluster/unreachable', said.says);
      const { kind: _, ...piece } = said;
      return { status: 200, body: piece };
    },
  }),
  route({
    id: 'publishCheckpoint',
    method: 'post',
    path: '/jobs/{job}/checkpoints',
    tag: 'checkpoints',
    says: 'What a run reports of a save that it has announced by its marker; `dispatch-publish` does it. Authorization: the attempt’s token.',
    access: 'attempt',
    params: z.strictObject({ job: jobParam }),
    body: { schema: reportSchema.meta({ id: 'Report' }) },
    answers: { 200: { says: 'Taken.', schema: publishedSchema } },
    problems: ['job/observe_only', 'checkpoint/invalid', 'checkpoint/late', 'checkpoint/exists'],
    async handle({ ports, params, body, bearer, tokenKeys }) {
      const said = await publishCheckpoint(ports, tokenKeys, params.job, bearer, body);
      switch (said.kind) {
        case 'recorded':
        case 'kept':
          return { status: 200, body: { recorded: said.kind === 'recorded' } };
        case 'bad_token':
          throw new Problem('auth/bad_token', 'this needs the token of an attempt of this job');
        case 'observe_only':
          throw new Problem('job/observe_only', 'this job was submitted by someone else: it publishes nothing here');
        case 'invalid':
          throw invalid([{ in: 'body', path: 'path', code: 'conflict', message: said.says }], 'checkpoint/invalid');
        case 'late':
          throw new Problem(
            'checkpoint/late',
            'a later run was given its resume point, or the job has ended: this will not be resumed from',
          );
        case 'exists':
          throw new Problem('checkpoint/exists', 'this publication is in the record');
      }
    },
  }),
  route({
    id: 'listCheckpoints',
    method: 'get',
    path: '/jobs/{job}/checkpoints',
    tag: 'checkpoints',
    says: 'What was published, the greatest first, and how each stands; `refresh=true` lists all of it anew, else of each run the last that the record knows.',
    access: 'read',
    params: z.strictObject({ job: jobParam }),
    query: z.strictObject({
      refresh,
      limit: whole(1, 1000).default(100),
      cursor: z
        .string()
        .regex(/^\d{1,6}$/, 'must be `nextCursor` of the page before')
        .optional(),
    }),
    answers: { 200: { says: 'A page of them.', schema: checkpointsSchema } },
    problems: ['job/unknown', 'job/observe_only', 'cluster/unreachable'],
    async handle(call) {
      const { params, query } = call;
      const said = await checkpointsAsked(call as Call, params.job, query.refresh);
      const from = Number(query.cursor ?? 0);
      const page = said.items.toReversed().slice(from, from + query.limit);
      const more = from + page.length < said.items.length;
      const body = {
        items: page.map(checkpointOf),
        refreshed: said.refreshed,
        ...(more ? { nextCursor: String(from + page.length) } : {}),
      };
      return { status: 200, body };
    },
  }),
  route({
    id: 'readLatestCheckpoint',
    method: 'get',
    path: '/jobs/{job}/checkpoints/latest',
    tag: 'checkpoints',
    says: 'What the next run would resume from.',
    access: 'read',
    params: z.strictObject({ job: jobParam }),
    query: z.strictObject({ refresh }),
    answers: { 200: { says: 'The publication.', schema: checkpointSchema } },
    problems: ['job/unknown', 'job/observe_only', 'checkpoint/none', 'cluster/unreachable'],
    async handle(call) {
      const said = await checkpointsAsked(call as Call, call.params.job, call.query.refresh);
      const latest: ShownCheckpoint | undefined = said.items.findLast((one) => one.latest);
      if (!latest) throw new Problem('checkpoint/none', 'there is nothing that a run would resume from');
      return { status: 200, body: checkpointOf(latest) };
    },
  }),
  route({
    id: 'collectCheckpoints',
    method: 'post',
    path: '/jobs/{job}/checkpoints/collect',
    tag: 'checkpoints',
    says: 'Tells which old saves of a job may go, and with `dry: false` removes them, on its cluster. What a run resumes from, reads or writes stays.',
    // Of the job's own people, like ending it: both throw work away, and whoever fills a quota must be able to empty it.
    access: 'cancel',
    params: z.strictObject({ job: jobParam }),
    body: { schema: collectingSchema },
    answers: { 200: { says: 'What went, or would go.', schema: collectedSchema } },
    problems: ['job/unknown', 'job/observe_only', 'cluster/unsupported', 'cluster/unreachable'],
    async handle(call) {
      const said = await collectCheckpoints(call.ports, await seen(call as Call, call.params.job), call.body);
      switch (said.kind) {
        case 'collected':
          return { status: 200, body: collectedOf(said, call.body.dry) };
        case 'observe_only':
          throw new Problem('job/observe_only', said.says);
        case 'unsupported':
        case 'read_only':
          throw new Problem('cluster/unsupported', said.says);
        case 'unreachable':
          throw new Problem('cluster/unreachable', said.says);
      }
    },
  }),
];
