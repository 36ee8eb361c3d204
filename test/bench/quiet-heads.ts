/** The heads of the ten thousand: a life's, cut where its first attempt was seen running. */
import { summaryOf } from '../../lib/app/summary.ts';
import { fold, type View } from '../../lib/job/view.ts';
import { newHeadItem } from '../../lib/record/dynamodb/head-item.ts';
import { toItem } from '../../lib/record/dynamodb/item.ts';
import type { WireItem } from './item.ts';
import { live } from './life.ts';
import { CLUSTER, LOGIN, type QueuedJob, queuedJobs } from './quiet-jobs.ts';

const ROOT = '/lustre/projects/vision/checkpoints';

export const headItems = async (): Promise<readonly WireItem[]> => {
  const { commits } = await live();
  const at = commits.findIndex(({ events }) => events.some((event) => event.type === 'attempt_observed' && event.state === 'running'));
  const running = fold(commits.slice(0, at + 1)) as View;
  return queuedJobs().map((queued) => headItem(running, queued));
};

const headItem = (running: View, { job, schedulerId, identity, submittedAt }: QueuedJob): WireItem => {
  const receipt = { cluster: CLUSTER, login: LOGIN, schedulerId, identity, submittedAt: submittedAt * 1000 };
  const { spec, attempts, version, submittedAt: at } = running;
  const view: View = {
    ...running,
    job,
    ...(spec ? { spec: { ...spec, checkpoint: { required: false, root: ROOT } } } : {}),
    attempts: attempts.map((attempt) => ({ ...attempt, identity, receipt })),
  };
  const supervisor = { generation: 1, machine: 1, failures: 0, seenAt: at, takenAt: 0 };
  const born = { job, version, bornAt: at, triedAt: at, principal: 'ada', key: job, payloadHash: 'f00d' };
  return toItem(newHeadItem({ ...born, summary: summaryOf(view), supervisor, tries: { version, count: 0 }, notified: version }));
};
