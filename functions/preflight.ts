/** Door: a preflight by hand, of one login or of all of a cluster's. See lib/app/cluster/preflight.ts. */
import { type Preflighted, preflight } from '../lib/app/cluster/preflight.ts';
import { preflightInputSchema } from '../lib/app/machine-input.ts';
import type { Ports } from '../lib/app/ports.ts';
import { wired } from '../lib/aws/wiring.ts';

export interface PreflightSaid {
  readonly login: string;
  readonly kind: Preflighted['kind'];
  readonly says?: string;
}

export const preflightHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<readonly PreflightSaid[]> => {
    const { cluster, login } = preflightInputSchema.parse(event);
    const given = await ports();
    const logins = login === undefined ? (given.clusters.get(cluster)?.logins ?? []).map((one) => one.id) : [login];
    const said: PreflightSaid[] = [];
    // One after the other: of a blocked cluster there is one connection in all.
    for (const id of logins) {
      const found = await preflight(given, cluster, id, 'hand');
      said.push({ login: id, kind: found.kind, ...('says' in found ? { says: found.says } : {}) });
    }
    return said;
  };

export const handler = preflightHandler(wired);
