/**
 * Conduct: the order in which one process does things to the cluster, and what it knew when it did them (protocols §3.2, §3.5, §4.3, §5.8, §7). What
 * such a rule prevents may need a rarer accident than worlds have; that the rule is kept can be seen every time.
 */
import type { ClusterObject, State } from '../../lib/cluster/memory/state.ts';
import type { FindAnswer, Submission, SubmitAnswer } from '../../lib/cluster/port.ts';
import { SLOT_LEASE_MS } from '../../lib/record/port.ts';
import { SKEW_MS } from './climate.ts';
import type { Kernel, Process } from './kernel.ts';
import type { Settles } from './ledger.ts';
import { holds } from './verdict.ts';

interface Look {
  readonly step: number;
  readonly answer: FindAnswer;
}

interface Connection {
  readonly process: Process;
  readonly login: string;
  /** When its slot was granted. */
  readonly takenMs: number;
}

export interface ConductCheck {
  takes(process: Process, answer: unknown): void;
  connects(process: Process, login: string): void;
  closes(process: Process): void;
  finds(process: Process, job: string, answer: FindAnswer): void;
  fences(process: Process, job: string): void;
  /** A job ends of which something may be, or have been, on the cluster. */
  ends(author: number, job: string): void;
  /** That a submission never landed was said, and until when it could land, by either clock. */
  givesUp(job: string, n: number, settles: Settles): void;
  /** `plannedStep`: when the commit that it is sent under was made. */
  sends(process: Process, submission: Submission, plannedStep: number): void;
  hears(submission: Submission, answer: SubmitAnswer): void;
  releases(process: Process, job: string, schedulerId: string): void;
}

/** Two looks 30 s apart, each timed by a clock of its own. */
const AGAIN_MS = 15_000;
/** Three for work and one for output; a poll's slot is its lease, and two polls at once are dropped to one by its fence. */
const MOST = 4;
/** A lease counts from when it was asked for, and is given back if that is a third of it ago. */
const SURELY_HELD_MS = (SLOT_LEASE_MS * 2) / 3 - SKEW_MS;

export const createConductCheck = (kernel: Kernel, cluster: State, copies: ReadonlySet<ClusterObject>): ConductCheck => {
  const looks = new Map<string, Look>();
  /** By process and job: the step of its last mark. */
  const marks = new Map<string, number>();
  /** Identities of which a submission may still land. */
  const underWay = new Set<string>();
  const connections: Connection[] = [];
  /** Processes that took a slot and have not connected since, and when it was granted. */
  const entitled = new Map<number, number>();
  /** By job: complete looks that found nothing of it, or others of it, by true time and by the cluster's clock. */
  const complete = new Map<string, { readonly atMs: number; readonly clusterNow: number; readonly found: readonly number[] }[]>();
  const lookOf = (process: Process, job: string): Look | undefined => looks.get(`${process.id} ${job}`);

  return {
    takes(process, answer) {
      if ((answer as { readonly kind?: string }).kind === 'taken') entitled.set(process.id, kernel.nowMs);
    },
    connects(process, login) {
      if (process.name === 'poll') return;
      const takenMs = entitled.get(process.id);
      entitled.delete(process.id);
      holds(takenMs !== undefined, 'slot', () => `${process.name}#${process.id} connects without a slot of its own`);
      connections.push({ process, login, takenMs });
      // One that outlived its slot is logged and bears with; one whose process died is gone.
      const open = connections.filter((one) => !one.process.dead && kernel.nowMs - one.takenMs < SURELY_HELD_MS);
      connections.splice(0, connections.length, ...open);
      const beside = open.filter((one) => one.login === login).map((one) => one.process.name);
      holds(beside.length <= MOST, 'slot', () => `${beside.length} connections of login ${login} at once: ${beside.join(', ')}`);
    },
    closes(process) {
      const at = connections.findIndex((one) => one.process === process);
      if (at >= 0) connections.splice(at, 1);
    },
    finds(process, job, answer) {
      looks.set(`${process.id} ${job}`, { step: kernel.step, answer });
      if (answer.kind === 'unreachable' || (answer.kind === 'found' && !answer.complete)) return;
      const found = answer.kind === 'found' ? answer.objects.map(({ n }) => n) : [];
      complete.set(job, [...(complete.get(job) ?? []), { atMs: kernel.nowMs, clusterNow: answer.clusterNow, found }]);
    },
    ends(author, job) {
      const look = looks.get(`${author} ${job}`);
      const answer = look?.answer;
      const over =
        answer?.kind === 'absent' || (answer?.kind === 'found' && answer.complete && answer.objects.every((one) => one.state === 'ended'));
      holds(over, 'S4', () => `${job} ended on a look that was ${answer?.kind ?? 'never made'}, not complete, or showed something alive`);
      const stopped = marks.get(`${author} ${job}`);
      const after = stopped !== undefined && look && look.step > stopped;
      holds(after, 'S4', () => `${job} ended on a look from before \`stop\` was written`);
    },
    givesUp(job, n, { clusterSettlesAt, settlesAtMs }) {
      const times = (complete.get(job) ?? []).flatMap((look) =>
        look.clusterNow > clusterSettlesAt && look.atMs > settlesAtMs - SKEW_MS && !look.found.includes(n) ? [look.atMs] : [],
      );
      const apart = times.length < 2 ? 0 : Math.max(...times) - Math.min(...times);
      holds(apart >= AGAIN_MS, 'S8', () => `attempt ${n} of ${job} was given up after ${times.length} looks within ${apart} ms`);
    },
    fences: (process, job) => void marks.set(`${process.id} ${job}`, kernel.step),
    sends(process, { job, identity }, plannedStep) {
      const look = lookOf(process, job);
      const looked = look && look.step > plannedStep && look.answer.kind !== 'unreachable';
      holds(looked, 'S3', () => `${process.name}#${process.id} sends ${identity} and has not looked it up`);
      const there = cluster.objects.find(
        (object) => object.name === identity && object.submission && !object.refused && !copies.has(object),
      );
      holds(!there, 'S3', () => `${identity} is sent, and is there as object ${there?.id}`);
      holds(!underWay.has(identity), 'S3', () => `${identity} is sent, and an earlier submission of it may still land`);
      underWay.add(identity);
    },
    hears({ identity }, answer) {
      const certain = answer.kind === 'refused' || answer.kind === 'not_now' || (answer.kind === 'uncertain' && answer.sent === 'no');
      if (certain) underWay.delete(identity);
    },
    releases(process, job, schedulerId) {
      const look = lookOf(process, job);
      const answer = look?.answer;
      const where = (): string => `${process.name}#${process.id} releases object ${schedulerId} of ${job}`;
      holds(answer?.kind === 'found' && answer.complete, 'S1', () => `${where()} on a look that was not complete`);
      const marked = marks.get(`${process.id} ${job}`);
      holds(marked !== undefined && look && look.step > marked, 'S1', () => `${where()}, and had not looked since it wrote its mark`);
      const other = answer.objects.find((one) => one.state !== 'ended' && one.receipt.schedulerId !== schedulerId);
      holds(!other, 'S1', () => `${where()}, and had seen ${other?.receipt.identity} as ${other?.receipt.schedulerId}`);
    },
  };
};
