/** What routes about questions answer with. */
import * as z from 'zod';
import type { Asked } from '../../app/list-escalations.ts';
import { CLUSTER_QUESTION_KINDS } from '../../job/cluster-event.ts';
import { ANSWERS, QUESTION_KINDS } from '../../job/event.ts';
import { instant } from './job.ts';

export const escalationSchema = z
  .strictObject({
    id: z.string(),
    job: z.string().optional().meta({ description: 'Of a question about a job.' }),
    name: z.string().optional(),
    project: z.string().optional(),
    attempt: z.int().optional(),
    cluster: z.string(),
    kind: z.enum([...QUESTION_KINDS, ...CLUSTER_QUESTION_KINDS]),
    blocks: z.boolean().meta({ description: 'The job waits for the answer.' }),
    options: z.array(z.enum(ANSWERS)),
    onExpiry: z.enum(ANSWERS),
    raisedAt: instant,
    expiresAt: instant,
    says: z.string(),
    answerAt: z.string().meta({ description: 'Where to POST the answer.' }),
  })
  .meta({ id: 'Escalation' });

const at = (ms: number): string => new Date(ms).toISOString();

export const escalationOf = (asked: Asked): z.infer<typeof escalationSchema> => {
  const { id, kind, options, onExpiry, raisedAt, expiresAt, says } = asked.question;
  const told = { id, kind, options: [...options], onExpiry, raisedAt: at(raisedAt), expiresAt: at(expiresAt), says };
  if (asked.of === 'cluster') {
    return { ...told, cluster: asked.cluster, blocks: false, answerAt: `/clusters/${asked.cluster}/escalations/${id}/answer` };
  }
  const { view, question } = asked;
  return {
    ...told,
    job: view.job,
    name: view.name,
    project: view.project,
    attempt: question.n,
    cluster: view.spec?.cluster ?? view.attempts.at(-1)?.cluster ?? '',
    blocks: question.blocks,
    answerAt: `/jobs/${view.job}/escalations/${id}/answer`,
  };
};

export const tokenSchema = z
  .strictObject({
    question: z.string(),
    token: z.string(),
    until: instant.meta({ description: 'When the machine asks again, under a new token.' }),
  })
  .meta({ id: 'Token' });
