/** What routes about jobs answer with: the status, rows of lists, events. Instants are RFC 3339; in events they are the record's own. */
import * as z from 'zod';
import { CAUSE_NAMES, outcomeSchema } from '../../job/cause.ts';
import { CLUSTER_STATES } from '../../job/cluster-why.ts';
import { ANSWERS, ATTEMPT_STATES, eventSchema, QUESTION_KINDS, receiptSchema } from '../../job/event.ts';
import { JOB_STATES } from '../../job/view.ts';

export const instant = z.iso.datetime();

export const statusSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    owner: z.string(),
    project: z.string(),
    cluster: z.string(),
    state: z.enum(JOB_STATES),
    version: z.int().min(1),
    attempt: z
      .strictObject({
        n: z.int().min(1),
        run: z.int().min(0),
        state: z.enum(ATTEMPT_STATES),
        receipt: receiptSchema.meta({ id: 'Receipt' }).optional(),
        observedAt: instant.optional().meta({ description: 'When the cluster last told how it is.' }),
        stale: z.boolean().optional().meta({ description: 'The cluster has not answered for longer than a few polls.' }),
      })
      .optional(),
    outcome: outcomeSchema.meta({ id: 'Outcome' }).optional(),
    why: z.string().meta({ description: 'One sentence: what is going on, and why it was restarted, by what, from where.' }),
    resumedFrom: z.strictObject({ attempt: z.int(), trainingStep: z.int(), path: z.string() }).optional(),
    attempts: z.array(z.strictObject({ n: z.int(), outcome: z.string().optional(), decision: z.string().optional() })),
    question: z
      .strictObject({
        id: z.string(),
        kind: z.enum(QUESTION_KINDS),
        options: z.array(z.enum(ANSWERS)),
        expiresAt: instant,
        says: z.string(),
      })
      .optional(),
    checkpoint: z
      .strictObject({ attempt: z.int(), trainingStep: z.int(), path: z.string(), source: z.enum(['listed', 'reported']) })
      .optional(),
    clusterState: z
      .enum([...CLUSTER_STATES, 'submissions_blocked'])
      .optional()
      .meta({ description: 'Only while something is wrong with the cluster for this job.' }),
  })
  .meta({ id: 'Status' });

export const jobRowSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    owner: z.string(),
    project: z.string(),
    cluster: z.string(),
    login: z.string(),
    state: z.enum(JOB_STATES),
    cause: z.enum(CAUSE_NAMES).optional(),
    version: z.int().min(0).meta({ description: '0: accepted a moment ago, and not yet begun.' }),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'JobRow' });

export const storedEventSchema = z
  .strictObject({
    id: z.string().meta({ description: '`<job>:<version>:<i>`, the same as in notices.' }),
    version: z.int().min(1),
    at: instant,
    actor: z.string(),
    event: eventSchema.meta({ id: 'Event' }),
  })
  .meta({ id: 'StoredEvent' });

export const eventsSchema = z
  .strictObject({
    items: z.array(storedEventSchema),
    next: z.int().min(0).meta({ description: '`after` of the next call.' }),
    more: z.boolean().meta({ description: 'More are there already.' }),
    ended: z.boolean().meta({ description: 'The job has ended and nothing more will come after these.' }),
  })
  .meta({ id: 'Events' });

export const pageOf = <T extends z.ZodType>(id: string, item: T) =>
  z.strictObject({ items: z.array(item), nextCursor: z.string().optional() }).meta({ id });
