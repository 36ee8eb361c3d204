/**
 * Submit a job: its birth in the record, in the one order that a crash anywhere can be finished from (protocols §1.5):
 * idempotency key, head at version 0, first event, execution. There is no in-flight answer: a retry with the same
 * key and payload repeats every conditional step and answers with whatever is there.
 */
import { type Commit, type Event, type Receipt, SCHEMA } from '../job/event.ts';
import { newJobId } from '../job/identity.ts';
import type { Plan } from '../job/plan.ts';
import type { Spec } from '../job/spec.ts';
import { fold, type View } from '../job/view.ts';
import type { Head } from '../record/port.ts';
import { MACHINE } from './advance.ts';
import { checked, newCommitId } from './commit.ts';
import { loadView } from './load.ts';
import type { Ports } from './ports.ts';
import { publish } from './wake.ts';

export interface Submitted {
  readonly spec: Spec;
  readonly plan: Plan;
  readonly principal: string;
  readonly project: string;
  readonly login: string;
  /** The caller's Idempotency-Key, or one of the request's own. */
  readonly key: string;
  /** A hash of what was asked for, independent of when. */
  readonly payloadHash: string;
}

export type Birth =
  | { readonly kind: 'submitted'; readonly view: View }
  /** The key was used for another payload within 24 h. */
  | { readonly kind: 'key_reused'; readonly job: string };

const CLASHES = 5;

/** What any birth needs, whoever asked for it. */
interface Born extends Pick<Submitted, 'principal' | 'project' | 'login' | 'key' | 'payloadHash'> {
  readonly name: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly first: (job: string) => Promise<Event>;
}

export const submitJob = (ports: Ports, submitted: Submitted): Promise<Birth> => {
  const { name, cluster, labels } = submitted.spec;
  return bear(ports, { ...submitted, name, cluster, labels, first: (job) => jobSubmitted(ports, submitted, job) });
};

/** Of a job that somebody else submitted. One object is adopted once per principal (within the life of a key), however often it is asked for. */
export const adoptJob = (
  ports: Ports,
  adopted: Pick<Submitted, 'principal' | 'project'> & { readonly name: string; readonly receipt: Receipt },
): Promise<Birth> => {
  const { principal, project, name, receipt } = adopted;
  const { cluster, login, schedulerId, submittedAt } = receipt;
  const key = `adopt ${cluster} ${schedulerId} ${submittedAt}`;
  const first = async (): Promise<Event> => ({ type: 'job_adopted', name, principal, project, receipt });
  return bear(ports, { principal, project, login, key, payloadHash: key, name, cluster, labels: {}, first });
};

const bear = async (ports: Ports, submitted: Born): Promise<Birth> => {
  const { principal, key, payloadHash } = submitted;
  let claim = await ports.store.claimKey({ principal, key, payloadHash, job: newJobId(ports.now(), ports.random), at: ports.now() });
  if (claim.payloadHash !== payloadHash) return { kind: 'key_reused', job: claim.job };
  for (let i = 0; i < CLASHES; i++) {
    const born = await ports.store.createHead(headOf(ports, submitted, claim.job));
    if (born !== 'clash') return { kind: 'submitted', view: await firstEvent(ports, submitted, claim.job) };
    // Somebody else's job has this id: the key moves to a new one, on the condition that it still points at the old.
    const moved = { ...claim, job: newJobId(ports.now(), ports.random) };
    await ports.store.moveKey(moved, claim.job);
    claim = await ports.store.claimKey(moved);
  }
  throw new Error(`no free job id in ${CLASHES} tries`);
};

const headOf = (ports: Ports, submitted: Born, job: string): Head => {
  const at = ports.now();
  return {
    job,
    version: 0,
    bornAt: at,
    triedAt: at,
    principal: submitted.principal,
    key: submitted.key,
    payloadHash: submitted.payloadHash,
    summary: {
      active: '',
      state: 'pending',
      watchline: '',
      name: submitted.name,
      project: submitted.project,
      ended: false,
      cluster: submitted.cluster,
      login: submitted.login,
      cause: '',
      asked: false,
      updatedAt: at,
    },
    supervisor: { generation: 1, machine: MACHINE, failures: 0, seenAt: at, takenAt: 0 },
    tries: { version: 0, count: 0 },
    notified: 0,
  };
};

const firstEvent = async (ports: Ports, submitted: Born, job: string): Promise<View> => {
  const there = await loadView(ports.store, job);
  const view = there ?? (await appendFirst(ports, submitted, job));
  await publish(ports, view);
  await withHead(ports, submitted, view);
  if (!view.ended) await ports.supervisors.start(job, 1);
  return view;
};

/** Reconcile gives up a birth that takes too long: an event that came after all must not be left without a head, on no list (G2). */
const withHead = async (ports: Ports, submitted: Born, view: View): Promise<void> => {
  if (await ports.store.readHead(view.job)) return;
  await ports.store.createHead(headOf(ports, submitted, view.job));
  await publish(ports, view);
};

const appendFirst = async (ports: Ports, submitted: Born, job: string): Promise<View> => {
  const first: Commit = {
    job,
    version: 1,
    commitId: newCommitId(ports.random),
    at: ports.now(),
    actor: `user:${submitted.principal}`,
    schema: SCHEMA,
    events: [checked(await submitted.first(job))],
  };
  // Before the event, so that no job is ever without its labels (protocols §1.6); a list drops those of a birth that came to nothing.
  if (Object.keys(submitted.labels).length > 0) await ports.store.putLabels(job, submitted.labels);
  if ((await ports.store.append(first)) === 'appended') return fold([first]) as View;
  const other = await loadView(ports.store, job);
  if (!other) throw new Error(`job ${job}: version 1 is taken and cannot be read`);
  return other;
};

const jobSubmitted = async (ports: Ports, submitted: Submitted, job: string): Promise<Event> => {
  const { spec, plan, principal, project, login, key } = submitted;
  const script = spec.program.script;
  // A script is stored once; the events carry its digest.
  const digest = script === undefined ? undefined : await ports.store.putBlob(job, script);
  const stored = digest === undefined ? spec : { ...spec, program: { ...spec.program, script: `sha256:${digest}` } };
  return {
    type: 'job_submitted',
    spec: stored,
    planDigest: plan.digest,
    idempotencyKey: key,
    principal,
    project,
    login,
    facts: plan.facts,
  };
};
