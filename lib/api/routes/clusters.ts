/** Routes about clusters: how they are, what they can do, asking them anew, and questions about them. */
import * as z from 'zod';
import { answerClusterQuestion } from '../../app/cluster/answer.ts';
import { readCluster, readClusterEvents } from '../../app/read-cluster.ts';
import { CLUSTER_ANSWERS } from '../../job/cluster-event.ts';
import { invalid, Problem } from '../problem.ts';
import { type Call, route } from '../route.ts';
import { clusterEventsSchema, clusterOf, clusterRowOf, clusterRowSchema, clusterSchema } from '../schema/cluster.ts';
import { pageOf } from '../schema/job.ts';
import { whole } from '../schema/query.ts';
import { unknownCluster } from './refused.ts';

const clusterParam = z.string().min(1).max(63);

const shown = async ({ ports, principal }: Call, id: string) => {
  const status = await readCluster(ports, principal, id);
  if (!status) throw unknownCluster(id);
  return status;
};

export const clusterRoutes = [
  route({
    id: 'listClusters',
    method: 'get',
    path: '/clusters',
    tag: 'clusters',
    says: 'Every cluster that this deployment knows.',
    access: 'read',
    answers: { 200: { says: 'All of them.', schema: pageOf('ClusterPage', clusterRowSchema) } },
    problems: [],
    async handle(call) {
      const all = await Promise.all([...call.ports.clusters.keys()].map((id) => shown(call as Call, id)));
      return { status: 200, body: { items: all.map(clusterRowOf) } };
    },
  }),
  route({
    id: 'readCluster',
    method: 'get',
    path: '/clusters/{cluster}',
    tag: 'clusters',
    says: 'One cluster: what a probe of it found it can do, as which login, with the evidence; and what is asked of people.',
    access: 'read',
    params: z.strictObject({ cluster: clusterParam }),
    answers: { 200: { says: 'As it is known.', schema: clusterSchema } },
    problems: ['cluster/unknown'],
    async handle(call) {
      return { status: 200, body: clusterOf(await shown(call as Call, call.params.cluster)) };
    },
  }),
  route({
    id: 'listClusterEvents',
    method: 'get',
    path: '/clusters/{cluster}/events',
    tag: 'clusters',
    says: 'The record of a cluster after a version.',
    access: 'read',
    params: z.strictObject({ cluster: clusterParam }),
    query: z.strictObject({ after: whole(0, 10_000).default(0) }),
    answers: { 200: { says: 'What came after, maybe nothing.', schema: clusterEventsSchema } },
    problems: ['cluster/unknown'],
    async handle({ ports, params: { cluster }, query: { after } }) {
      const page = await readClusterEvents(ports, cluster, after);
      if (!page) throw unknownCluster(cluster);
      const items = page.commits.flatMap(({ version, at, actor, events }) =>
        events.map((event, i) => ({ id: `${cluster}:${version}:${i}`, version, at: new Date(at).toISOString(), actor, event })),
      );
      return { status: 200, body: { items, next: page.commits.at(-1)?.version ?? after, more: page.more } };
    },
  }),
  route({
    id: 'startPreflight',
    method: 'post',
    path: '/clusters/{cluster}/preflight',
    tag: 'clusters',
    says: 'Asks a cluster anew what it can do. Changes nothing there; its success also ends a block.',
    access: 'operate',
    params: z.strictObject({ cluster: clusterParam }),
    body: { schema: z.strictObject({ login: z.string().min(1).max(63).optional() }), optional: true },
    answers: {
      202: {
        says: 'It has begun; what it finds is in the cluster’s record.',
        schema: z
          .strictObject({
            cluster: z.string(),
            logins: z.array(z.string()),
            after: z.int().min(0).meta({ description: 'The version it will come after.' }),
          })
          .meta({ id: 'Preflight' }),
        headers: ['Location'],
      },
    },
    problems: ['cluster/unknown'],
    async handle(call) {
      const { params, body, preflight } = call;
      const status = await shown(call as Call, params.cluster);
      const logins = status.logins.map((login) => login.id).filter((id) => body?.login === undefined || id === body.login);
      if (logins.length === 0) {
        const names = status.logins.map((login) => login.id).join(', ');
        throw invalid([{ in: 'body', path: 'login', code: 'unknown_value', message: `is no login of this cluster; one of ${names}` }]);
      }
      for (const login of logins) await preflight(params.cluster, login);
      const location = `/clusters/${params.cluster}/events?after=${status.version}`;
      return { status: 202, body: { cluster: params.cluster, logins, after: status.version }, headers: { location } };
    },
  }),
  route({
    id: 'answerClusterEscalation',
    method: 'post',
    path: '/clusters/{cluster}/escalations/{escalation}/answer',
    tag: 'clusters',
    says: 'Answers a question about a cluster, for every job on it.',
    access: 'operate',
    params: z.strictObject({ cluster: clusterParam, escalation: z.string().min(1).max(32) }),
    body: { schema: z.strictObject({ answer: z.enum(CLUSTER_ANSWERS) }) },
    answers: { 200: { says: 'The answer is in the record.', schema: clusterSchema } },
    problems: ['cluster/unknown', 'escalation/unknown', 'escalation/closed', 'escalation/not_an_option'],
    async handle(call) {
      const { ports, principal, params, body } = call;
      await shown(call as Call, params.cluster);
      const said = await answerClusterQuestion(ports, params.cluster, {
        question: params.escalation,
        answer: body.answer,
        by: principal.id,
      });
      if (said.kind === 'refused' && said.code === 'escalation/not_an_option')
        throw invalid([{ in: 'body', path: 'answer', code: 'unknown_value', message: said.says }], said.code);
      if (said.kind === 'refused') throw new Problem(said.code, said.says);
      return { status: 200, body: clusterOf(await shown(call as Call, params.cluster)) };
    },
  }),
];
