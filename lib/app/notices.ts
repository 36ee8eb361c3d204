/**
 * Notices: the domain events that others are told of (contract §11, protocols §2.7), derived from commits alone. Pure: the same
 * commits give the same notices with the same ids, whoever derives them and however often, so that a repeated delivery shows.
 * Guards P2.6: a notice carries a question's id and where to answer it, never a token.
 */
import * as z from 'zod';
import { outcomeSchema } from '../job/cause.ts';
import type { ClusterCommit, ClusterEvent } from '../job/cluster-event.ts';
import type { ClusterView } from '../job/cluster-view.ts';
import { ANSWERS, type Commit, type Event, QUESTION_KINDS } from '../job/event.ts';
import { attemptOfEpoch } from '../job/identity.ts';
import { fold, jobState, type Question, type View } from '../job/view.ts';
import { why } from '../job/why.ts';

/** Of the shapes below: raised when one of them changes meaning. */
export const NOTICE_SCHEMA = 1;

/** RFC 3339, UTC. */
const instant = z.iso.datetime();
const ID = /^[a-z0-9-]{1,40}:\d+:[A-Za-z0-9.-]{1,80}$/;

const jobSchema = z.strictObject({ id: z.string(), name: z.string(), owner: z.string(), project: z.string(), cluster: z.string() });
const escalation = {
  id: z.string(),
  kind: z.enum([...QUESTION_KINDS, 'cluster_unreachable', 'capability_lost']),
  /** Absent where a whole cluster is asked about. */
  attempt: z.int().optional(),
};

/** `id`: `<job or cluster>:<version>:<i>`. The same id again is the same notice again. */
const notice = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), id: z.string().regex(ID), schema: z.literal(NOTICE_SCHEMA), at: instant, ...shape });
/** What a question belongs to: one of the two. */
const about = { job: jobSchema.optional(), cluster: z.string().optional() };

export const noticeSchema = z.discriminatedUnion('type', [
  notice('dispatch.job.state_changed', {
    job: jobSchema,
    version: z.int(),
    /** Absent: it was just submitted or adopted. */
    from: z.string().optional(),
    to: z.string(),
    why: z.string(),
  }),
  notice('dispatch.attempt.ended', {
    job: jobSchema,
    attempt: z.int(),
    run: z.int(),
    /** Without its evidence, which the job's events hold. */
    outcome: outcomeSchema.omit({ evidence: true, observedAt: true }),
    /** A later look may still replace it. */
    provisional: z.boolean(),
  }),
  notice('dispatch.escalation.raised', {
    ...about,
    escalation: z.strictObject({
      ...escalation,
      blocks: z.boolean(),
      options: z.array(z.enum(ANSWERS)),
      onExpiry: z.enum(ANSWERS),
      expiresAt: instant,
      says: z.string(),
    }),
    /** Path of the API where it is answered. */
    link: z.string(),
  }),
  /** The token that waited for this question is dead, and another one waits: read it again. */
  notice('dispatch.escalation.reissued', { ...about, escalation: z.strictObject(escalation), link: z.string() }),
  notice('dispatch.escalation.closed', {
    ...about,
    escalation: z.strictObject(escalation),
    how: z.enum(['answered', 'expired', 'withdrawn']),
    answer: z.enum(ANSWERS).optional(),
    /** Who won: a principal, or `token`. Absent unless it was answered. */
    by: z.string().optional(),
    /** Why nobody needs to answer any more. */
    moot: z.string().optional(),
  }),
  /** Also one that refuses us or shows another host key: nothing can be done there either. */
  notice('dispatch.cluster.unreachable', { cluster: z.string(), login: z.string(), says: z.string() }),
  notice('dispatch.checkpoint.published', {
    job: jobSchema,
    attempt: z.int(),
    run: z.int(),
    epoch: z.int(),
    trainingStep: z.int(),
    path: z.string(),
    late: z.boolean(),
  }),
  /** Generation after generation ends without having decided anything. */
  notice('dispatch.supervisor.failing', { job: jobSchema, generation: z.int(), failures: z.int() }),
]);
export type Notice = z.infer<typeof noticeSchema>;
export type NoticeType = Notice['type'];
export const NOTICE_TYPES = noticeSchema.options.map((option) => option.shape.type.value) as NoticeType[];

export const rfc3339 = (ms: number): string => new Date(ms).toISOString();

export const noticeJob = (view: View): z.infer<typeof jobSchema> => ({
  id: view.job,
  name: view.name,
  owner: view.principal,
  project: view.project,
  cluster: view.attempts.at(-1)?.cluster ?? view.spec?.cluster ?? '',
});

/** What one commit tells. `after` is the fold up to and including it. An event's index is its notice's number; the state's comes last. */
export const noticesOf = (before: View | undefined, commit: Commit, after: View): readonly Notice[] => {
  const head = (i: number) => ({ id: `${commit.job}:${commit.version}:${i}`, schema: NOTICE_SCHEMA, at: rfc3339(commit.at) }) as const;
  const told = commit.events.flatMap((event, i): Notice[] => {
    const said = ofEvent(event, after);
    return said ? [{ ...head(i), ...said }] : [];
  });
  const from = before && jobState(before);
  const to = jobState(after);
  if (from === to) return told;
  return [
    ...told,
    {
      type: 'dispatch.job.state_changed',
      ...head(commit.events.length),
      ...{ job: noticeJob(after), version: commit.version, to, why: why(after) },
      ...(from === undefined ? {} : { from }),
    },
  ];
};

/** What commits after `notified` tell, in order; `commits` is the log from its beginning. */
export const noticesAfter = (commits: readonly Commit[], notified: number): readonly Notice[] => {
  let view: View | undefined;
  return commits.flatMap((commit) => {
    const before = view;
    const after = fold([commit], before) as View;
    view = after;
    return commit.version > notified ? noticesOf(before, commit, after) : [];
  });
};

type Bare<N> = N extends Notice ? Omit<N, 'id' | 'schema' | 'at'> : never;

const ofEvent = (event: Event, after: View): Bare<Notice> | undefined => {
  const job = noticeJob(after);
  switch (event.type) {
    case 'attempt_ended':
    case 'attempt_refused':
    case 'attempt_never_landed': {
      const { evidence: _, observedAt: __, ...outcome } = event.outcome;
      const run = after.attempts[event.n - 1]?.run ?? 0;
      return { type: 'dispatch.attempt.ended', job, attempt: event.n, run, outcome, provisional: outcome.class === 'evidence' };
    }
    case 'escalation_raised': {
      const { type: _, n, episode: __, expiresAt, ...asked } = event;
      const link = answerLink(after.job, event.id);
      return { type: 'dispatch.escalation.raised', job, escalation: { ...asked, attempt: n, expiresAt: rfc3339(expiresAt) }, link };
    }
    case 'escalation_answered':
      return closed(after, event.id, { how: 'answered', answer: event.answer, by: event.by });
    case 'escalation_expired':
      return closed(after, event.id, { how: 'expired', answer: event.answer });
    case 'escalation_withdrawn':
      return closed(after, event.id, { how: 'withdrawn', moot: event.moot });
    case 'checkpoint_published': {
      const { epoch, step, path, late = false } = event;
      const { n, run } = attemptOfEpoch(epoch);
      return { type: 'dispatch.checkpoint.published', job, attempt: n, run, epoch, trainingStep: step, path, late };
    }
    default:
      return undefined;
  }
};

type Closing = Pick<Extract<Notice, { type: 'dispatch.escalation.closed' }>, 'how' | 'answer' | 'by' | 'moot'>;

const closed = (after: View, id: string, closing: Closing): Bare<Notice> | undefined => {
  const question = after.questions.find((one) => one.id === id);
  return question && { type: 'dispatch.escalation.closed', job: noticeJob(after), escalation: escalationOf(question), ...closing };
};

const escalationOf = ({ id, kind, n }: Question) => ({ id, kind, attempt: n });

type ClusterNotice = Bare<Extract<Notice, { cluster?: string | undefined }>>;

/** What one commit of a cluster's record tells. `after` is the fold up to and including it. */
export const clusterNoticesOf = (commit: ClusterCommit, after: ClusterView): readonly Notice[] =>
  commit.events.flatMap((event, i): Notice[] => {
    const said = ofClusterEvent(event, after);
    if (!said) return [];
    return [{ id: `${commit.cluster}:${commit.version}:${i}`, schema: NOTICE_SCHEMA, at: rfc3339(commit.at), ...said }];
  });

const ofClusterEvent = (event: ClusterEvent, after: ClusterView): ClusterNotice | undefined => {
  const { cluster } = after;
  switch (event.type) {
    case 'cluster_unreachable':
    case 'cluster_blocked':
      return { type: 'dispatch.cluster.unreachable', cluster, login: event.login, says: event.says };
    case 'escalation_raised': {
      const { id, kind, options, onExpiry, expiresAt, says } = event;
      const escalation = { id, kind, blocks: false, options: [...options], onExpiry, expiresAt: rfc3339(expiresAt), says };
      return { type: 'dispatch.escalation.raised', cluster, escalation, link: `/clusters/${cluster}/escalations/${id}/answer` };
    }
    case 'escalation_answered':
      return closedCluster(after, event.id, { how: 'answered', answer: event.answer, by: event.by });
    case 'escalation_expired':
      return closedCluster(after, event.id, { how: 'expired', answer: event.answer });
    case 'escalation_withdrawn':
      return closedCluster(after, event.id, { how: 'withdrawn', moot: event.moot });
    default:
      return undefined;
  }
};

const closedCluster = (after: ClusterView, id: string, closing: Closing): ClusterNotice | undefined => {
  const question = after.questions.find((one) => one.id === id);
  return question && { type: 'dispatch.escalation.closed', cluster: after.cluster, escalation: { id, kind: question.kind }, ...closing };
};

export const answerLink = (job: string, question: string): string => `/jobs/${job}/escalations/${question}/answer`;
const tokenLink = (job: string, question: string): string => `/jobs/${job}/escalations/${question}/token`;

/** Not an event of the record: the order of the new token tells one reissue from another. */
export const reissued = (
  view: View,
  question: Question,
  parked: {
    readonly version: number;
    readonly generation: number;
    readonly enteredAt: number;
    readonly retry: number;
    readonly at: number;
  },
): Notice => ({
  type: 'dispatch.escalation.reissued',
  id: `${view.job}:${parked.version}:${question.id}.${parked.generation}.${parked.enteredAt}.${parked.retry}`,
  schema: NOTICE_SCHEMA,
  at: rfc3339(parked.at),
  job: noticeJob(view),
  escalation: escalationOf(question),
  link: tokenLink(view.job, question.id),
});

export const failing = (
  view: View,
  supervisor: { readonly generation: number; readonly failures: number; readonly at: number },
): Notice => ({
  type: 'dispatch.supervisor.failing',
  id: `${view.job}:${view.version}:g${supervisor.generation}`,
  schema: NOTICE_SCHEMA,
  at: rfc3339(supervisor.at),
  ...{ job: noticeJob(view), generation: supervisor.generation, failures: supervisor.failures },
});
