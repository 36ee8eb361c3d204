/**
 * Doors: the deployed functions, and which operations of the API each of those behind API Gateway serves. Pure data, read by the doors
 * themselves and by what deploys them, so that the two cannot differ. Guards: every operation has exactly one door (a test), and only
 * doors that speak to a cluster may read its keys.
 */
export const DOORS = {
  submit: ['submitJob', 'observeJob'],
  plan: ['planJob'],
  publish: ['publishCheckpoint'],
  /** Everything that the record alone answers. */
  jobs: ['listJobs', 'readJob', 'cancelJob', 'watchEvents', 'listEscalations', 'readToken', 'answerEscalation', 'readHealth'],
  /** What may need a connection to a cluster while the caller waits. */
  output: ['readOutput', 'listCheckpoints', 'readLatestCheckpoint', 'collectCheckpoints'],
  clusters: ['listClusters', 'readCluster', 'listClusterEvents', 'startPreflight', 'answerClusterEscalation'],
  /** Apart, since the document's generator weighs more than all the others. */
  document: ['readDocument'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type DoorName = keyof typeof DOORS;

/** Called by the machine, by schedules, by rules and by one another. */
export const WORKERS = ['advance', 'park', 'poll', 'reconcile', 'preflight'] as const;
export type WorkerName = (typeof WORKERS)[number];

export type FunctionName = DoorName | WorkerName;
export const FUNCTION_NAMES: readonly FunctionName[] = [...(Object.keys(DOORS) as DoorName[]), ...WORKERS];

/** Those that open connections to clusters, and so read the keys of their logins. */
export const CONNECTING: readonly FunctionName[] = ['submit', 'plan', 'output', 'advance', 'poll', 'preflight'];
