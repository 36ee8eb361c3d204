/** What use cases refuse, as problems: one place, since several routes meet the same refusals. */
import type { Commanded } from '../../app/command-job.ts';
import { type Principal, projectsOf } from '../../app/principal.ts';
import type { Refusal } from '../../job/refusal.ts';
import { invalid, Problem } from '../problem.ts';

export const refused = (refusals: readonly Refusal[], noLogin?: true): Problem => {
  if (noLogin) return new Problem('cluster/no_login', refusals[0]?.says ?? 'no login of the cluster allows you');
  return invalid(refusals.map(({ path, code, says }) => ({ in: 'body', path, code, message: says })));
};

export const unknownJob = (job: string): Problem => new Problem('job/unknown', `there is no job '${job}' that you may see`);
export const unknownCluster = (cluster: string): Problem => new Problem('cluster/unknown', `there is no cluster '${cluster}'`);

export const foreignProject = (principal: Principal, project: string): Problem =>
  new Problem('auth/foreign_project', `'${project}' is none of your projects: ${projectsOf(principal).slice(0, 20).join(', ')}`);

/** A command that the job's record did not take. */
export const notCommanded = (said: Exclude<Commanded, { kind: 'committed' | 'already' }>, job: string): Problem => {
  switch (said.kind) {
    case 'unknown_job':
      return unknownJob(job);
    case 'changed':
      return new Problem('job/changed', `the job is at version ${said.view.version} now`, { headers: { etag: etagOf(said.view.version) } });
    case 'refused':
      if (said.code !== 'escalation/not_an_option') return new Problem(said.code, said.says);
      return invalid([{ in: 'body', path: 'answer', code: 'unknown_value', message: said.says }], said.code);
  }
};

export const etagOf = (version: number): string => `"${version}"`;
