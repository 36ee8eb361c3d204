/**
 * Pending reasons: why Slurm says that a job waits, as the groups that a policy can act on (C015, C016).
 * The controller prints either a known word or free text; scontrol and sites that copy it write underscores for spaces. A reason
 * is the result of the last evaluation: it may be stale, so acting on one needs persistence, which is the caller's.
 *
 * Invariant: an unknown reason is evidence and reads as `waiting`; it never ends or blocks anything by itself (protocols §5.5).
 */
import type { PendingGroup } from '../../job/event.ts';

export const WORDS: Readonly<Record<Exclude<PendingGroup, 'admitted' | 'concurrency'>, string>> = {
  waiting: `None Priority Resources BeginTime Dependency Licenses Reservation Cleaning Prolog JobArrayTaskLimit BurstBufferResources
    BurstBufferStageIn SchedDefer FedJobLock MaxPoweredUpNodes MpiPortsBusy NvidiaImexChannels Constraints PowerNotAvail
    PowerReserved FrontEndDown BlockMaxError BlockFreeAction NonZeroExitCode`,
  budget: 'AssocGrpWallLimit QOSGrpWallLimit',
  blocked: `AccountingPolicy AccountNotAllowed AssociationResourceLimit AssociationTimeLimit BurstBufferOperation InvalidAccount
    InvalidQOS PartitionDown PartitionInactive PartitionNodeLimit QOSNotAllowed QOSResourceLimit QOSTimeLimit QOSUsageThreshold
    ReqNodeNotAvail ReservationDeleted ReservationInvalid`,
  held: 'JobHeldUser JobHeldAdmin',
  launch_failed: 'JobHoldMaxRequeue',
  // PartitionConfig: with limits not enforced at submission, a job larger than its partition waits with this word for ever.
  never: `DependencyNeverSatisfied BadConstraints PartitionTimeLimit MaxMemPerLimit PartitionConfig QOSMaxWallDurationPerJobLimit
    AssocMaxWallDurationPerJobLimit QOSMinCpuNotSatisfied`,
};

/** Free text, by how it begins (after underscores became spaces). The first that matches counts. */
export const PREFIXES: readonly (readonly [prefix: string, group: PendingGroup])[] = [
  ['launch failed requeued held', 'launch_failed'],
  ['launch failure limit exceeded requeued held', 'launch_failed'],
  ['user env retrieval failed requeued held', 'launch_failed'],
  ['job requeued in held state', 'held'],
  ['job requeued in special exit state', 'held'],
  ['ReqNodeNotAvail', 'blocked'],
  ['Nodes required for job are DOWN, DRAINED or reserved', 'waiting'],
  ["Job's account not", 'blocked'],
  ["Job's QOS not", 'blocked'],
];

/**
 * Families of limits, whose members differ by what they count (CPU, memory, GRES, …). Order decides: run minutes count what runs
 * now, plain minutes a budget that is spent; a limit per job or node can never be met by waiting.
 */
export const FAMILIES: readonly (readonly [pattern: RegExp, group: PendingGroup])[] = [
  [/^(QOS|Assoc)Grp\w*RunMinutes(Limit)?$/, 'concurrency'],
  [/^(QOS|Assoc)Grp\w*Minutes(Limit)?$/, 'budget'],
  [/^(QOS|Assoc)Grp\w+$/, 'concurrency'],
  [/^(QOS|Assoc)Max\w*(MinutesPerJob|PerJob|PerNode)(Limit)?$/, 'never'],
  [/^QOSMin\w+$/, 'never'],
  [/^Max\w+(PerAccount|PerUser)$/, 'concurrency'],
  [/^QOSMax\w+PerUser(Limit)?$/, 'concurrency'],
  [/^(AssocMaxJobsLimit|AssocMaxSubmitJobLimit|AssociationJobLimit|QOSJobLimit)$/, 'concurrency'],
];

const BY_WORD = new Map<string, PendingGroup>(
  Object.entries(WORDS).flatMap(([group, words]) => words.split(/\s+/).map((word) => [word, group as PendingGroup] as const)),
);

/** The group of a pending reason; undefined for a word that no table knows. */
export const knownGroup = (reason: string): PendingGroup | undefined => {
  const word = BY_WORD.get(reason);
  if (word) return word;
  const text = reason.replaceAll('_', ' ');
  for (const [prefix, group] of PREFIXES) if (text.startsWith(prefix)) return group;
  for (const [pattern, group] of FAMILIES) if (pattern.test(reason)) return group;
  return undefined;
};

/** The group of a pending reason, unknown ones waiting. Remembered, since a poll asks for the same few words ten thousand times. */
export const groupOf = (reason: string): PendingGroup => {
  const known = REMEMBERED.get(reason);
  if (known) return known;
  const group = knownGroup(reason) ?? 'waiting';
  if (REMEMBERED.size >= MOST_REMEMBERED) REMEMBERED.clear();
  REMEMBERED.set(reason, group);
  return group;
};

const REMEMBERED = new Map<string, PendingGroup>();
// Free text names nodes and reservations, so the number of different reasons has no bound of its own.
const MOST_REMEMBERED = 1024;
