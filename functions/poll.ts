/** Door: the schedule of one cluster and login. See lib/app/poll.ts. */
import { pollInputSchema } from '../lib/app/machine-input.ts';
import { type Polled, type PollInput, poll } from '../lib/app/poll.ts';
import type { Ports } from '../lib/app/ports.ts';
import { wired } from '../lib/aws/wiring.ts';

export const pollHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<Polled> =>
    poll(await ports(), pollInputSchema.parse(event) as PollInput);

export const handler = pollHandler(wired);
