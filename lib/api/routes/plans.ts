/** POST /plans: what would be done with a spec, before anything starts. */
import { keepPlan } from '../../app/accept-job.ts';
import { planJob } from '../../app/plan-job.ts';
import { planSchema } from '../../job/plan.ts';
import { route } from '../route.ts';
import { writtenSpecSchema } from '../schema/spec.ts';
import { refused } from './refused.ts';

export const documentedPlan = planSchema.meta({
  id: 'Plan',
  description: 'What would happen, who enforces each rule, and exactly what would be sent.',
});

export const planRoutes = [
  route({
    id: 'planJob',
    method: 'post',
    path: '/plans',
    tag: 'jobs',
    says: 'Says what would happen to a spec: who enforces each rule there, what would be sent, what speaks against it. Kept 7 days under its digest.',
    access: 'submit',
    body: { schema: writtenSpecSchema, raw: true },
    answers: { 200: { says: 'The plan. One with `refusals` cannot be submitted.', schema: documentedPlan } },
    problems: ['cluster/no_login'],
    async handle({ ports, principal, body }) {
      const planned = await planJob(ports, body, principal);
      if (planned.kind === 'refused') throw refused(planned.refusals, planned.noLogin);
      await keepPlan(ports, planned.plan);
      return { status: 200, body: planned.plan };
    },
  }),
];
