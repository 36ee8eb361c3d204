/** Door: every five minutes, and when an execution ends badly. See lib/app/reconcile.ts. */
import type { Ports } from '../lib/app/ports.ts';
import { type Reconciled, reconcile } from '../lib/app/reconcile.ts';
import { reconcileAsked } from '../lib/aws/invocations.ts';
import { worker } from '../lib/aws/worker.ts';

export const reconcileHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<Reconciled> =>
    reconcile(await ports(), reconcileAsked(event));

export const handler = worker('reconcile', {
  handler: reconcileHandler,
  tell: ({ log, meter }, done, event) => {
    const { ended } = reconcileAsked(event);
    const { jobs, restarted, repaired, births, owed, questions, oldestQuestionSeconds, oldestHeadSeconds, failing, stranded } = done;
    meter.add('SupervisorsRestarted', restarted);
    meter.add('RecordsRepaired', repaired);
    if (restarted + repaired + births + owed > 0) log('info', 'reconciled', { jobs, restarted, repaired, births, owed });
    // Of one job alone nothing is known of the others.
    if (ended) return;
    meter.add('ReconcileHeartbeat', 1);
    meter.add('WakesOwed', owed);
    meter.add('JobsUnended', jobs);
    meter.add('QuestionsOpen', questions);
    meter.add('OldestQuestionSeconds', oldestQuestionSeconds);
    meter.add('OldestHeadSeconds', oldestHeadSeconds);
    meter.add('SupervisorsFailing', failing);
    meter.add('JobsStranded', stranded);
  },
});
