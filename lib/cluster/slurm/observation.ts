/**
 * The observation of everything of a login: one squeue; a second program only for what ended, vanished or began another run, in
 * batches, as long as its time lasts (protocols §5.1).
 *
 * Invariant: what time or a failing batch left unread is neither changed nor absent in this look, and says so by `complete`.
 */
import type { OpenBucket } from '../../checkpoint/open-bucket.ts';
import type { Observation, Observed, Target } from '../port.ts';
import { bucketPublications } from './buckets.ts';
import { harvestProgram, isOurs, MOST_WANTED, readHarvest, type Stored } from './harvest.ts';
import { lookAt, type Wanted } from './look.ts';
import { judge } from './observe.ts';
import { controlOf, isBucket, type Root } from './paths.ts';
import { ASK_CLOCK, type Asked, clockOf, type Limits, shell } from './remote.ts';
import { squeueArguments } from './squeue.ts';
import { quote } from './transport/quote.ts';

export interface Observing {
  readonly ask: (program: string, limits: Limits) => Promise<Asked>;
  readonly at: Root;
  readonly cluster: string;
  readonly login: string;
  readonly now: () => number;
  /** [0, 1): where a harvest begins. */
  readonly random: () => number;
  /** How buckets are listed, where any are configured. */
  readonly openBucket?: OpenBucket;
}

const MIB = 1024 * 1024;
/** A poll has 50 s for everything: connecting, one look, its harvest and the commits. */
const LOOK: Limits = { timeoutSeconds: 18, maxBytes: 32 * MIB };
const HARVEST: Limits = { timeoutSeconds: 15, maxBytes: 16 * MIB };
/** No further batch is begun after this: a poll commits what it has and goes on next time. */
const HARVESTING_MS = 20_000;
const SIZES: Limits = { timeoutSeconds: 8, maxBytes: MIB };

export const observeAll = async (targets: readonly Target[], observing: Observing): Promise<Observed> => {
  const startedAt = observing.now();
  const asked = await observing.ask(`${ASK_CLOCK}ask squeue slurm 15 ${shell(squeueArguments())}\n`, LOOK);
  if (asked.kind === 'unreachable') return { kind: 'unreachable', says: asked.says };
  const clusterStartedAt = clockOf(asked.answers);
  const queue = asked.answers.get('squeue');
  if (clusterStartedAt === undefined || !queue) return { kind: 'unreachable', says: 'the look ended early' };
  if (queue.exitCode !== 0) return { kind: 'unreachable', says: `squeue: ${queue.stderr.trim().slice(-512)}` };
  const { tag } = observing.at;
  const look = lookAt(queue.stdout, targets, { tag, cluster: observing.cluster, login: observing.login, clusterStartedAt });
  if (look.truncated) return { kind: 'unreachable', says: 'squeue: the answer is cut' };
  const changed: Observation[] = [...look.changed];
  const absent: Target[] = [];
  // A row that cannot be read may be that of any target that was not met.
  let complete = look.odd.length === 0;
  const batches = batchesOf(look.wanted, observing.random());
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    const more =
      observing.now() - startedAt > HARVESTING_MS ? undefined : await observing.ask(harvestProgram(batch, observing.at), HARVEST);
    if (more?.kind === 'unreachable' && more.tooLong && batch.length > 1) {
      const half = batch.length >> 1;
      batches.unshift(batch.slice(0, half), batch.slice(half));
      continue;
    }
    if (more?.kind !== 'answered') {
      complete = false;
      // That it lives on is known without the rest.
      changed.push(...batch.flatMap(({ live }) => live ?? []));
      continue;
    }
    const stored = await storedOf(batch, observing);
    const judged = judge(batch, readHarvest(more.answers, batch, stored), observing.now());
    changed.push(...judged.changed);
    absent.push(...judged.absent);
    complete &&= judged.complete;
  }
  return { kind: 'observed', clusterStartedAt, complete, changed, absent: complete ? absent : [], unexplained: look.unexplained };
};

/** Beginning anywhere, so that what there was no time for once comes first another time. */
const batchesOf = (wanted: readonly Wanted[], random: number): Wanted[][] => {
  const from = Math.floor(random * wanted.length);
  const turned = [...wanted.slice(from), ...wanted.slice(0, from)];
  return Array.from({ length: Math.ceil(turned.length / MOST_WANTED) }, (_, i) => turned.slice(i * MOST_WANTED, (i + 1) * MOST_WANTED));
};

/** A poll has other things to do than to wait for one bucket: what was not listed by then is missing until the next look. */
const STORED_MS = 10_000;

/** What was announced in buckets by those that have ended, by their place in the batch. All at once: a batch is small. */
const storedOf = async (batch: readonly Wanted[], { openBucket }: Observing): Promise<Stored> => {
  const listed = await Promise.all(
    batch.map(async ({ target, live }, i) => {
      if (live || !isOurs(target) || !isBucket(target.checkpointRoot)) return [];
      const publications = await bucketPublications(openBucket, target.checkpointRoot!, target.job, STORED_MS);
      return publications ? [[i, publications] as const] : [];
    }),
  );
  return new Map(listed.flat());
};

const MOST_SIZES = 500;

/** Bytes that the runs of each attempt wrote so far, by scheduler id; undefined where they could not be read. */
export const outputBytes = async (targets: readonly Target[], { ask, at }: Observing): Promise<ReadonlyMap<string, number> | undefined> => {
  const sizes = new Map<string, number>();
  const ours = targets.filter(isOurs);
  for (let i = 0; i < ours.length; i += MOST_SIZES) {
    const batch = ours.slice(i, i + MOST_SIZES);
    const lines = batch.map((target) => `bytes ${quote(target.receipt.schedulerId)} ${quote(controlOf(at, target.job))} ${target.n}\n`);
    const asked = await ask(`${BYTES}${lines.join('')}}\nask sizes all\n`, SIZES);
    const answer = asked.kind === 'answered' ? asked.answers.get('sizes') : undefined;
    if (answer?.exitCode !== 0) return undefined;
    for (const line of answer.stdout.split('\n')) {
      const parts = /^(\d+) (\d+)$/.exec(line);
      if (parts) sizes.set(parts[1]!, Number(parts[2]));
    }
  }
  return sizes;
};

/** One command per attempt, whatever it put there: the folder is its own to fill, and the time is everybody's. */
const BYTES = `bytes() {
  id=$1
  set -- "$2/output/$3"-*.out "$2/output/$3"-*.err
  printf '%s %s\\n' "$id" "$(stat -c '%s' -- "$@" 2> /dev/null | awk '{ sum += $1 } END { printf "%.0f", sum }')"
}
all() {
`;
