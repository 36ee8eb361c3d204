/**
 * Cluster commands: what polls, preflights, reconciles and people do to a cluster's record, as `(view, command) → events | refusal`.
 * A cluster has no supervisor, so whoever touches its record raises, withdraws and expires its questions here (contract §8).
 * Guards promise 6: one question per outage, whatever the number of jobs; the first valid answer wins. Pure.
 */
import { canonical } from './canonical.ts';
import type { CapabilityName, Probe } from './capability.ts';
import type { ClusterEvent, ClusterEventOf, ClusterQuestionKind, ProbedBy } from './cluster-event.ts';
import { CLUSTER_ANSWERS } from './cluster-event.ts';
import { type ClusterQuestion, type ClusterView, evolveCluster, loginOf, openClusterQuestions, troubleOf } from './cluster-view.ts';
import { TIMING } from './timing.ts';

export type ClusterDecided = { readonly kind: 'events'; readonly events: readonly ClusterEvent[] } | ClusterRefused;
export interface ClusterRefused {
  readonly kind: 'refused';
  readonly code: 'escalation/unknown' | 'escalation/closed' | 'escalation/not_an_option';
  readonly says: string;
}
const refused = (code: ClusterRefused['code'], says: string): ClusterRefused => ({ kind: 'refused', code, says });

const after = (view: ClusterView, events: readonly ClusterEvent[], at: number): ClusterView =>
  events.reduce((now, event) => evolveCluster(now, event, { at }), view);

/** The events, a withdrawal of what they make moot, and what is due after them at this moment. */
const settled = (view: ClusterView, events: readonly ClusterEvent[], now: number): readonly ClusterEvent[] => {
  const all = [...events, ...withdrawals(after(view, events, now))];
  return [...all, ...due(after(view, all, now), now)];
};

const withdrawals = (view: ClusterView): readonly ClusterEvent[] =>
  openClusterQuestions(view).flatMap((question): ClusterEvent[] => {
    const moot = mootBy(view, question);
    return moot ? [{ type: 'escalation_withdrawn', id: question.id, moot }] : [];
  });

const mootBy = (view: ClusterView, { kind, lost }: ClusterQuestion): string | undefined => {
  if (kind === 'cluster_unreachable') return troubleOf(view) ? undefined : 'the cluster answers again';
  if (!lost) return undefined;
  return lost.names.every((name) => !lacks(loginOf(view, lost.login).probe, name)) ? 'a probe found it again' : undefined;
};

const lacks = (probe: Probe | undefined, name: CapabilityName): boolean => probe?.capabilities[name].support === 'no';

/** What time alone makes due: the question of an outage that lasts, and the end of a question that nobody answered. */
export const due = (view: ClusterView, now: number): readonly ClusterEvent[] => {
  const expired = openClusterQuestions(view)
    .filter((question) => question.expiresAt <= now)
    .map((question): ClusterEvent => ({ type: 'escalation_expired', id: question.id, answer: question.onExpiry }));
  const trouble = troubleOf(view);
  if (!trouble || now < askOutageAt(view, trouble)) return expired;
  const words = trouble.hostKey ? 'is blocked' : `does not answer since ${new Date(trouble.since).toISOString()}`;
  return [...expired, raise(view, 'cluster_unreachable', now, `cluster ${view.cluster} ${words}: ${trouble.says}`)];
};

/** Once per outage; a `wait` begins another 72 h; submissions that are blocked need no second answer. */
const askOutageAt = (view: ClusterView, trouble: NonNullable<ReturnType<typeof troubleOf>>): number => {
  // A changed host key never mends by itself (C048).
  const first = trouble.hostKey ? 0 : trouble.since + TIMING.clusterUnreachableSeconds * 1000;
  const last = view.questions.findLast((question) => question.kind === 'cluster_unreachable');
  if (last && !last.closed) return Number.POSITIVE_INFINITY;
  if (!last?.closed || last.raisedAt < trouble.since || last.closed.how === 'withdrawn') return first;
  if (last.closed.answer === 'block_submissions') return Number.POSITIVE_INFINITY;
  return last.closed.at + TIMING.questionSeconds * 1000;
};

const raise = (
  view: ClusterView,
  kind: ClusterQuestionKind,
  now: number,
  says: string,
  lost?: ClusterQuestion['lost'],
): ClusterEventOf<'escalation_raised'> => ({
  type: 'escalation_raised',
  id: `q${view.questions.length + 1}`,
  kind,
  episode: view.questions.filter((question) => question.kind === kind).length + 1,
  options: [...CLUSTER_ANSWERS],
  onExpiry: CLUSTER_ANSWERS[0],
  expiresAt: now + TIMING.questionSeconds * 1000,
  says: says.slice(0, 1024),
  ...(lost ? { lost } : {}),
});

/** A look that could not be made. Noted once per outage; that a blocked login gets no further is no news. */
export const unreachable = (view: ClusterView, login: string, says: string, now: number): readonly ClusterEvent[] => {
  const known = loginOf(view, login);
  if (known.unreachable || known.blocked) return due(view, now);
  return settled(view, [{ type: 'cluster_unreachable', login, says: says.slice(0, 1024) }], now);
};

/** A complete look: the end of an outage. What a preflight alone may lift, a look cannot (a blocked login makes none). */
export const reachable = (view: ClusterView, login: string, now: number): readonly ClusterEvent[] =>
  loginOf(view, login).unreachable ? settled(view, [{ type: 'cluster_reachable', login }], now) : due(view, now);

export type Refusal = Omit<ClusterEventOf<'cluster_blocked'>, 'type' | 'login'>;

/** Host key changed or key refused. Repeated only when it says something else, or something else was tried. */
export const blocked = (view: ClusterView, login: string, refusal: Refusal, now: number): readonly ClusterEvent[] => {
  const known = loginOf(view, login).blocked;
  const same = known && known.why === refusal.why && known.configuration === refusal.configuration && known.secret === refusal.secret;
  if (same && known.presented === refusal.presented) return due(view, now);
  return settled(view, [{ type: 'cluster_blocked', login, ...refusal, says: refusal.says.slice(0, 1024) }], now);
};

export interface Probed {
  readonly login: string;
  readonly by: ProbedBy;
  readonly configuration: string;
  readonly probe: Probe;
  /** What active jobs of this login rely on; asked for only where something is missing (`missingOf`). */
  readonly relied: readonly CapabilityName[];
}

/** What a probe found, and all that its success ends: an outage, a block, an answer `block_submissions`. */
export const probed = (view: ClusterView, found: Probed, now: number): readonly ClusterEvent[] => {
  const { login, by, configuration, probe, relied } = found;
  const { clockOffsetMs, credentialLifeSeconds } = probe.facts;
  const known = loginOf(view, login);
  const same = known.probe !== undefined && known.configuration === configuration && saysSame(known.probe, probe);
  const event: ClusterEvent = {
    ...{ type: 'cluster_probed' as const, login, by, configuration, probedAt: probe.probedAt, clockOffsetMs, credentialLifeSeconds },
    ...(same ? {} : { probe: probe as NonNullable<ClusterEventOf<'cluster_probed'>['probe']> }),
  };
  const events: ClusterEvent[] = [event];
  if (known.unreachable || known.blocked || blockedByHost(view) || endsBlock(view, found))
    events.push({ type: 'cluster_reachable', login });
  const names = missingOf(view, login, probe, now).filter((name) => relied.includes(name));
  const all = settled(view, events, now);
  if (names.length === 0) return all;
  const says = `cluster ${view.cluster} lost what active jobs of login ${login} rely on: ${names
    .map((name) => `${name} (${probe.capabilities[name].evidence.slice(0, 120)})`)
    .join(', ')}`;
  return [...all, raise(after(view, all, now), 'capability_lost', now, says, { login, names: [...names] })];
};

const blockedByHost = (view: ClusterView): boolean => view.logins.some((one) => one.blocked?.why === 'host_key_changed');

/** Of a capability that was lost: a person's preflight, or that it is back. A daily probe that misses it still must not lift the block. */
const endsBlock = (view: ClusterView, { by, probe }: Probed): boolean => {
  const question = view.questions.find((one) => one.id === view.submissionsBlocked?.question);
  if (!question) return false;
  if (by === 'hand') return true;
  return question.kind === 'cluster_unreachable' ? !troubleOf(view) : (question.lost?.names.every((name) => !lacks(probe, name)) ?? true);
};

/** Apart from the moment, the clock and the wording of evidence, which change from look to look. */
const saysSame = (a: Probe, b: Probe): boolean => canonical(essence(a)) === canonical(essence(b));
const essence = ({ capabilities, facts }: Probe) => ({
  supports: Object.fromEntries(Object.entries(capabilities).map(([name, { support }]) => [name, support])),
  facts: { ...facts, clockOffsetMs: 0 },
});

/**
 * What a probe newly found missing (`no`, where it was not), and what is missing still 72 h after somebody said `wait`. What could
 * not be asked (`unknown`) is not lost.
 */
export const missingOf = (view: ClusterView, login: string, probe: Probe, now: number): readonly CapabilityName[] => {
  const before = loginOf(view, login).probe;
  const asked = view.questions.filter((question) => question.lost?.login === login);
  return (Object.keys(probe.capabilities) as CapabilityName[]).filter((name) => {
    if (!before || !lacks(probe, name)) return false;
    if (!lacks(before, name)) return true;
    const closed = asked.findLast((question) => question.lost?.names.includes(name))?.closed;
    return closed?.answer === 'wait' && closed.at + TIMING.questionSeconds * 1000 <= now;
  });
};

/** The first valid answer wins; a later one is refused as closed. */
export const answerCluster = (
  view: ClusterView,
  given: { readonly question: string; readonly answer: unknown; readonly by: string },
  now: number,
): ClusterDecided => {
  const question = view.questions.find((one) => one.id === given.question);
  if (!question) return refused('escalation/unknown', `there is no question ${given.question} on cluster ${view.cluster}`);
  const { closed, id } = question;
  if (closed) return refused('escalation/closed', `question ${id} was ${closed.how}${closed.by ? ` by ${closed.by}` : ''}`);
  // Past its moment the default counts, whether anybody came by to say so or not.
  if (question.expiresAt <= now)
    return refused('escalation/closed', `question ${id} expired at ${new Date(question.expiresAt).toISOString()}`);
  const choice = question.options.find((option) => option === given.answer);
  if (!choice) return refused('escalation/not_an_option', `answer ${id} with one of: ${question.options.join(', ')}`);
  return { kind: 'events', events: [{ type: 'escalation_answered', id, answer: choice, by: given.by }] };
};
