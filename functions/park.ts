/** Door: the machine's AwaitWake and AwaitAnswer states. See lib/app/park.ts; returning means the token is stored. */
import { parkInputSchema } from '../lib/app/machine-input.ts';
import { park } from '../lib/app/park.ts';
import type { Ports } from '../lib/app/ports.ts';
import { worker } from '../lib/aws/worker.ts';

export const parkHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<Record<string, never>> => {
    await park(await ports(), parkInputSchema.parse(event));
    return {};
  };

export const handler = worker('park', { handler: parkHandler, answers: ['StaleDecision', 'Superseded'] });
