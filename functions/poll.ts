/** Door: the schedule of one cluster and login. See lib/app/poll.ts. */
import { pollInputSchema } from '../lib/app/machine-input.ts';
import { type Polled, type PollInput, poll } from '../lib/app/poll.ts';
import type { Ports } from '../lib/app/ports.ts';
import { pollPeriod } from '../lib/aws/poll-period.ts';
import { worker } from '../lib/aws/worker.ts';

/** One poll, as the local ticker asks for it. */
export const pollHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<Polled> =>
    poll(await ports(), pollInputSchema.parse(event) as PollInput);

export const handler = worker('poll', {
  handler: (ports) => async (event, remainingMs) => pollPeriod(await ports(), event, remainingMs),
  tell: ({ log, meter }, polls) => {
    for (const { kind, active, commits, says, cluster, login, tookMs } of polls) {
      const where = { cluster, login };
      meter.add('PollHeartbeat', 1, where);
      if (kind === 'unreachable') meter.add('PollUnreachable', 1, where);
      if (kind === 'blocked') meter.add('PollBlocked', 1, where);
      meter.add('ActiveJobs', active, where);
      if (kind === 'looked') meter.add('PollMilliseconds', tookMs, where);
      // A quiet poll is its heartbeat: a line a minute, cluster and login for nothing would be most of the log.
      const quiet = commits === 0 && (kind === 'looked' || kind === 'idle');
      if (!quiet) log(kind === 'unreachable' || kind === 'blocked' ? 'warn' : 'info', 'polled', { kind, active, commits, tookMs, says });
    }
  },
});
