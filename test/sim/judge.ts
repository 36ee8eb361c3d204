/**
 * The judge of one world: looks at the record and the ground truth after every step, remembers what it needs for that, and keeps the
 * first thing that is broken.
 */
import { type AdvanceInput, type Directive, MACHINE } from '../../lib/app/advance.ts';
import type { Doomed } from '../../lib/checkpoint/collect.ts';
import type { Submission } from '../../lib/cluster/port.ts';
import { CLUSTER_SCHEMA, type ClusterCommit } from '../../lib/job/cluster-event.ts';
import { blockedFor, type ClusterView, emptyCluster, foldCluster } from '../../lib/job/cluster-view.ts';
import { type Event, SCHEMA } from '../../lib/job/event.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import { blockingQuestion, type View } from '../../lib/job/view.ts';
import type { ExecutionDescription } from '../../lib/local/engine/engine.ts';
import { EVENT_CAP } from '../../lib/local/engine/history.ts';
import { createClusterCheck } from './cluster-check.ts';
import { createClusterRecordCheck } from './cluster-record-check.ts';
import { type ConductCheck, createConductCheck } from './conduct-check.ts';
import { createEndingCheck, type EndingCheck } from './ending-check.ts';
import type { Process } from './kernel.ts';
import { emptyLedger, type Ledger } from './ledger.ts';
import { createLookCheck, type LookCheck } from './look-check.ts';
import { createNoticeCheck, type NoticeCheck } from './notice-check.ts';
import { judgeByLedger } from './policy-check.ts';
import { createPublicationCheck, type PublicationCheck } from './publication-check.ts';
import { judgeCommit } from './record-check.ts';
import { readable } from './release.ts';
import { CLUSTER, type Stage } from './stage.ts';
import type { Watcher } from './store.ts';
import { holdsToken } from './token.ts';
import { createTokenCheck, type TokenCheck } from './token-check.ts';
import { Broken, holds } from './verdict.ts';
import { createWakeCheck, oversleeps } from './wake-check.ts';

interface Tracked {
  view?: View;
  readonly ledger: Ledger;
  /** Of the last commit judged: what was appended stays as it was. */
  commitId?: string;
  headVersion?: number;
  /** When a newer release first wrote to it, true time. */
  newerAt?: number;
  /** The blocking question that is open, and when it was raised, true time. */
  asked?: { readonly id: string; readonly atMs: number } | undefined;
}

/** Errors that the world itself causes; everything else that a process ends with is a mistake of ours. */
const EXPECTED = new Set([
  ...['RecordFailure', 'ClusterFailure', 'SupervisorsFailure', 'BusFailure', 'StaleDecision', 'Superseded', 'Lambda.Unknown'],
]);

/** Of a supervisor, without a commit or a wait: retries of a doubled or a late invocation among them. */
const MOST_TURNS = 20;

export class Judge {
  readonly reached = new Map<string, number>();
  broken: Broken | undefined;
  brokenAt = 0;
  /** Of an execution's history. */
  mostEvents = 0;
  readonly #stage: Stage;
  readonly #jobs = new Map<string, Tracked>();
  /** Which process each commit came from, and the plans that were sent. */
  readonly #authors = new Map<string, number>();
  readonly #sent = new Set<string>();
  readonly #wakes = createWakeCheck();
  /** How often anything was passed over by those who go through many. */
  #passedOver = 0;
  readonly #check: ReturnType<typeof createClusterCheck>;
  readonly #publications: PublicationCheck;
  readonly #endings: EndingCheck;
  readonly notices: NoticeCheck;
  readonly tokens: TokenCheck;
  readonly conduct: ConductCheck;
  readonly looks: LookCheck = createLookCheck();
  readonly #clusterRecord = createClusterRecordCheck();
  /** By commit: the step of its append. */
  readonly #committed = new Map<string, number>();
  /** By execution: how often it went round at which version. */
  readonly #turns = new Map<string, { readonly version: number; readonly count: number }>();
  #cluster: ClusterView;
  /** By login: since when the record says that it is blocked, true time. */
  readonly #blockedAt = new Map<string, number>();
  #writesSeen = 0;
  /** By process and job: when it last listed `pub/`. */
  readonly #listed = new Map<string, number>();

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#check = createClusterCheck({
      cluster: stage.cluster.state,
      tag: stage.tag,
      viewOf: (job) => this.#jobs.get(job)?.view,
      endedAt: (job) => this.#jobs.get(job)?.ledger.endedAt,
      everCancelled: (job, n) => this.#jobs.get(job)?.ledger.attempts[n - 1]?.everCancelled === true,
      copies: stage.copies,
      letIn: stage.letIn,
      begins: (execution) => this.#publications.begins(execution),
      survives: () => stage.kernel.count('survivor'),
    });
    this.#publications = createPublicationCheck(stage.cluster.state, stage.tag, stage.kernel);
    this.#endings = createEndingCheck(stage.kernel, stage.cluster.state, stage.tag);
    const notices = createNoticeCheck((type) => this.#reach(`notice ${type}`));
    this.notices = { ...notices, kept: (told) => this.must(() => notices.kept(told)) };
    this.conduct = createConductCheck(stage.kernel, stage.cluster.state, stage.copies);
    const tokens = createTokenCheck();
    this.tokens = {
      taken: (token) => this.must(() => tokens.taken(token)),
      signalled: (token) => this.must(() => tokens.signalled(token)),
    };
    this.#cluster = emptyCluster(CLUSTER);
  }

  /** Time moved: what the cluster did by itself meanwhile, before anything else happens. */
  due(): void {
    this.#stage.cluster.catchUp();
    this.#publications.check();
    this.#check.check();
    this.#endings.remember();
  }

  /** A step was made. Throws what is broken. */
  look(): void {
    this.#endings.remember();
    if (this.#writesSeen !== this.#stage.writes.count) this.#lookAtRecord();
    this.#check.check();
  }

  /** Something was written since the last look. */
  #lookAtRecord(): void {
    this.#writesSeen = this.#stage.writes.count;
    for (const [job, { commits, head, slots }] of this.#stage.store.dump().jobs) {
      const tracked = this.#jobs.get(job) ?? { ledger: emptyLedger() };
      this.#jobs.set(job, tracked);
      const { view, commitId, headVersion = 0 } = tracked;
      holds(!view || commits[view.version - 1]?.commitId === commitId, 'S10', () => `version ${view?.version} of ${job} was written twice`);
      holds(!head || head.version >= headVersion, 'S10', () => `the head of ${job} went back from ${headVersion} to ${head?.version}`);
      if (head) tracked.headVersion = head.version;
      while ((tracked.view?.version ?? 0) < commits.length) this.#judgeNext(tracked, job, (tracked.view?.version ?? 0) + 1);
      if (head && tracked.view) this.#wakes.check(tracked.view, head.version, slots, this.#stage.kernel.nowMs);
    }
    this.#lookAtCluster();
  }

  views(): View[] {
    return [...this.#jobs.values()].flatMap(({ view }) => (view ? [view] : []));
  }

  /** What the cluster's own record says. */
  clusterView(): ClusterView {
    return this.#cluster;
  }

  watcher(process: Process): Watcher {
    return {
      lists: (name, rows) => this.must(() => holds(!holdsToken(JSON.stringify(rows) ?? ''), 'S12', () => `a token is in the list ${name}`)),
      appends: (commit) => this.#authors.set(commit.commitId, process.id),
      parks: (wake) => this.#wakes.parks(wake),
      takes: (answer) => this.conduct.takes(process, answer),
    };
  }

  /** For what is judged inside a process: it may swallow whatever is thrown there. */
  must<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.breaks(error);
      throw error;
    }
  }

  /** S3: only the committer of that try sends, and once. */
  sends(process: Process, submission: Submission): void {
    this.must(() => this.#judgeSender(process, submission));
  }

  #judgeSender(process: Process, submission: Submission): void {
    const { job, n, identity, clusterBoundAt } = submission;
    const commits = this.#stage.store.dump().jobs.get(job)?.commits ?? [];
    const planned = commits.findLast((commit) =>
      commit.events.some((event) => event.type === 'attempt_planned' && event.n === n && event.clusterBoundAt === clusterBoundAt),
    );
    const where = `${process.name}#${process.id} sends ${identity} under the bound ${clusterBoundAt}`;
    holds(planned, 'S3', () => `${where}, which no commit holds`);
    // Kubernetes creates a name once: the same create may be repeated by whomever (protocols §3.5).
    if (this.#stage.shape === 'kubernetes') return;
    holds(this.#authors.get(planned.commitId) === process.id, 'S3', () => `${where}, which another committed`);
    holds(!this.#sent.has(planned.commitId), 'S3', () => `${where} a second time`);
    this.#sent.add(planned.commitId);
    this.conduct.sends(process, submission, this.#committed.get(planned.commitId) ?? 0);
  }

  /** No supervisor turns in circles: what it finds again and again it must either decide or wait for. */
  turns(job: string, generation: number): void {
    const version = this.#jobs.get(job)?.view?.version ?? 0;
    const before = this.#turns.get(`${job}-${generation}`);
    const count = before?.version === version ? before.count + 1 : 1;
    this.#turns.set(`${job}-${generation}`, { version, count });
    const says = (): string => `the supervisor of ${job} went round ${count} times and neither decided nor waited`;
    this.must(() => holds(count <= MOST_TURNS, 'L1', says));
  }

  /** Whoever supervises by an older machine goes on by the newer one. */
  directs({ job, machine }: AdvanceInput, { next }: Directive): void {
    const moves = machine >= MACHINE || next === 'done' || next === 'continue_as_new';
    this.must(() => holds(moves, 'release', () => `the supervisor of ${job} is told to ${next} by an older machine`));
  }

  waits(job: string, generation: number): void {
    this.#turns.delete(`${job}-${generation}`);
  }

  /** A reconcile begins, and calls what it is given when it comes to its end: whom it had to wake by then is awake. */
  reconciles(): () => void {
    const [before, excuses] = [this.#overslept(), this.#excuses()];
    return () => {
      if (before.size === 0 || this.#excuses() !== excuses) return;
      const left = [...this.#overslept()].find(([token]) => before.has(token));
      this.must(() => holds(!left, 'L3', () => `reconcile came by and did not wake ${left?.[1]}`));
    };
  }

  /** What a reconcile may leave to the next: jobs that it cannot read, or that its list did not hold yet. */
  #excuses(): number {
    return this.#passedOver + (this.#stage.kernel.met.get('record_stale_list') ?? 0);
  }

  /** By token: supervisors that wait beside an open question though something is due. */
  #overslept(): ReadonlyMap<string, string> {
    const { store, kernel } = this.#stage;
    const found = [...store.dump().jobs].flatMap(([job, { head, slots }]): [string, string][] => {
      const view = this.#jobs.get(job)?.view;
      if (!view || head?.version !== view.version || head.summary.state !== 'awaiting') return [];
      const wake = slots.get(blockingQuestion(view)?.id ?? '')?.wake;
      return wake && oversleeps(view, wake, kernel.nowMs) ? [[wake.token, `${job} at version ${view.version}`]] : [];
    });
    return new Map(found);
  }

  /** A process listed what a job published. */
  lists(process: Process, job: string): void {
    this.#listed.set(`${process.id} ${job}`, this.#stage.kernel.nowMs);
  }

  /** Saves of a job were removed for somebody. */
  collected(job: string, doomed: readonly Doomed[]): void {
    this.must(() =>
      this.#publications.collected(
        job,
        doomed.map(({ publication }) => publication),
      ),
    );
  }

  /** A process is about to change something on the cluster: one of an older release must not, once it could have known better. */
  touches(process: Process, older: boolean, verb: string, job: string): void {
    const newerAt = this.#jobs.get(job)?.newerAt;
    const late = older && newerAt !== undefined && process.startedAtMs > newerAt;
    const says = (): string => `${process.name}#${process.id} does ${verb} for ${job}, which a newer release has written`;
    this.must(() => holds(!late, 'release', says));
  }

  /** A process has a connection. Of a blocked login only whoever finds out whether it still is (P5.8). */
  connects(process: Process, login: string): void {
    const blockedAt = this.#blockedAt.get(login);
    const mayTry = process.name === 'poll' || process.name === 'preflight' || blockedAt === undefined || process.startedAtMs <= blockedAt;
    this.must(() => {
      holds(mayTry, 'slot', () => `${process.name}#${process.id} connects as ${login}, which is blocked`);
      this.conduct.connects(process, login);
    });
  }

  /** A process is about to release an object. */
  releases(process: Process, job: string, schedulerId: string): void {
    const asked = this.#jobs.get(job)?.asked;
    const says = (): string => `${process.name}#${process.id} releases object ${schedulerId} of ${job}, about which ${asked?.id} asks`;
    this.must(() => {
      holds(!asked || process.startedAtMs <= asked.atMs, 'S11', says);
      this.conduct.releases(process, job, schedulerId);
    });
  }

  /** S12: no token in a log. */
  logs(level: string, message: string, fields: unknown): void {
    const text = JSON.stringify(fields);
    this.#stage.kernel.note(() => `  ${level}: ${message} ${text}`);
    this.must(() => holds(!holdsToken(message) && !holdsToken(text), 'S12', () => `a token is in the log: ${message}`));
    if (message === 'one job was passed over') this.#passedOver += 1;
    if (text.includes('record/newer_schema') || text.includes('this release reads')) this.#stage.kernel.count('newer_release');
  }

  /** S13: no history ever reaches the cap. */
  ended({ name, eventCount, cause = '' }: ExecutionDescription): void {
    this.mostEvents = Math.max(this.mostEvents, eventCount);
    const capped = eventCount >= EVENT_CAP || cause.includes('history events');
    this.must(() => holds(!capped, 'S13', () => `execution ${name} had ${eventCount} history events: ${cause}`));
  }

  /** A process ended with an error: the world's doing, or a mistake. */
  failed(name: string, error: unknown): void {
    const failure = error as Error;
    if (failure.name === 'AssertionFailed') this.breaks(new Broken('assertion', `${name}: ${failure.message}`));
    else if (failure instanceof Broken) this.breaks(failure);
    else if (!EXPECTED.has(failure.name)) this.breaks(new Broken('error', `${name}: ${failure.stack ?? failure.message}`));
    else this.#stage.kernel.note(() => `  ${name} failed: ${failure.name}: ${failure.message}`);
    if (!('code' in failure) || failure.code !== 'record/newer_schema') return;
    this.#stage.kernel.count('newer_release');
    // A job that a newer release wrote is passed over by who goes through many; a cluster's own record is not (P5.5).
    const passedOver = (name === 'poll' || name === 'reconcile') && failure.message.startsWith('job ');
    if (passedOver) this.breaks(new Broken('error', `${name} ended because of one job: ${failure.message}`));
  }

  breaks(error: unknown): void {
    if (this.broken) return;
    const broken = error instanceof Broken ? error : new Broken('error', (error as Error).stack ?? String(error));
    this.broken = broken;
    this.brokenAt = this.#stage.kernel.step;
    this.#stage.kernel.note(() => `  BROKEN ${broken.invariant}: ${broken.message}`);
  }

  #judgeNext(tracked: Tracked, job: string, version: number): void {
    const { kernel, store, cluster, copies } = this.#stage;
    const raw = store.dump().jobs.get(job)!.commits[version - 1];
    holds(raw, 'S10', () => `the log of ${job} has no version ${version}`);
    if (raw.schema > SCHEMA) tracked.newerAt ??= kernel.nowMs;
    holds(raw.schema > SCHEMA || tracked.newerAt === undefined, 'release', () => `version ${version} of ${job} follows a newer release's`);
    const commit = readable(raw);
    kernel.note(() => `  ${job} ${version} ${commit.actor}: ${JSON.stringify(commit.events)}`);
    const before = tracked.view;
    judgeByLedger(tracked.ledger, commit, kernel.nowMs);
    // The step that this commit answers, and the one that follows from it.
    if (before) this.#reach(`step ${nextStep(before, kernel.nowMs).do}`);
    if (before && commit.actor.startsWith('poller:')) this.looks.commits(before, commit.events, this.#authors.get(commit.commitId) ?? 0);
    const view = judgeCommit({ cluster: cluster.state, endings: this.#endings, copies }, before, tracked.ledger, commit, kernel.nowMs);
    for (const event of commit.events) {
      const landed = before?.attempts.some((one) => one.receipt !== undefined || one.outcome?.cause === 'never_landed');
      if (event.type === 'job_ended' && before?.spec && landed) this.conduct.ends(this.#authors.get(commit.commitId) ?? 0, job);
      const settles = event.type === 'attempt_never_landed' ? tracked.ledger.attempts[event.n - 1]?.settles : undefined;
      if (settles && event.type === 'attempt_never_landed') this.conduct.givesUp(job, event.n, settles);
      if (event.type === 'attempt_planned' && before)
        this.#publications.plans(before, event, this.#listed.get(`${this.#authors.get(commit.commitId)} ${job}`), kernel.nowMs);
      this.#reachedBy(event);
    }
    const question = blockingQuestion(view);
    if (question?.id !== tracked.asked?.id) tracked.asked = question && { id: question.id, atMs: kernel.nowMs };
    tracked.view = view;
    tracked.commitId = commit.commitId;
    if (commit.events.some((event) => event.type === 'attempt_planned')) this.#committed.set(commit.commitId, kernel.step);
    this.#reach(`step ${nextStep(view, kernel.nowMs).do}`);
  }

  #reachedBy(event: Event): void {
    this.#reach(`event ${event.type}`);
    switch (event.type) {
      case 'attempt_ended':
      case 'attempt_refused':
      case 'attempt_never_landed':
      case 'job_ended':
        this.#reach(`cause ${event.outcome.cause}`);
        return;
      case 'escalation_raised':
        this.#reach(`question ${event.kind}`);
        return;
      case 'escalation_answered':
      case 'escalation_expired':
        this.#reach(`answer ${event.answer}`);
        return;
      default:
    }
  }

  /** The record of the cluster, by the rules of a job's. */
  #lookAtCluster(): void {
    const commits = (this.#stage.store.dump().clusters.get(CLUSTER) ?? []) as readonly ClusterCommit[];
    this.#clusterRecord.written(commits);
    for (let { version } = this.#cluster; version < commits.length; version++) {
      const raw = commits[version];
      holds(raw?.version === version + 1, 'S10', () => `the record of cluster ${CLUSTER} has no version ${version + 1}`);
      const commit = readable(raw, CLUSTER_SCHEMA);
      this.#clusterRecord.commits(commit, this.#stage.kernel.nowMs);
      this.#stage.kernel.note(() => `  cluster ${commit.version} ${commit.actor}: ${JSON.stringify(commit.events).slice(0, 1000)}`);
      this.#cluster = foldCluster([commit], this.#cluster);
      for (const login of this.#stage.logins)
        if (!blockedFor(this.#cluster, login)) this.#blockedAt.delete(login);
        else if (!this.#blockedAt.has(login)) this.#blockedAt.set(login, this.#stage.kernel.nowMs);
      for (const event of commit.events) {
        this.#reach(`cluster event ${event.type}`);
        if (event.type === 'escalation_raised') this.#reach(`question ${event.kind}`);
        if (event.type === 'escalation_answered' || event.type === 'escalation_expired') this.#reach(`answer ${event.answer}`);
      }
    }
  }

  reach(what: string): void {
    this.#reach(what);
  }

  #reach(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }
}
