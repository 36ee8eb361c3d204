/**
 * The judge of one world: looks at the record and the ground truth after every step, remembers what it needs for that, and keeps the
 * first thing that is broken.
 */
import type { Submission } from '../../lib/cluster/port.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import type { View } from '../../lib/job/view.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { createClusterCheck } from './cluster-check.ts';
import type { Process } from './kernel.ts';
import { judgeCommit } from './record-check.ts';
import type { Stage } from './stage.ts';
import type { Watcher } from './store.ts';
import { Broken, holds } from './verdict.ts';
import { createWakeCheck } from './wake-check.ts';

interface Tracked {
  view?: View;
  endedAt?: number;
  /** Of the last commit judged: what was appended stays as it was. */
  commitId?: string;
  headVersion?: number;
}

/** Errors that the world itself causes; everything else that a process ends with is a mistake of ours. */
const EXPECTED = new Set(['RecordFailure', 'ClusterFailure', 'SupervisorsFailure', 'StaleDecision', 'Superseded', 'Lambda.Unknown']);

export class Judge {
  readonly reached = new Map<string, number>();
  broken: Broken | undefined;
  brokenAt = 0;
  readonly #stage: Stage;
  readonly #jobs = new Map<string, Tracked>();
  /** Which process each commit came from, and the plans that were sent. */
  readonly #authors = new Map<string, number>();
  readonly #sent = new Set<string>();
  readonly #wakes = createWakeCheck();
  readonly #check: ReturnType<typeof createClusterCheck>;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#check = createClusterCheck({
      cluster: stage.cluster.state,
      tag: stage.tag,
      viewOf: (job) => this.#jobs.get(job)?.view,
      endedAt: (job) => this.#jobs.get(job)?.endedAt,
      copies: stage.copies,
    });
  }

  /** Time moved: what the cluster did by itself meanwhile, before anything else happens. */
  due(): void {
    this.#stage.cluster.catchUp();
    this.#check.check();
  }

  /** A step was made. Throws what is broken. */
  look(): void {
    for (const [job, { commits, head, slots }] of this.#stage.store.dump().jobs) {
      const tracked = this.#jobs.get(job) ?? {};
      this.#jobs.set(job, tracked);
      const { view, commitId, headVersion = 0 } = tracked;
      holds(!view || commits[view.version - 1]?.commitId === commitId, 'S10', () => `version ${view?.version} of ${job} was written twice`);
      holds(!head || head.version >= headVersion, 'S10', () => `the head of ${job} went back from ${headVersion} to ${head?.version}`);
      if (head) tracked.headVersion = head.version;
      while ((tracked.view?.version ?? 0) < commits.length) this.#judgeNext(tracked, job, (tracked.view?.version ?? 0) + 1);
      if (head && tracked.view) this.#wakes.check(tracked.view, head.version, slots, this.#stage.kernel.nowMs);
    }
    this.#check.check();
  }

  views(): View[] {
    return [...this.#jobs.values()].flatMap(({ view }) => (view ? [view] : []));
  }

  watcher(process: Process): Watcher {
    return {
      appends: (commit) => this.#authors.set(commit.commitId, process.id),
      parks: (wake) => this.#wakes.parks(wake),
    };
  }

  /** S3: only the committer of that try sends, and once. */
  sends(process: Process, { job, n, identity, clusterBoundAt }: Submission): void {
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
  }

  /** S12: no token in a log. */
  logs(level: string, message: string, fields: unknown): void {
    const text = JSON.stringify(fields);
    this.#stage.kernel.note(() => `  ${level}: ${message} ${text}`);
    for (const { slots } of this.#stage.store.dump().jobs.values())
      for (const { token } of slots.values()) holds(!text.includes(token), 'S12', () => `a token is in the log: ${message}`);
  }

  /** P2.8: nobody who waits as promised is replaced, once the world is calm and no local process begins anew. */
  watched(store: RecordStore, mayReplace: (at: number) => boolean, runs: (name: string) => boolean): RecordStore {
    return {
      ...store,
      raiseGeneration: async (job, from, at) => {
        const slots = this.#stage.store.dump().jobs.get(job)?.slots.values() ?? [];
        const waits = [...slots].some(({ wake }) => wake?.state === 'parked' && wake.until > at);
        const raised = await store.raiseGeneration(job, from, at);
        if (raised === 'raised' && waits && !mayReplace(at) && runs(`${job}-${from}`))
          this.breaks(new Broken('L3', `generation ${from} of ${job} waits as it was promised, and was replaced`));
        return raised;
      },
    };
  }

  /** A process ended with an error: the world's doing, or a mistake. */
  failed(name: string, error: unknown): void {
    const failure = error as Error;
    if (failure.name === 'AssertionFailed') this.breaks(new Broken('assertion', `${name}: ${failure.message}`));
    else if (failure instanceof Broken) this.breaks(failure);
    else if (!EXPECTED.has(failure.name)) this.breaks(new Broken('error', `${name}: ${failure.stack ?? failure.message}`));
    else this.#stage.kernel.note(() => `  ${name} failed: ${failure.name}: ${failure.message}`);
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
    const commit = store.dump().jobs.get(job)!.commits[version - 1];
    holds(commit, 'S10', () => `the log of ${job} has no version ${version}`);
    kernel.note(() => `  ${job} ${version} ${commit.actor}: ${JSON.stringify(commit.events)}`);
    // The step that this commit answers, and the one that follows from it.
    if (tracked.view) this.#reach(`step ${nextStep(tracked.view, kernel.nowMs).do}`);
    const view = judgeCommit({ cluster: cluster.state, causes: this.#check.causes, copies }, tracked.view, commit, kernel.nowMs);
    tracked.view = view;
    tracked.commitId = commit.commitId;
    if (view.ended) tracked.endedAt ??= kernel.nowMs;
    this.#reach(`step ${nextStep(view, kernel.nowMs).do}`);
    for (const event of commit.events) {
      this.#reach(`event ${event.type}`);
      if (event.type === 'attempt_ended' || event.type === 'job_ended') this.#reach(`cause ${event.outcome.cause}`);
      if (event.type === 'escalation_raised') this.#reach(`question ${event.kind}`);
    }
  }

  #reach(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }
}
