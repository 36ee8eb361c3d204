/**
 * Every default time of dispatch in one table (contract §13); seconds unless the name says otherwise.
 * The docs print this table, so a number that is not here is not a promise.
 */
export const TIMING = {
  pollSeconds: 60,
  memoryPollSeconds: 1,
  /** B: after this much of the cluster's clock, a submission can no longer land. */
  landingBoundSeconds: 90,
  /** The submitter's own limit on the cluster, or what is left until B, whichever is less. */
  submitterSeconds: 60,
  /** Less than this left until B: nothing is sent, the submission is deferred. */
  submitFloorSeconds: 15,
  /** Where the credential's life cannot be read. */
  credentialLifeSeconds: 300,
  settleMarginSeconds: 30,
  /** Between the two complete look-ups that prove a submission never landed (accounting finds names late). */
  settleAgainSeconds: 30,
  lookUpSeconds: 15,
  lookUpMostSeconds: 120,
  retrySeconds: 30,
  retryMostSeconds: 900,
  patienceSeconds: 7 * 86_400,
  /** After the patience, where the scheduler should have ended the attempt and has not. */
  patienceGraceSeconds: 600,
  vanishSeconds: 300,
  vanishPolls: 3,
  evidenceWaitSeconds: 300,
  pendingPolls: 2,
  cancelAgainSeconds: 120,
  cancelAgainMostSeconds: 3600,
  stuckCancellingSeconds: 900,
  stuckEndingSeconds: 3600,
  stuckAdmittedSeconds: 1200,
  stuckHeldSeconds: 1200,
  undiscardedSeconds: 900,
  /** How long an ended by-scheduler attempt may come back, or a requeue may take to show. */
  requeueSettleSeconds: 180,
  reconcileSeconds: 300,
  silentSupervisorSeconds: 300,
  promisedGraceSeconds: 120,
  safetyWakeSeconds: 12 * 3600,
  backoffSeconds: 30,
  backoffFactor: 2,
  backoffMostSeconds: 900,
  questionSeconds: 72 * 3600,
  /** An outage of a cluster that lasts so long is asked about, once. */
  clusterUnreachableSeconds: 6 * 3600,
  /** A probe that is older is made again when it is needed. */
  probeSeconds: 24 * 3600,
  /** After a refused key a preflight tries again this often; after a changed host key only a person's doing is worth a try. */
  blockedAgainSeconds: 900,
  /** Waiting for a connection slot: a share of what has been waited already, between these. */
  slotSeconds: 2,
  slotMostSeconds: 20,
  /** Connections of one login in an hour, polls aside, whatever the number of jobs (C047). */
  connectionsPerHour: 1800,
  owedSeconds: 30,
  idempotencySeconds: 24 * 3600,
  unfinishedBirthSeconds: 900,
  /** Age of a release mark before a run that may be alive counts as fenced (protocols §6.3). */
  fenceSeconds: 180,
  /** Where no wrapper looks for marks: from the end of an attempt whose pods may live on a silent node to the next release (protocols §4.7). */
  nodeLossWaitSeconds: 600,
  advanceSteps: 6,
  advanceSeconds: 60,
  loopsPerExecution: 1500,
  executionDays: 300,
} as const;
