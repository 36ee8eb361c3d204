/**
 * The Slurm adapter: each verb is one remote program made and read by pure parts, run on the one connection of its session.
 *
 * Invariants: nothing throws for what a scheduler or a network said after `connect`; objects of another tag are never acted upon;
 * every verb is bounded in time and bytes.
 */
import type { OpenBucket } from '../../checkpoint/open-bucket.ts';
import type { Receipt } from '../../job/event.ts';
import { parseIdentity } from '../../job/identity.ts';
import { ClusterFailure } from '../failure.ts';
import type { ActAnswer, Adapter, Session, Submission, SubmitAnswer } from '../port.ts';
import { type Act, actProgram, fenceProgram, readAct, readFence } from './act.ts';
import { adoptProgram, readAdopt } from './adopt.ts';
import { bucketPublications, collectInBucket } from './buckets.ts';
import { capabilitiesOf } from './capabilities.ts';
import { COLLECT_SECONDS, collectProgram, readCollect } from './collect.ts';
import { bornAt, findProgram, readFind } from './find.ts';
import { gateFor, gateTimes, mechanismFor, parseVersion } from './gate.ts';
import { type Buckets, bucketAt, launchOf, sha256 } from './launch.ts';
import { observeAll, outputBytes } from './observation.ts';
import type { Gpus } from './options.ts';
import { outputProgram, readPiece } from './output.ts';
import { checkpointsOf, controlOf, isBucket } from './paths.ts';
import { factsOf, probeProgram } from './preflight.ts';
import { publicationsProgram, readPublications } from './publications.ts';
import { ASK_CLOCK, type Asked, askCluster, clockOf, type Limits } from './remote.ts';
import { render } from './render.ts';
import { readSecrets } from './secrets.ts';
import { readSubmit, submitProgram } from './submit.ts';
import type { Session as Connection, Transport } from './transport/port.ts';
import { quote } from './transport/quote.ts';
import type { WrapperFacts } from './wrapper.ts';

export interface SlurmOptions {
  /** The cluster's id in the configuration. */
  readonly id: string;
  readonly tag: string;
  /** Absolute, shared by login and compute nodes. */
  readonly root: string;
  /** Undefined: this cluster has no such login. */
  readonly transports: (login: string) => Transport | undefined;
  /** [0, 1): for nonces. */
  readonly random: () => number;
  /** Dispatch's clock, milliseconds since 1970. */
  readonly now?: () => number;
  readonly gpus?: Gpus;
  /** What runs are told as DISPATCH_API_URL; empty: none. */
  readonly apiUrl?: string;
  /** The value of a secret by its reference. Without it a spec with secrets is not sent. */
  readonly secret?: (ref: string) => Promise<string>;
  /** What jobs of a login ask for where they say nothing; asked for by the dry run of a probe, too. */
  readonly defaultsOf?: (login: string) => SlurmDefaults;
  /** Buckets that may hold checkpoints, and how they are listed. */
  readonly buckets?: { readonly at: Buckets; readonly open: OpenBucket };
  /** The site removes ended jobs from accounting early (contract §11). */
  readonly purges?: boolean;
  /** What `DISPATCH_TOKEN_FILE` holds for an attempt; without it the file is empty. */
  readonly tokenOf?: (job: string, n: number) => Promise<string>;
  /** Files put on the PATH of every run. */
  readonly helpers?: readonly { readonly name: string; readonly text: string }[];
  /** Shorter waits of the wrapper, for tests. */
  readonly wrapperTiming?: WrapperFacts['timing'];
}

export interface SlurmDefaults {
  readonly account?: string;
  readonly qos?: string;
  readonly partition?: string;
}

const KIB = 1024;
const QUICK: Limits = { timeoutSeconds: 45, maxBytes: 256 * KIB };
/** sbatch itself may retry for as long as the landing bound allows. */
const SUBMIT: Limits = { timeoutSeconds: 110, maxBytes: 256 * KIB };
/** Within what the API may take; a piece of 1 MiB grows by a third on its way. */
const PIECE: Limits = { timeoutSeconds: 20, maxBytes: 2 * KIB * KIB };
const COLLECT: Limits = { timeoutSeconds: COLLECT_SECONDS + 5, maxBytes: 256 * KIB };
/** A bucket's whole listing, some hundred pages. */
const LIST_MS = 60_000;
const WIDE: Limits = { timeoutSeconds: 100, maxBytes: 16 * KIB * KIB };

export const createSlurmAdapter = (options: SlurmOptions): Adapter => {
  const at = { root: options.root, tag: options.tag };
  const facts = {
    at,
    cluster: options.id,
    gpus: options.gpus ?? {},
    apiUrl: options.apiUrl ?? '',
    buckets: options.buckets?.at ?? {},
  };
  return {
    kind: 'slurm',
    render: (spec, probe, how) => render(spec, probe, how, facts),
    connect: async (login) => {
      const transport = options.transports(login);
      if (!transport)
        throw new ClusterFailure('cluster/no_login', `${options.id} has no login ${login}`, { reason: 'no_login', sent: 'no' });
      return sessionOf(await transport.connect(), login, options);
    },
  };
};

const sessionOf = (connection: Connection, login: string, options: SlurmOptions): Session => {
  const { id: cluster, tag, root } = options;
  const at = { root, tag };
  const now = options.now ?? Date.now;
  const ask = (program: string, limits: Limits): Promise<Asked> => askCluster(connection, options.random, program, limits);
  const act = async (what: Act, receipt: Receipt, program: string): Promise<ActAnswer> => {
    // Never by a name that another deployment gave, whatever the record believes.
    if (parseIdentity(receipt.identity)?.tag !== tag) return { kind: 'refused', says: `${receipt.identity} is not ours` };
    return readAct(what, await ask(program, QUICK), receipt);
  };
  const cancel = (receipt: Receipt): Promise<ActAnswer> => act('cancel', receipt, actProgram('cancel', receipt));
  const buckets = options.buckets ? { openBucket: options.buckets.open } : {};
  const observing = { ask, at, cluster, login, now, random: options.random, ...buckets };
  return {
    clock: async () => {
      const asked = await ask(ASK_CLOCK, QUICK);
      return asked.kind === 'answered' ? clockOf(asked.answers) : undefined;
    },
    probe: async (nowMs) => {
      const asked = await ask(probeProgram(at, options.defaultsOf?.(login)), WIDE);
      const answers = asked.kind === 'answered' ? asked.answers : new Map();
      return { capabilities: capabilitiesOf(answers, nowMs, options.purges), facts: factsOf(answers, nowMs), probedAt: nowMs };
    },
    gateFor: (_spec, probe, how, clusterNow) =>
      gateFor(mechanismFor(parseVersion(probe.facts.scheduler), how.requeue) ?? 'hold', how.patienceSeconds, clusterNow),
    submit: (submission) => submit(submission, ask, login, options),
    find: async (job) => readFind(await ask(findProgram(at, job, bornAt(job)), WIDE), { cluster, login, tag, job, observedAt: now() }),
    fence: async (job, mark) => readFence(await ask(fenceProgram(controlOf(at, job), mark), QUICK)),
    release: (receipt, gate) => act('release', receipt, actProgram('release', receipt, gate)),
    cancel,
    discard: cancel,
    requeue: (receipt) => act('requeue', receipt, actProgram('requeue', receipt)),
    observe: (targets) => observeAll(targets, observing),
    outputBytes: (targets) => outputBytes(targets, observing),
    listPublications: async (job, spec) => {
      const checkpointRoot = spec.checkpoint?.root;
      const bucket = isBucket(checkpointRoot) ? checkpointRoot! : undefined;
      const program = publicationsProgram(root, controlOf(at, job), bucket ? undefined : checkpointsOf(at, job, checkpointRoot));
      const listed = readPublications(await ask(program, WIDE));
      if (!listed || bucket === undefined) return listed;
      // After the bases: what was announced since the last of them is then seen, too.
      const publications = await bucketPublications(options.buckets?.open, bucket, job, LIST_MS);
      return publications && { ...listed, publications };
    },
    collect: async (job, spec, doomed) => {
      const checkpointRoot = spec.checkpoint?.root;
      if (isBucket(checkpointRoot)) return collectInBucket(options.buckets?.open, checkpointRoot!, job, doomed, now);
      return readCollect(await ask(collectProgram(checkpointsOf(at, job, checkpointRoot), doomed), COLLECT), doomed);
    },
    output: async (asked) => readPiece(await ask(outputProgram(controlOf(at, asked.job), asked), PIECE)),
    adopt: async (schedulerId) => {
      const program = adoptProgram(schedulerId);
      return program === undefined ? { kind: 'unknown_object' } : readAdopt(await ask(program, QUICK), { cluster, login, schedulerId });
    },
    close: () => connection.close(),
  };
};

/** How long after an attempt's own last moment its name is searched for in accounting. */
const SEARCH_PAST_SECONDS = 86_400;

const submit = async (
  submission: Submission,
  ask: (program: string, limits: Limits) => Promise<Asked>,
  login: string,
  options: SlurmOptions,
): Promise<SubmitAnswer> => {
  const { job, n, identity, spec, gate, resources } = submission;
  const notSent = (answer: string): SubmitAnswer => ({ kind: 'uncertain', sent: 'no', answer });
  const secrets = await readSecrets(spec.program.secrets, options.secret);
  // Never the job's failure: a store may answer later, and so may a configuration that was put right.
  if ('says' in secrets) return { kind: 'not_now', reason: `nothing was sent: ${secrets.says}`, retryAfterSeconds: 60 };
  const times = gateTimes(gate, resources.timeLimitSeconds);
  const token = options.tokenOf && (await made(() => options.tokenOf!(job, n)));
  if (options.tokenOf && token === undefined) return notSent('the attempt’s token could not be made');
  const launch = launchOf({
    at: { root: options.root, tag: options.tag },
    cluster: options.id,
    job,
    n,
    identity,
    spec,
    probe: submission.probe,
    resources,
    requeue: submission.requeue,
    resume: submission.resume,
    excludeNodes: submission.excludeNodes,
    gate: {
      hold: times.hold,
      ...(times.begin === undefined ? {} : { begin: `uts${times.begin}` }),
      ...(times.deadline === undefined ? {} : { deadline: `uts${times.deadline}` }),
    },
    gpus: options.gpus ?? {},
    apiUrl: options.apiUrl ?? '',
    ...bucketAt(spec, options.buckets?.at),
    ...(options.wrapperTiming ? { timing: options.wrapperTiming } : {}),
  });
  const program = submitProgram({
    launch,
    n,
    boundAt: Math.floor(submission.clusterBoundAt / 1000),
    searchUntil: (times.pushTo ?? times.begin ?? Math.floor(submission.clusterNow / 1000)) + SEARCH_PAST_SECONDS,
    ...(times.pushTo === undefined ? {} : { pushTo: times.pushTo }),
    ...(gate.clusterExpiresAt === undefined ? {} : { expiresAt: Math.floor(gate.clusterExpiresAt / 1000) }),
    ...(secrets.lines === '' ? {} : { secrets: secrets.lines }),
    ...(token === undefined ? {} : { token }),
    helpers: (options.helpers ?? []).map((helper) => ({ ...helper, sha256: sha256(helper.text) })),
  });
  const answer = readSubmit(await ask(program, SUBMIT), { cluster: options.id, login, identity }, (options.now ?? Date.now)());
  // Nobody will read them any more. Where this cannot be done the end of the job does it.
  const isOver = answer.kind === 'refused' || answer.kind === 'not_now';
  if (isOver && launch.secretsPath !== undefined) await ask(`rm -f ${quote(launch.secretsPath)}\ntell removed ''\n`, QUICK);
  return answer;
};

/** A token or nothing; never an error, whose text may hold what nobody may see. */
const made = async (make: () => Promise<string>): Promise<string | undefined> => {
  try {
    const value = await make();
    return value.includes('\0') || !value.isWellFormed() ? undefined : value;
  } catch {
    return undefined;
  }
};
