/**
 * What must be true of the cluster at every moment, judged on the ground truth: S1, S2, S4, S7, and that nothing is ended which the
 * record wants.
 */
import type { Act, ClusterObject, Execution, State } from '../../lib/cluster/memory/state.ts';
import { jobKey } from '../../lib/cluster/memory/state.ts';
import { identityOf, parseIdentity } from '../../lib/job/identity.ts';
import { overOf } from '../../lib/job/over.ts';
import type { AttemptView, View } from '../../lib/job/view.ts';
import { SKEW_MS } from './climate.ts';
import { isBoundTo } from './record-check.ts';
import { holds } from './verdict.ts';

/** The wrapper looks every minute whether it was fenced, and gives its program half a minute to end. */
const FENCED_MS = 90_000;
/** Where no wrapper looks: from the end of an attempt whose pods may live on a silent node to the next release (protocols §4.7). */
const NODE_LOSS_MS = 600_000;
/** An ended attempt counts as not ended for so long (protocols §4.1). */
const SETTLED_MS = 600_000;

export interface Ground {
  readonly cluster: State;
  readonly tag: string;
  viewOf(job: string): View | undefined;
  /** When `job_ended` was appended, true time. */
  endedAt(job: string): number | undefined;
  /** Whether a cancel of any run of this attempt was ever intended. */
  everCancelled(job: string, n: number): boolean;
  readonly copies: ReadonlySet<ClusterObject>;
  /** Objects that a stranger let begin. */
  readonly letIn: ReadonlySet<ClusterObject>;
  /** An execution of ours began. */
  begins(execution: Execution): void;
  /** Processes of a lost node live on. */
  survives(): void;
}

export const createClusterCheck = (ground: Ground) => {
  const { cluster, tag } = ground;
  let executions = 0;
  let objects = 0;
  let acts = 0;
  const alive = new Set<Execution>();
  const survivors = new WeakSet<Execution>();

  const check = (): void => {
    for (; executions < cluster.executions.length; executions++) {
      const execution = cluster.executions[executions]!;
      if (execution.tag === tag) {
        judgeStart(ground, execution);
        ground.begins(execution);
        alive.add(execution);
      }
    }
    for (; objects < cluster.objects.length; objects++) judgeLanded(ground, cluster.objects[objects]!);
    for (; acts < cluster.acts.length; acts++) judgeAct(ground, cluster.acts[acts]!);
    for (const execution of alive) {
      if (execution.survivor && !survivors.has(execution)) {
        survivors.add(execution);
        ground.survives();
      }
      if (execution.endedAtMs !== undefined) alive.delete(execution);
    }
    // What is suspended does nothing, nor can it look; resumed, it looks first.
    if (alive.size > 1)
      judgeAlive(
        ground,
        [...alive].filter((execution) => execution.pausedAtMs === undefined),
      );
  };
  return { check };
};

/** S1, S2, S4: who may begin a program at all. */
const judgeStart = (ground: Ground, execution: Execution): void => {
  const { job, n, run, schedulerId } = execution;
  const where = `run ${n}-${run} of ${job} began in object ${schedulerId}`;
  const view = ground.viewOf(job);
  const attempt = view?.attempts[n - 1];
  holds(
    isBoundTo(attempt, schedulerId),
    'S1',
    () => `${where}, and attempt ${n} is bound to ${attempt?.receipt?.schedulerId ?? 'nothing'}`,
  );
  holds(attempt?.releaseIntendedAt !== undefined, 'S1', () => `${where}, and its release was not intended`);
  const control = ground.cluster.controls.get(jobKey(ground.tag, job));
  // The guard knows marks, not intentions: between the two a stranger may start an older attempt again, and the look finds it.
  const fenced = (one: AttemptView): boolean =>
    ground.cluster.settings.shape === 'kubernetes' ||
    (control?.marks.get(one.n)?.visibleAtMs ?? Number.POSITIVE_INFINITY) <= execution.startedAtMs;
  const later = view?.attempts.find((one) => one.n > n && one.releaseIntendedAt !== undefined && fenced(one));
  holds(!later, 'S1', () => `${where} after the release of attempt ${later?.n} was intended`);
  const ended = ground.endedAt(job);
  // A shared file system may show `stop` late: what a stranger starts until then ends at its first look, and cannot be prevented.
  const stopped = control?.stop?.visibleAtMs ?? 0;
  holds(ended === undefined || execution.startedAtMs <= Math.max(ended, stopped), 'S4', () => `${where} after the job ended`);
  const twice = ground.cluster.executionsByJob
    .get(jobKey(ground.tag, job))
    ?.find((other) => other !== execution && other.n === n && other.run === run);
  holds(!twice, 'S1', () => `${where}, and the same run had begun in ${twice?.schedulerId}`);
  judgeFenced(ground, execution, view!, where);
};

/**
 * P6.3, P4.7: what may have survived was given its time to be fenced before a later attempt begins: nothing of it is left then, or, where
 * nobody looks for marks, its end was recorded ten minutes ago. A node that answers and does not list its processes is believed.
 */
const judgeFenced = ({ cluster, tag }: Ground, execution: Execution, view: View, where: string): void => {
  // A stranger who lets it through its gate does not wait for anything: what it waits for is our own release.
  const identity = identityOf(tag, execution.job, execution.n);
  const ours = cluster.acts.some((act) => act.verb === 'release' && act.identity === identity && act.schedulerId === execution.schedulerId);
  if (!ours) return;
  for (const older of cluster.executionsByJob.get(jobKey(tag, execution.job)) ?? []) {
    // What is suspended does nothing, and looks before it goes on.
    if (older.n >= execution.n || older.endedAtMs !== undefined || older.pausedAtMs !== undefined) continue;
    if (!older.survivor || !older.nodeSilent) continue;
    const endedAt = view.attempts[older.n - 1]?.endedAt ?? Number.POSITIVE_INFINITY;
    const waited = cluster.settings.shape === 'kubernetes' && execution.startedAtMs >= endedAt + NODE_LOSS_MS - SKEW_MS;
    holds(waited, 'S1', () => `${where}, and run ${older.n}-${older.run}, of which nobody could know, is still alive`);
  }
};

/**
 * It began after its attempt had ended, by a stranger or by its scheduler: its guard goes by the marks it sees, and a shared file system
 * shows them late.
 */
const isLetIn = ({ cluster, tag, letIn, viewOf }: Ground, { job, n, schedulerId, startedAtMs }: Execution): boolean => {
  const object = cluster.byJob.get(jobKey(tag, job))?.find(({ id }) => id === schedulerId);
  const byOthers = object !== undefined && (letIn.has(object) || object.requeueable);
  return byOthers && startedAtMs > (viewOf(job)?.attempts[n - 1]?.endedAt ?? Number.POSITIVE_INFINITY);
};

/** S1: two at a time only while the older one, a survivor of a lost node or let in by a stranger, is fenced and has not looked yet. */
const judgeAlive = (ground: Ground, alive: readonly Execution[]): void => {
  const { cluster, tag } = ground;
  for (const older of alive) {
    const newer = alive.find((one) => one.job === older.job && one.epoch > older.epoch);
    if (!newer) continue;
    const where = `runs ${older.n}-${older.run} and ${newer.n}-${newer.run} of ${older.job} run at the same time`;
    const slurm = cluster.settings.shape === 'slurm';
    holds(older.survivor || (slurm && isLetIn(ground, older)), 'S1', () => where);
    if (!slurm) continue;
    const control = cluster.controls.get(jobKey(tag, older.job));
    const marks = [...(control?.marks.values() ?? [])].filter((mark) => mark.n > older.n).map((mark) => mark.visibleAtMs);
    const claims = [...(control?.claims.values() ?? [])].filter((claim) => claim.n === older.n && claim.run > older.run);
    const visibleMs = cluster.settings.markViewSeconds * 1000;
    const fenced = Math.min(
      ...marks,
      ...claims.map((claim) => claim.atMs + visibleMs),
      control?.stop?.visibleAtMs ?? Number.POSITIVE_INFINITY,
    );
    holds(cluster.agenda.nowMs <= fenced + FENCED_MS, 'S1', () => `${where}, and the older one is not fenced`);
  }
};

/** S4, S8: nothing lands for a job that ended, or of an attempt that was proved never to land. */
const judgeLanded = (ground: Ground, object: ClusterObject): void => {
  if (object.tag !== ground.tag || ground.copies.has(object) || object.submission === undefined) return;
  const view = ground.viewOf(object.job!);
  const attempt = view?.attempts[object.n! - 1];
  const where = `object ${object.id} of ${object.name} landed`;
  holds(attempt, 'S3', () => `${where}, and no attempt_planned names it`);
  holds(attempt.outcome?.cause !== 'never_landed', 'S8', () => `${where} after it was said never to land`);
  // On Kubernetes a late create comes up suspended, and the sweep finds it (protocols §3.3).
  holds(!view?.ended || ground.cluster.settings.shape === 'kubernetes', 'S4', () => `${where} after the job ended`);
};

/** S2, S7, and the record's own objects are ended only by its own intention. */
const judgeAct = (ground: Ground, act: Act): void => {
  if (act.tag !== ground.tag || act.result !== 'done') return;
  const identity = parseIdentity(act.identity);
  if (act.verb === 'fence') return;
  const where = `${act.verb} of ${act.identity} (object ${act.schedulerId})`;
  holds(identity?.tag === ground.tag, 'S7', () => `${where}: it has another tag`);
  const view = ground.viewOf(identity.job);
  holds(view, 'S7', () => `${where}: there is no record of it`);
  const attempt = view.attempts[identity.n - 1];
  if (act.verb === 'release') {
    holds(isBoundTo(attempt, act.schedulerId!), 'S2', () => `${where} before its binding was committed`);
    holds(attempt?.releaseIntendedAt !== undefined, 'S2', () => `${where} before its release was intended`);
  }
  if (act.verb === 'cancel') {
    const intended = isBoundTo(attempt, act.schedulerId!) && ground.everCancelled(identity.job, identity.n);
    holds(intended, 'S7', () => `${where} without the intention to cancel it`);
  }
  if (act.verb === 'requeue') {
    // A request that is carried out late may find that another one was faster, and the next run on the record.
    const intended = isBoundTo(attempt, act.schedulerId!) && (attempt?.requeueIntendedAt !== undefined || (attempt?.run ?? 0) > 0);
    holds(intended, 'S7', () => `${where} without the intention to put it back`);
  }
  if (act.verb === 'discard' && attempt && isBoundTo(attempt, act.schedulerId!))
    holds(isUnwanted(ground, view, attempt, act.schedulerId!), 'S7', () => `${where}: the record wants it`);
};

/** P4.1: nobody needs the object of this attempt any more, or it was told as one that stands in another's way. */
const isUnwanted = ({ cluster, tag }: Ground, view: View, attempt: AttemptView, schedulerId: string): boolean => {
  const now = cluster.clock.now();
  const isTold = view.attempts.some((one) => one.duplicates.some((other) => other.receipt.schedulerId === schedulerId));
  const isStopped = cluster.acts.some(({ verb, identity }) => verb === 'fence' && identity === `d${tag}-${view.job}`);
  if (isTold || isStopped || overOf(view, now) || view.ended) return true;
  if (attempt.state !== 'ended' || attempt.requeueIntendedAt !== undefined) return false;
  const isLast = attempt.n === view.attempts.length;
  const isUnsure = isLast && attempt.outcome?.class === 'evidence';
  return !isUnsure && now - (attempt.endedAt ?? now) > SETTLED_MS - SKEW_MS;
};
