/** What routes about clusters answer with. */
import * as z from 'zod';
import type { ClusterStatus } from '../../app/read-cluster.ts';
import { clusterEventSchema, probeSchema } from '../../job/cluster-event.ts';
import { CLUSTER_STATES } from '../../job/cluster-why.ts';
import { escalationOf, escalationSchema } from './escalation.ts';
import { instant } from './job.ts';

const login = {
  id: z.string(),
  user: z.string(),
  allowed: z.boolean().meta({ description: 'You may run jobs under it.' }),
  answeredAt: instant.optional().meta({ description: 'When the last complete look began.' }),
  connections: z.int().min(0).meta({ description: 'Made in this hour (UTC).' }),
  trouble: z.string().optional(),
};
const cluster = {
  id: z.string(),
  kind: z.enum(['memory', 'slurm', 'kubernetes']),
  readOnly: z.boolean(),
  pollEverySeconds: z.int(),
  rootId: z.string().optional().meta({ description: 'Clusters that declare the same one see the same files under their root.' }),
  state: z.enum(CLUSTER_STATES).meta({ description: '`unknown`: never probed.' }),
  blocked: z.string().optional().meta({ description: 'Why no job is accepted for it now.' }),
};

export const clusterRowSchema = z.strictObject({ ...cluster, logins: z.array(z.strictObject(login)) }).meta({ id: 'ClusterRow' });
export const clusterSchema = z
  .strictObject({
    ...cluster,
    version: z.int().min(0),
    logins: z.array(z.strictObject({ ...login, probe: probeSchema.meta({ id: 'Probe' }).optional() })),
    questions: z.array(escalationSchema),
  })
  .meta({ id: 'Cluster' });

export const clusterEventsSchema = z
  .strictObject({
    items: z.array(
      z
        .strictObject({
          id: z.string(),
          version: z.int().min(1),
          at: instant,
          actor: z.string(),
          event: clusterEventSchema.meta({ id: 'ClusterEvent' }),
        })
        .meta({ id: 'StoredClusterEvent' }),
    ),
    next: z.int().min(0),
    more: z.boolean(),
  })
  .meta({ id: 'ClusterEvents' });

const at = (ms: number): string => new Date(ms).toISOString();

const loginOf = ({ answeredAt, probe: _, ...rest }: ClusterStatus['logins'][number]) => ({
  ...rest,
  ...(answeredAt === undefined ? {} : { answeredAt: at(answeredAt) }),
});

export const clusterRowOf = ({ version: _, questions: __, logins, ...rest }: ClusterStatus) => ({ ...rest, logins: logins.map(loginOf) });

export const clusterOf = ({ logins, questions, ...rest }: ClusterStatus) => ({
  ...rest,
  logins: logins.map((one) => ({ ...loginOf(one), ...(one.probe ? { probe: one.probe } : {}) })),
  questions: questions.map((question) => escalationOf({ of: 'cluster', cluster: rest.id, question })),
});
