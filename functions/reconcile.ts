/** Door: every five minutes, and when an execution ends badly. See lib/app/reconcile.ts. */
import { reconcileInputSchema } from '../lib/app/machine-input.ts';
import type { Ports } from '../lib/app/ports.ts';
import { type Reconciled, reconcile } from '../lib/app/reconcile.ts';
import { wired } from '../lib/aws/wiring.ts';

export const reconcileHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<Reconciled> =>
    reconcile(await ports(), reconcileInputSchema.parse(event ?? {}) as { everyJob?: boolean });

export const handler = reconcileHandler(wired);
