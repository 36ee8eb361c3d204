/** Door: a preflight by hand, of one login or of all of a cluster's; asked for by an event on our bus. See lib/app/cluster/preflight.ts. */
import { type Preflighted, preflight } from '../lib/app/cluster/preflight.ts';
import type { Ports } from '../lib/app/ports.ts';
import { preflightAsked } from '../lib/aws/invocations.ts';
import { worker } from '../lib/aws/worker.ts';

export interface PreflightSaid {
  readonly cluster: string;
  readonly login: string;
  readonly kind: Preflighted['kind'];
  readonly says?: string;
}

export const preflightHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<readonly PreflightSaid[]> => {
    const { cluster, login } = preflightAsked(event);
    const given = await ports();
    const logins = login === undefined ? (given.clusters.get(cluster)?.logins ?? []).map((one) => one.id) : [login];
    const said: PreflightSaid[] = [];
    // One after the other: of a blocked cluster there is one connection in all.
    for (const id of logins) {
      const found = await preflight(given, cluster, id, 'hand');
      said.push({ cluster, login: id, kind: found.kind, ...('says' in found ? { says: found.says } : {}) });
    }
    return said;
  };

export const handler = worker('preflight', {
  handler: preflightHandler,
  tell: ({ log }, all) => {
    for (const one of all) log(one.kind === 'probed' ? 'info' : 'warn', 'preflight', { ...one });
  },
});
