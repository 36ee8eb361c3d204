/** Coverage: everything that worlds must have met or reached before many of them prove anything. A name that is missing is a failure. */
import { NOTICE_TYPES } from '../../lib/app/notices.ts';
import { CAUSE_NAMES } from '../../lib/job/cause.ts';
import { CLUSTER_EVENT_TYPES, CLUSTER_QUESTION_KINDS } from '../../lib/job/cluster-event.ts';
import { ANSWERS, EVENT_TYPES, QUESTION_KINDS } from '../../lib/job/event.ts';
import { CONSEQUENCES, FAULT_KINDS } from './climate.ts';

const STEPS = ['submit', 'settle', 'release', 'await', 'cancel', 'requeue', 'discard', 'decide', 'escalate', 'expire', 'finish', 'done'];

/** The operations that callers of a world use: all that take or give something of a job, a question, a plan or a cluster. */
const ROUTES = [
  ...['planJob', 'submitJob', 'listJobs', 'readJob', 'watchEvents', 'readOutput', 'cancelJob', 'observeJob'],
  ...['listEscalations', 'readToken', 'answerEscalation', 'publishCheckpoint', 'listCheckpoints', 'readLatestCheckpoint'],
  ...['collectCheckpoints'],
  ...['listClusters', 'readCluster', 'listClusterEvents', 'startPreflight', 'answerClusterEscalation'],
];

export const REACHABLE: readonly string[] = [
  ...STEPS.map((step) => `step ${step}`),
  ...EVENT_TYPES.map((type) => `event ${type}`),
  // A question about a cluster expires after three days, which only a long world has.
  ...CLUSTER_EVENT_TYPES.filter((type) => type !== 'escalation_expired').map((type) => `cluster event ${type}`),
  ...CAUSE_NAMES.map((cause) => `cause ${cause}`),
  ...[...QUESTION_KINDS, ...CLUSTER_QUESTION_KINDS].map((kind) => `question ${kind}`),
  ...ANSWERS.map((answer) => `answer ${answer}`),
  ...NOTICE_TYPES.map((type) => `notice ${type}`),
  ...ROUTES.map((route) => `route ${route}`),
];

export const MEETABLE: readonly string[] = [...FAULT_KINDS, ...CONSEQUENCES];

/** Of what could be met or reached, what was not. */
export const missedOf = (reached: ReadonlyMap<string, number>, faults: ReadonlyMap<string, number>): readonly string[] => [
  ...REACHABLE.filter((what) => !reached.has(what)),
  ...MEETABLE.filter((kind) => !faults.has(kind)),
];
