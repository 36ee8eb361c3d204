/** Ticks: every pair of cluster and login that is polled, and how often, in the order of the configuration. Pure. */
import { pollRateMinutes } from '../lib/aws/invocations.ts';
import type { Configuration } from '../lib/cluster/configuration.ts';

export interface Ticking {
  readonly cluster: string;
  readonly login: string;
  readonly minutes: number;
}

export const ticksOf = ({ clusters }: Pick<Configuration, 'clusters'>): readonly Ticking[] =>
  clusters.flatMap((cluster) => {
    const logins = cluster.kind === 'slurm' ? (cluster.logins ?? []) : [];
    return logins.map((login) => ({ cluster: cluster.id, login: login.id, minutes: pollRateMinutes(cluster.pollEverySeconds) }));
  });
