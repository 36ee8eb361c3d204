/**
 * People and programs as callers of the API: they submit, sometimes twice or not to the end, read, cancel, answer questions (by the API, by
 * the task token, with nonsense, at the last moment, or not at all), report what was published, and have others' jobs watched.
 */
import { issueToken } from '../../lib/checkpoint/token.ts';
import type { State } from '../../lib/cluster/memory/state.ts';
import { type ClusterView, openClusterQuestions } from '../../lib/job/cluster-view.ts';
import { ANSWERS } from '../../lib/job/event.ts';
import { attemptOfEpoch } from '../../lib/job/identity.ts';
import type { Spec } from '../../lib/job/spec.ts';
import { openQuestions, type Question, type View } from '../../lib/job/view.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import { RequestRefused } from '../../lib/local/engine/fault.ts';
import { type Answered, ask, KEYS, type Served } from './client.ts';
import { holds } from './verdict.ts';
import { writtenOf } from './written.ts';

const TRIES = 12;

export interface Public extends Served {
  engine(): Engine;
  /** What the record says now of every job that has one. */
  views(): readonly View[];
  clusterView(): ClusterView;
  /** Whether this question blocks, is open, and no token of it was ever stored. */
  isUnparked(job: string, question: string): boolean;
  readonly cluster: State;
  readonly tag: string;
  /** Ids of programs that strangers run there. */
  readonly strangers: readonly string[];
}

/** By key: the job that it was answered with. */
export type Births = Map<string, string>;

/** Submits at that time, and again with the same key until it was answered; now and then the client gives up. */
export const willSubmit = (world: Public, drawn: () => Spec, key: string, births: Births, afterMs: number): void => {
  const { kernel } = world;
  const spec = writtenOf(drawn());
  let plan: unknown;
  const again = (tries: number): void => {
    if ((tries > 3 && kernel.random.chance(0.2)) || tries > TRIES) return;
    kernel.after(kernel.random.between(1, 60) * 1000, () => void attempt(tries + 1), 'submit again');
  };
  const attempt = async (tries: number): Promise<void> => {
    if (tries === 1 && kernel.random.chance(0.3))
      plan = (await ask(world, { id: 'planJob', method: 'POST', path: '/plans', body: spec }))?.body['digest'];
    const path = typeof plan === 'string' ? `/jobs?plan=${plan}` : '/jobs';
    const answered = await ask(world, { id: 'submitJob', method: 'POST', path, body: spec, headers: { 'idempotency-key': key } });
    if (answered?.status !== 202) {
      // Another plan than the one that was read, a probe that is not there yet: asked again, without insisting.
      if (answered?.status === 409) plan = undefined;
      world.must(() =>
        holds(answered?.body['code'] !== 'request/key_reused', 'api', () => `key ${key} is said to be used for another spec`),
      );
      again(tries);
      return;
    }
    const job = answered.body['id'] as string;
    const before = births.get(key) ?? job;
    world.must(() => holds(before === job, 'api', () => `key ${key} was answered with job ${before} and with ${job}`));
    births.set(key, job);
  };
  kernel.after(afterMs, () => void attempt(1), 'submit');
};

export interface Habits {
  readonly cancels: number;
  readonly answers: number;
  readonly reads: number;
  readonly reports: number;
  readonly collects: number;
  readonly everyMs: number;
}

/** Looks at the jobs now and then, and does something about some of them. */
export const willLook = (world: Public, habits: Habits): void => {
  const { kernel } = world;
  const { random } = kernel;
  const reported = new Map<string, number>();
  const look = (): void => {
    if (kernel.calm) return;
    for (const view of world.views()) {
      if (random.chance(habits.cancels)) cancels(world, view);
      for (const question of openQuestions(view)) if (random.chance(habits.answers)) answers(world, view, question);
      if (random.chance(habits.reads)) void reads(world, view);
      if (random.chance(habits.collects)) collects(world, view);
      if (habits.reports > 0) reports(world, view.job, habits.reports, reported);
    }
    for (const { id } of openClusterQuestions(world.clusterView())) if (random.chance(habits.answers)) answersCluster(world, id);
    if (random.chance(habits.reads)) void readsLists(world);
    if (world.strangers.length > 0 && random.chance(habits.reads)) observes(world);
    kernel.after(random.between(1, habits.everyMs), look, 'people look');
  };
  kernel.after(random.between(1, habits.everyMs), look, 'people look');
};

const cancels = (world: Public, view: View): void => {
  const { random } = world.kernel;
  const headers = random.chance(0.3) ? { 'if-match': `"${view.version}"` } : {};
  const one = { id: 'cancelJob', method: 'POST', path: `/jobs/${view.job}/cancel`, body: { reason: 'not needed' }, headers } as const;
  for (let i = 0; i < (random.chance(0.2) ? 2 : 1); i++) void ask(world, one);
};

const answers = (world: Public, view: View, question: Question): void => {
  const { kernel } = world;
  const { random } = kernel;
  const choice = random.chance(0.15) ? random.pick(ANSWERS) : random.pick(question.options);
  const answer = (): void => {
    const byToken = question.blocks && random.chance(0.5);
    if (byToken) void answersByToken(world, view.job, question.id, choice);
    if (byToken && !random.chance(0.2)) return;
    const path = `/jobs/${view.job}/escalations/${question.id}/answer`;
    const say = (said: string): void => {
      void ask(world, { id: 'answerEscalation', method: 'POST', path, body: { answer: said }, wrong: true });
    };
    say(choice);
    // Somebody else answers at the same moment, and otherwise.
    if (random.chance(0.3)) kernel.after(random.between(0, 30), () => say(random.pick(question.options)), 'another answers');
  };
  // At the very moment of its expiry, or now; now and then together with a cancel.
  const leftMs = question.expiresAt - kernel.nowMs;
  if (leftMs < 3_600_000 && random.chance(0.3)) kernel.after(leftMs + random.between(-1500, 1500), answer, 'a last-minute answer');
  else answer();
  if (random.chance(0.05)) cancels(world, view);
};

const answersByToken = async (world: Public, job: string, question: string, choice: string): Promise<void> => {
  const { kernel } = world;
  const read = await ask(world, { id: 'readToken', path: `/jobs/${job}/escalations/${question}/token` });
  if (read?.body['code'] === 'escalation/no_token' && world.isUnparked(job, question)) kernel.count('answer_before_its_token');
  const token = read?.body['token'];
  if (typeof token !== 'string') return;
  const nonsense = kernel.random.chance(0.2);
  const output = nonsense ? kernel.random.pick(['{}', '{"answer":7}', 'null', '{"answer":"perhaps"}']) : JSON.stringify({ answer: choice });
  kernel.after(kernel.delay(), () => world.must(() => sends(world, job, token, output)), `SendTaskSuccess ${output}`);
};

const sends = (world: Public, job: string, token: string, output: string): void => {
  try {
    world.engine().sendTaskSuccess(token, output);
  } catch (error) {
    // Somebody was faster, or the execution is gone: normal.
    if (error instanceof RequestRefused && error.code === 'TaskTimedOut') return;
    throw error;
  }
  if (!world.kernel.strikes('killed_with_answer')) return;
  const running = world.engine().listExecutions({ status: 'RUNNING', maxResults: 1000 });
  const killed = running.filter(({ name }) => name.startsWith(`${job}-`) && world.engine().kill(name));
  if (killed.length > 0) world.kernel.count('killed_with_answer');
};

const answersCluster = (world: Public, question: string): void => {
  const answer = world.kernel.random.pick(['wait', 'block_submissions']);
  void ask(world, { id: 'answerClusterEscalation', method: 'POST', path: `/clusters/c/escalations/${question}/answer`, body: { answer } });
};

const reads = (world: Public, view: View): Promise<Answered | undefined> => {
  const at = `/jobs/${view.job}`;
  const refresh = world.kernel.random.chance(0.3) ? '?refresh=true' : '';
  return ask(
    world,
    world.kernel.random.pick([
      { id: 'readJob', path: at },
      { id: 'watchEvents', path: `${at}/events?after=${Math.max(0, view.version - 2)}` },
      { id: 'watchEvents', path: `${at}/events?after=${view.version}&wait=5` },
      { id: 'listCheckpoints', path: `${at}/checkpoints${refresh}` },
      { id: 'readLatestCheckpoint', path: `${at}/checkpoints/latest${refresh}` },
      { id: 'readOutput', path: `${at}/attempts/${Math.max(1, view.attempts.length)}/output` },
    ]),
  );
};

const readsLists = (world: Public): Promise<Answered | undefined> =>
  ask(
    world,
    world.kernel.random.pick([
      { id: 'listJobs', path: '/jobs' },
      { id: 'listJobs', path: '/jobs?cluster=c&limit=2' },
      { id: 'listEscalations', path: '/escalations' },
      { id: 'listEscalations', path: '/escalations?blocking=false' },
      { id: 'listClusters', path: '/clusters' },
      { id: 'readCluster', path: '/clusters/c' },
      { id: 'listClusterEvents', path: '/clusters/c/events' },
      { id: 'startPreflight', method: 'POST', path: '/clusters/c/preflight' } as const,
    ]),
  );

/** What programs report of what they announced: soon, late, twice, with the token of another attempt, or what has no marker at all. */
const reports = (world: Public, job: string, share: number, reported: Map<string, number>): void => {
  const { kernel, cluster, tag } = world;
  const { random } = kernel;
  const pub = cluster.controls.get(`${tag}-${job}`)?.pub;
  const known = reported.get(job) ?? 0;
  if (!pub || pub.size === known) return;
  reported.set(job, pub.size);
  for (const { epoch, step, path } of [...pub.values()].slice(known)) {
    if (!random.chance(share)) continue;
    const { n } = attemptOfEpoch(epoch);
    const wrong = random.chance(0.05);
    const headers = { authorization: `Bearer ${issueToken(KEYS, job, wrong ? n + 1 : n)}` };
    const ghost = random.chance(0.1);
    const body = ghost ? { epoch, step: step + random.between(1, 9), path: `${path}-ghost` } : { epoch, step, path };
    const report = { id: 'publishCheckpoint', method: 'POST', path: `/jobs/${job}/checkpoints`, body, headers } as const;
    kernel.after(
      random.between(1, random.pick([2000, 600_000])),
      () => void ask(world, { ...report, ...(wrong ? { wrong } : {}) }),
      'report',
    );
  }
};

const collects = (world: Public, { job }: View): void => {
  const { random } = world.kernel;
  const body = { keep: random.between(2, 3), dry: random.chance(0.2) };
  void ask(world, { id: 'collectCheckpoints', method: 'POST', path: `/jobs/${job}/checkpoints/collect`, body });
};

const observes = (world: Public): void => {
  const schedulerId = world.kernel.random.pick(world.strangers);
  const login = world.cluster.byId.get(schedulerId)?.login;
  const body = { cluster: 'c', schedulerId, ...(login === undefined ? {} : { login }) };
  void ask(world, { id: 'observeJob', method: 'POST', path: '/observed-jobs', body });
};
