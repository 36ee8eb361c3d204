/**
 * Given: a sound record of three jobs, written by hand from the contract: one that recovers by a rule, by an answer and by an expiry, one
 * that is cancelled, one whose rule ends it. Rows of the test change one thing in it.
 */
import type { Outcome, RawCommit, RawEvent, RawItem } from './items.ts';
import type { Outside } from './rest.ts';

/** What a row may change before it becomes items. */
export interface Sound {
  readonly jobs: { readonly job: string; commits: Writable<RawCommit>[]; head: Record<string, string | number> }[];
  readonly others: Record<string, string | number>[];
  readonly outside: { notices: string[]; indexRows: string[]; secrets: string[] };
}
type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

const START = Date.UTC(2030, 0, 1);
const TOKEN = 'a1b2c3d4'.repeat(5);
const NOTHING = { epoch: 0, step: -1, path: '' };
const point = (n: number, step: number) => ({ epoch: n * 1_000_000, step, path: `exec/${n}-0/step-${step}` });

const outcome = (cause: string, of: string, state: string, more: Partial<Outcome> = {}): Outcome => ({
  ...{ state, cause, class: of, ran: 'yes', detail: {}, evidence: [] },
  ...more,
});
const PREEMPTED = outcome('preempted', 'infrastructure', 'failed');
const EXITED = outcome('exited', 'application', 'failed', { detail: { code: 3 } });
const COMPLETED = outcome('completed', 'success', 'succeeded');

const planned = (job: string, n: number, resume = NOTHING, again = 1): RawEvent => ({
  ...{ type: 'attempt_planned', n, try: again, identity: `dtest-${job}-${n}`, resume, resources: { memoryPerNodeMi: 1024 } },
});
const bound = (job: string, n: number): RawEvent => ({
  ...{ type: 'attempt_bound', n },
  receipt: { cluster: 'here', schedulerId: `${job}${n}`, identity: `dtest-${job}-${n}` },
});
const ended = (n: number, how: Outcome, base = NOTHING, latest?: ReturnType<typeof point>): RawEvent => ({
  ...{ type: 'attempt_ended', n, outcome: how },
  runs: [{ run: 0, base, ...(latest ? { latest, publications: 1 } : { publications: 0 }) }],
});
const relaunch = (n: number, by: RawEvent['by'] & object, from = 'checkpoint'): RawEvent => ({
  ...{ type: 'recovery_decided', n, by, notBefore: START },
  action: { kind: 'relaunch', from, counts: true, resources: { memoryPerNodeMi: 1024 } },
});
const asked = (id: string, n: number): RawEvent => ({
  ...{ type: 'escalation_raised', id, kind: 'unmatched_outcome', n, episode: 1, blocks: true },
  ...{ options: ['stop', 'relaunch', 'relaunch_from_scratch'], onExpiry: 'relaunch_from_scratch', expiresAt: START },
});
const submitted = (job: string): RawEvent => ({
  ...{ type: 'job_submitted', principal: 'ada', project: 'vision', idempotencyKey: `key ${job}` },
  spec: {
    ...{ name: 'train', cluster: 'here', labels: { team: 'x' }, resources: { memoryPerNodeMi: 1024 } },
    policy: {
      rules: [
        { on: ['preempted'], do: { relaunch: { max: 1 } } },
        { on: ['exited'], when: { exitCode: [9] }, do: { stop: {} } },
      ],
      unmatched: 'escalate',
      limits: { attempts: 3 },
    },
  },
});

const release = (n: number): RawEvent[][] => [[{ type: 'release_intended', n }], [{ type: 'attempt_released', n }]];
const attempt = (job: string, n: number, resume = NOTHING): RawEvent[][] => [[planned(job, n, resume)], [bound(job, n)], ...release(n)];

/** Versions 1 to 26. */
const recovers = (job: string): RawEvent[][] => [
  [submitted(job)],
  [planned(job, 1)],
  [{ type: 'attempt_submission_deferred', n: 1 }],
  [planned(job, 1, NOTHING, 2)],
  [bound(job, 1)],
  ...release(1),
  [{ type: 'attempt_observed', n: 1, state: 'running', run: 0 }],
  [{ type: 'checkpoint_published', ...point(1, 100) }],
  [ended(1, PREEMPTED, NOTHING, point(1, 100))],
  [relaunch(1, { kind: 'rule', rule: 0 })],
  ...attempt(job, 2, point(1, 100)),
  [ended(2, EXITED, point(1, 100))],
  [asked('q1', 2)],
  [
    { type: 'escalation_answered', id: 'q1', answer: 'relaunch', by: 'ada' },
    relaunch(2, { kind: 'answer', question: 'q1', answer: 'relaunch' }),
  ],
  ...attempt(job, 3, point(1, 100)),
  [ended(3, EXITED, point(1, 100), point(3, 200)), asked('q2', 3)],
  [
    { type: 'escalation_expired', id: 'q2', answer: 'relaunch_from_scratch' },
    relaunch(3, { kind: 'answer', question: 'q2', answer: 'relaunch_from_scratch' }, 'scratch'),
  ],
  ...attempt(job, 4),
  [ended(4, COMPLETED), { type: 'job_ended', outcome: COMPLETED, because: { kind: 'completed' } }],
];

/** Versions 1 to 8. */
const cancelled = (job: string): RawEvent[][] => [
  [submitted(job)],
  ...attempt(job, 1),
  [{ type: 'cancel_requested', principal: 'ada' }],
  [{ type: 'cancel_intended', n: 1 }, ended(1, outcome('cancelled_by_dispatch', 'people', 'cancelled'))],
  [{ type: 'job_ended', outcome: outcome('cancelled_by_dispatch', 'people', 'cancelled'), because: { kind: 'cancel' } }],
];

/** Versions 1 to 6. */
const stopped = (job: string): RawEvent[][] => [
  [submitted(job)],
  ...attempt(job, 1),
  [
    ended(1, { ...EXITED, detail: { code: 9 } }),
    { type: 'job_ended', outcome: { ...EXITED, detail: { code: 9 } }, because: { kind: 'rule', rule: 1 } },
  ],
];

const TOLD: Readonly<Record<string, string>> = {
  attempt_ended: 'dispatch.attempt.ended',
  escalation_raised: 'dispatch.escalation.raised',
  escalation_answered: 'dispatch.escalation.closed',
  escalation_expired: 'dispatch.escalation.closed',
  checkpoint_published: 'dispatch.checkpoint.published',
};

const noticesOf = (job: string, commits: readonly RawCommit[]): string[] =>
  commits.flatMap(({ version, events }) => {
    const changed = (to: string) => [{ id: `${job}:${version}:${events.length}`, type: 'dispatch.job.state_changed', to }];
    const told = events.flatMap(({ type }, i) => (TOLD[type] ? [{ id: `${job}:${version}:${i}`, type: TOLD[type] }] : []));
    const end = events.find(({ type }) => type === 'job_ended');
    return [...told, ...(version === 1 ? changed('pending') : []), ...(end ? changed(end.outcome?.state ?? '') : [])].map((notice) =>
      JSON.stringify({ seq: 1, notice }),
    );
  });

export const sound = (): Sound => {
  const lives = { jobrecovers: recovers, jobcancelled: cancelled, jobstopped: stopped };
  const jobs = Object.entries(lives).map(([job, life]) => {
    const commits = life(job).map((events, i) => {
      const actor = events[0]?.type === 'checkpoint_published' ? 'attempt:1' : 'supervisor';
      return { version: i + 1, id: `${job}-${i}`, at: START + i, actor, events };
    });
    const last = commits.at(-1)?.events.at(-1)?.outcome;
    const about = { name: 'train', cluster: 'here', project: 'vision', principal: 'ada', key: `key ${job}` };
    const head = {
      ...about,
      v: commits.length,
      notified: commits.length,
      state: last?.state ?? '',
      cause: last?.cause ?? '',
      token: TOKEN,
    };
    return { job, commits, head };
  });
  return {
    jobs: jobs.map((one) => structuredClone(one)),
    others: [
      { pk: 'CLUSTER#here', sk: 'E#0000000001' },
      { pk: 'CLUSTER#here', sk: 'E#0000000002' },
      ...jobs.flatMap(({ job }) => [
        { pk: 'LABEL#team=x', sk: job },
        { pk: `KEY#ada#key ${job}`, sk: 'KEY', key: `key ${job}`, job },
        { pk: `JOB#${job}`, sk: 'Q#q1', token: `${TOKEN}f`, wake: 'parked' },
      ]),
    ],
    outside: { notices: jobs.flatMap(({ job, commits }) => noticesOf(job, commits)), indexRows: ['{"pk":{"S":"JOB#x"}}'], secrets: [] },
  };
};

const itemOf = (fields: Readonly<Record<string, string | number>>): RawItem =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'number' ? { N: String(value) } : { S: value }]),
  );

export const itemsOf = ({ jobs, others }: Sound): RawItem[] => [
  ...jobs.flatMap(({ job, commits, head }) => [
    itemOf({ pk: `JOB#${job}`, sk: 'HEAD', ...head }),
    ...commits.map(({ version, events, ...fields }) =>
      itemOf({ pk: `JOB#${job}`, sk: `E#${String(version).padStart(10, '0')}`, ...fields, events: JSON.stringify(events) }),
    ),
  ]),
  ...others.map(itemOf),
];

export const outsideOf = ({ outside }: Sound): Outside => outside;
export { TOKEN };
