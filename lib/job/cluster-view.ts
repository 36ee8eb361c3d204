/**
 * Cluster view: what the events of a cluster's record say now (contract §8). Guards promise 4: pure and total; a log that cannot
 * exist is a failed assertion. A cluster without a record has the empty view at version 0: nothing is known of it.
 */
import { assert, never } from './assertion.ts';
import type { Probe } from './capability.ts';
import {
  type BlockedWhy,
  CLUSTER_EVENT_TYPES,
  CLUSTER_SCHEMA,
  type ClusterAnswer,
  type ClusterCommit,
  type ClusterEvent,
  type ClusterEventOf,
} from './cluster-event.ts';
import { RecordFailure } from './failure.ts';

export interface Blocked {
  readonly since: number;
  readonly why: BlockedWhy;
  readonly says: string;
  /** Digests of what was tried last, as in the event. */
  readonly configuration: string;
  readonly secret: string;
  readonly presented?: string;
  readonly pinned?: readonly string[];
}

/** One login of a cluster: an account may be refused where another is let in. */
export interface LoginView {
  readonly login: string;
  readonly probe?: Probe;
  /** Digest of the configuration that the probe was made under. */
  readonly configuration?: string;
  readonly unreachable?: { readonly since: number; readonly says: string };
  readonly blocked?: Blocked;
}

export interface ClusterQuestion extends Omit<ClusterEventOf<'escalation_raised'>, 'type'> {
  readonly raisedAt: number;
  readonly closed?: {
    readonly how: 'answered' | 'expired' | 'withdrawn';
    readonly answer?: ClusterAnswer;
    readonly by?: string;
    readonly at: number;
    readonly says?: string;
  };
}

export interface ClusterView {
  readonly cluster: string;
  readonly version: number;
  readonly updatedAt: number;
  /** In the order in which they were first heard of. */
  readonly logins: readonly LoginView[];
  readonly questions: readonly ClusterQuestion[];
  /** An answer `block_submissions` stands: which question's, and since when. */
  readonly submissionsBlocked?: { readonly question: string; readonly by: string; readonly at: number };
}

export const emptyCluster = (cluster: string): ClusterView => ({ cluster, version: 0, updatedAt: 0, logins: [], questions: [] });

export const loginOf = (view: ClusterView, login: string): LoginView => view.logins.find((one) => one.login === login) ?? { login };
export const openClusterQuestions = (view: ClusterView): readonly ClusterQuestion[] => view.questions.filter((q) => !q.closed);

/** Why this login may not be used. A changed host key is the host's, whichever login met it. */
export const blockedFor = (view: ClusterView, login: string): Blocked | undefined =>
  loginOf(view, login).blocked ?? view.logins.find((one) => one.blocked?.why === 'host_key_changed')?.blocked;

/** Since when some login gets no answer, and what it meets; undefined: nobody complains. */
export const troubleOf = (view: ClusterView): { readonly since: number; readonly says: string; readonly hostKey: boolean } | undefined => {
  const all = view.logins.flatMap(({ unreachable, blocked }) => (blocked ? [blocked] : unreachable ? [unreachable] : []));
  const first = all.toSorted((a, b) => a.since - b.since)[0];
  return first && { since: first.since, says: first.says, hostKey: all.some((one) => 'why' in one && one.why === 'host_key_changed') };
};

type Meta = Pick<ClusterCommit, 'at'>;

const patch = (view: ClusterView, login: string, change: (known: LoginView) => LoginView): ClusterView => {
  const at = view.logins.findIndex((one) => one.login === login);
  const logins = view.logins.slice();
  logins[at < 0 ? logins.length : at] = change(loginOf(view, login));
  return { ...view, logins };
};

const close = (view: ClusterView, id: string, closed: NonNullable<ClusterQuestion['closed']>): ClusterView => {
  const question = view.questions.find((one) => one.id === id);
  assert(question && !question.closed, `cluster ${view.cluster}: question ${id} is not open`);
  const questions = view.questions.map((one) => (one.id === id ? { ...one, closed } : one));
  // `wait` is no block; that an earlier answer blocked already stays so.
  if (closed.answer !== 'block_submissions') return { ...view, questions };
  return { ...view, questions, submissionsBlocked: { question: id, by: closed.by ?? 'system', at: closed.at } };
};

export const evolveCluster = (view: ClusterView, event: ClusterEvent, { at }: Meta): ClusterView => {
  switch (event.type) {
    case 'cluster_probed':
      return patch(view, event.login, (known) => ({ ...known, configuration: event.configuration, probe: probeOf(view, known, event) }));
    case 'cluster_unreachable':
      // Blocked says more, and only a preflight ends that.
      return patch(view, event.login, (known) =>
        known.blocked ? known : { ...known, unreachable: { since: known.unreachable?.since ?? at, says: event.says } },
      );
    case 'cluster_blocked':
      return patch(view, event.login, (known) => nowBlocked(known, event, at));
    case 'cluster_reachable':
      return reached(view, event.login);
    case 'escalation_raised': {
      const { type: _, ...question } = event;
      return { ...view, questions: [...view.questions, { ...question, raisedAt: at }] };
    }
    case 'escalation_answered':
      return close(view, event.id, { how: 'answered', answer: event.answer, by: event.by, at });
    case 'escalation_expired':
      return close(view, event.id, { how: 'expired', answer: event.answer, at });
    case 'escalation_withdrawn':
      return close(view, event.id, { how: 'withdrawn', at, says: event.moot });
    default:
      return never(event);
  }
};

const nowBlocked = ({ unreachable, ...known }: LoginView, event: ClusterEventOf<'cluster_blocked'>, at: number): LoginView => {
  const { why, says, configuration, secret, presented, pinned } = event;
  const since = known.blocked?.since ?? unreachable?.since ?? at;
  const keys = { ...(presented === undefined ? {} : { presented }), ...(pinned === undefined ? {} : { pinned }) };
  return { ...known, blocked: { since, why, says, configuration, secret, ...keys } };
};

const probeOf = (view: ClusterView, known: LoginView, event: ClusterEventOf<'cluster_probed'>): Probe => {
  if (event.probe) return event.probe as Probe;
  assert(known.probe, `cluster ${view.cluster}: login ${event.login} is said to be unchanged and was never probed`);
  const { clockOffsetMs, credentialLifeSeconds, probedAt } = event;
  return { ...known.probe, facts: { ...known.probe.facts, clockOffsetMs, credentialLifeSeconds }, probedAt };
};

/** The login answers again, and the host showed a key that is pinned, which is every login's. */
const reached = (view: ClusterView, login: string): ClusterView => {
  const { submissionsBlocked: _, ...rest } = view;
  const logins = rest.logins.map(({ unreachable, blocked, ...known }): LoginView => {
    if (known.login === login) return known;
    const kept = blocked?.why === 'host_key_changed' ? undefined : blocked;
    return { ...known, ...(unreachable ? { unreachable } : {}), ...(kept ? { blocked: kept } : {}) };
  });
  return { ...rest, logins };
};

const KNOWN = new Set<string>(CLUSTER_EVENT_TYPES);

/** A newer release's commit stops the reader before it changes anything, as in a job's record. */
const understood = (commit: ClusterCommit): ClusterCommit => {
  const { cluster, version, schema } = commit;
  const unknown = commit.events.find((event) => !KNOWN.has(event.type));
  if (schema <= CLUSTER_SCHEMA && !unknown) return commit;
  const what = unknown ? `holds an unknown event '${unknown.type}'` : `has schema ${schema}, this release reads up to ${CLUSTER_SCHEMA}`;
  throw new RecordFailure('record/newer_schema', `cluster ${cluster}: version ${version} ${what}`);
};

/** Folds commits onto a view; the log must be gap-free from there. */
export const foldCluster = (commits: readonly ClusterCommit[], from: ClusterView): ClusterView => {
  let view = from;
  for (const raw of commits) {
    const commit = understood(raw);
    assert(commit.version === view.version + 1, `cluster ${view.cluster}: version ${commit.version} follows ${view.version}`);
    assert(commit.cluster === view.cluster, `version ${commit.version} of cluster ${commit.cluster} is no part of ${view.cluster}`);
    for (const event of commit.events) view = evolveCluster(view, event, commit);
    view = { ...view, version: commit.version, updatedAt: commit.at };
  }
  return view;
};
