/** Every time that dispatch promises or keeps to, as docs/reference/timings.md prints it: the core's table, then who else has one. */
import { readdirSync, readFileSync } from 'node:fs';
import { SETTINGS } from '../../../infra/functions.ts';
import { WRAPPER_TIMING } from '../../../lib/cluster/slurm/wrapper.ts';
import { TIMING } from '../../../lib/job/timing.ts';
import { code, counted, duration, table } from './markdown.ts';

type Key = keyof typeof TIMING;

const GROUPS: Readonly<Record<string, Partial<Record<Key, string>>>> = {
  'looking at clusters': {
    pollSeconds: 'a cluster is looked at so often, unless its configuration says otherwise',
    memoryPollSeconds: 'the same of a memory cluster',
    vanishSeconds: 'absence is believed after so long at the earliest',
    vanishPolls: 'and after so many polls in a row that were complete',
    evidenceWaitSeconds: 'an end waits so long for evidence that is missing',
    pendingPolls: 'a pending reason that asks for action is believed after so many polls in a row',
    probeSeconds: 'a probe that is older is made again when it is needed',
    blockedAgainSeconds: 'a refused key is tried again so often',
    clusterUnreachableSeconds: 'an outage is asked about after so long',
  },
  submitting: {
    landingBoundSeconds: 'a submission refuses itself on the cluster after so long',
    submitterSeconds: 'the submitter itself may take so long there, or what is left until the bound',
    submitFloorSeconds: 'with less left than this nothing is sent',
    credentialLifeSeconds: 'life of a credential where it cannot be read',
    settleMarginSeconds: 'after bound and credential life, before an absence counts',
    settleAgainSeconds: 'between the two look-ups that prove an absence',
    lookUpSeconds: 'first wait between look-ups',
    lookUpMostSeconds: 'longest wait between look-ups',
    retrySeconds: 'first wait after a step that learnt nothing, and of a deferred submission',
    retryMostSeconds: 'longest such wait',
  },
  'waiting and ending': {
    patienceSeconds: 'an attempt waits so long for its start, unless the spec says otherwise',
    patienceGraceSeconds: 'after which the supervisor ends what should have ended itself',
    cancelAgainSeconds: 'a cancel, or a release that does not show, is repeated after so long',
    cancelAgainMostSeconds: 'longest wait between repeated cancels',
    fenceSeconds: 'age of a release mark before an earlier run counts as fenced',
    nodeLossWaitSeconds: 'on Kubernetes, from the end of an attempt whose pods may live on a silent node to the next release',
    requeueSettleSeconds: 'a requeue that does not show by then was refused',
    backoffSeconds: 'first wait before a relaunch, unless the rule says otherwise',
    backoffFactor: 'by which it grows',
    backoffMostSeconds: 'beyond which it does not grow',
  },
  asking: {
    questionSeconds: 'a question expires after so long; `wait` holds for so long',
    stuckCancellingSeconds: 'asked about: cancelled and not ended',
    stuckEndingSeconds: 'asked about: ending',
    stuckAdmittedSeconds: 'asked about: admitted and not started',
    stuckHeldSeconds: 'asked about: held or blocked in the queue',
    undiscardedSeconds: 'asked about: a second object that cannot be discarded',
  },
  supervising: {
    safetyWakeSeconds: 'a supervisor looks at its job at least so often',
    reconcileSeconds: 'everything is reconciled so often',
    silentSupervisorSeconds: 'a supervisor that was not seen for so long is replaced',
    promisedGraceSeconds: 'unless it was promised a wake, and that is not over by so much',
    owedSeconds: 'a wake or a notice that was not sent for so long is sent by others',
    unfinishedBirthSeconds: 'a job without a first event is given up after so long',
    idempotencySeconds: 'an idempotency key is good for so long',
    advanceSteps: 'steps of one Advance at most',
    advanceSeconds: 'time of one Advance after which it begins no further step',
    loopsPerExecution: 'loops after which an execution continues as new',
    executionDays: 'days after which it does, too',
  },
  connecting: {
    slotSeconds: 'shortest wait for a connection slot',
    slotMostSeconds: 'longest wait for one',
    connectionsPerHour: 'connections of a login in an hour, polls aside',
  },
};

const valueTold = (key: Key): string => {
  const value = TIMING[key];
  return key.endsWith('Seconds') ? duration(value) : counted(value);
};

export const timings = (): string =>
  table(
    ['about', 'in the code', 'value', 'means'],
    Object.entries(GROUPS).flatMap(([about, keys]) =>
      (Object.entries(keys) as [Key, string][]).map(([key, says]) => [about, code(key), valueTold(key), says]),
    ),
  );

/** Keys of the table that no group tells of. */
export const untoldTimings = (): string[] => {
  const told = new Set(Object.values(GROUPS).flatMap((keys) => Object.keys(keys)));
  return Object.keys(TIMING).filter((key) => !told.has(key));
};

/** `pendingPolls` is how the rule is built, two looks in a row, and not a number that it reads. */
const BUILT_IN: readonly string[] = ['pendingPolls'] satisfies Key[];

/** Keys that nothing reads: a promise that nobody keeps. */
export const unreadTimings = (): string[] => {
  const text = sources('lib')
    .filter((file) => file !== 'lib/job/timing.ts')
    .map(textOf)
    .join('\n');
  return Object.keys(TIMING).filter((key) => !BUILT_IN.includes(key) && !text.includes(`TIMING.${key}`));
};

const ROOT = new URL('../../../', import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');
const sources = (folder: string): string[] =>
  readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((name) => name.endsWith('.ts'));

const WRAPPER: Readonly<Record<keyof typeof WRAPPER_TIMING, string>> = {
  lateViewSeconds: 'the wrapper waits so long for its release mark before it refuses',
  lookAgainSeconds: 'between two looks for it',
  watchSeconds: 'between two looks whether its program may still run',
  graceSeconds: 'from TERM to KILL when it ends its program itself',
};

interface Stage {
  readonly TimeoutSeconds?: number | string;
}

const machine = (): string[][] => {
  const file = 'statemachines/supervisor.asl.json';
  const { TimeoutSeconds, States } = JSON.parse(textOf(file)) as { TimeoutSeconds: number; States: Record<string, Stage> };
  const stages = Object.entries(States).flatMap(([name, stage]) =>
    typeof stage.TimeoutSeconds === 'number' ? [[code(file), duration(stage.TimeoutSeconds), `the state \`${name}\``]] : [],
  );
  return [[code(file), duration(TimeoutSeconds), 'an execution'], ...stages];
};

/** Bounds that one module has for itself, by file and name; read from its text, since nobody else needs them. */
const BOUNDS: Readonly<Record<string, string>> = {
  'lib/app/poll.ts RECORDING_MS': 'a poll begins no further commit after so long',
  'lib/app/sweep.ts SETTLED_MS': 'an end is so old before what is left of it is discarded',
  'lib/app/watch-events.ts LOOK_MS': 'between two looks of a long poll',
  'lib/app/cluster/slot.ts LATE_MS': 'a slot that is answered so late is given back: its lease counts from the question',
  'lib/app/cluster/slot.ts BETWEEN_MS': 'between two tries for a connection slot, on average',
  'lib/job/attribution.ts CLOCK_MARGIN_MS': 'an end so much older than our cancel is not its doing',
  'lib/job/parse-policy.ts LONGEST_QUESTION_SECONDS': '`expiresAfter` of a rule’s question at most',
  'lib/job/quantity.ts LONGEST_SECONDS': 'any duration of a spec at most',
  'lib/record/stored.ts SLOT_LEASE_MS': 'a connection slot that is not given back is free after so long',
  'lib/record/stored.ts PLAN_LIFE_MS': 'a plan that was read may be named for so long',
  'lib/record/dynamodb-store.ts CALL_MS': 'one call of the table, with all its retries',
  'lib/checkpoint/s3.ts CALL_MS': 'one call of a bucket, with all its retries',
  'lib/cluster/open.ts SESSION_SECONDS': 'one session over SSH',
  'lib/cluster/slurm/observation.ts LOOK': 'the look of a poll',
  'lib/cluster/slurm/observation.ts HARVEST': 'one batch of evidence about ends',
  'lib/cluster/slurm/observation.ts HARVESTING_MS': 'no further batch is begun after so long',
  'lib/cluster/slurm/adapter.ts SUBMIT': 'the command that submits',
  'lib/cluster/slurm/adapter.ts QUICK': 'a release, a cancel, a mark',
  'lib/cluster/slurm/adapter.ts WIDE': 'a look-up, a probe, a listing',
  'lib/cluster/slurm/adapter.ts PIECE': 'a piece of output',
  'lib/cluster/slurm/sbatch-answer.ts RETRY_SECONDS': 'what `sbatch` puts off is sent again after so long at the earliest',
};

/** Constants of time in the core that are no promise to anybody. */
const NO_PROMISE: readonly string[] = [
  'lib/app/cluster/slot.ts HOUR_MS',
  'lib/record/keys.ts HOUR_MS',
  // How coarsely a cluster tells its time.
  'lib/app/step/work.ts TOLD_MS',
  // The first is a key's age, TIMING.idempotencySeconds; the others are when the table may forget what is dead already.
  'lib/record/head.ts KEY_LIFE_MS',
  'lib/record/dynamodb/birth.ts REMOVED_AFTER_MS',
  'lib/record/dynamodb/slots.ts COUNTS_REMOVED_AFTER_MS',
  'lib/record/dynamodb/plan.ts REMOVED_AFTER_MS',
];

const CONSTANT = /const ([A-Z][A-Z_]*(?:_MS|_SECONDS)|[A-Z]+(?=: Limits))(?:: \w+)? = (?:\{ timeoutSeconds: )?([\d_ *]+)[;,]/g;

/** Constants of time that a file declares, in seconds. */
const declared = (file: string): ReadonlyMap<string, number> =>
  new Map(
    [...textOf(file).matchAll(CONSTANT)].map(([, name, product]) => {
      const value = product!.split('*').reduce((of, factor) => of * Number(factor.trim().replaceAll('_', '')), 1);
      return [name!, name!.endsWith('_MS') ? value / 1000 : value];
    }),
  );

const bounds = (): string[][] =>
  Object.entries(BOUNDS).map(([place, says]) => {
    const [file, name] = place.split(' ') as [string, string];
    const value = declared(file).get(name);
    if (value === undefined) throw new Error(`${file} has no ${name} any more: mend the timings of the reference`);
    return [`${code(file)}, ${code(name)}`, duration(value), says];
  });

/** Constants of the core that neither the table nor the list of exceptions names. */
export const untoldBounds = (): string[] =>
  ['lib/job', 'lib/app', 'lib/record']
    .flatMap(sources)
    .flatMap((file) =>
      [...textOf(file).matchAll(/const ([A-Z][A-Z_]*(?:_MS|_SECONDS))\b/g)]
        .map(([, name]) => `${file} ${name}`)
        .filter((place) => !(place in BOUNDS) && !NO_PROMISE.includes(place) && !place.endsWith(' UNIT_SECONDS')),
    );

export const otherTimings = (): string =>
  table(
    ['where', 'value', 'means'],
    [
      ...Object.entries(WRAPPER).map(([key, says]) => [
        `${code('lib/cluster/slurm/wrapper.ts')}, ${code(key)}`,
        duration(WRAPPER_TIMING[key as keyof typeof WRAPPER_TIMING]),
        says,
      ]),
      ...machine(),
      ...Object.entries(SETTINGS).map(([name, { timeoutSeconds }]) => [
        code('infra/functions.ts'),
        duration(timeoutSeconds),
        `the function \`${name}\``,
      ]),
      ...bounds(),
    ],
  );
