/** The reader of a load: it accepts a sound record, and each way of breaking one is caught by the rule that is there for it. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { itemsOf, outsideOf, type Sound, sound, TOKEN } from './reader/given.ts';
import type { RawEvent } from './reader/items.ts';
import { judge } from './reader/judge.ts';
import { RULES, type RuleName } from './reader/wrong.ts';

type Loose = { -readonly [K in keyof RawEvent]: RawEvent[K] };
type Job = Sound['jobs'][number];

const judged = (record: Sound) => judge(itemsOf(record), outsideOf(record));

/** The k-th event of that type, to be changed. */
const event = (job: Job, type: string, k = 0): Loose => {
  const found = job.commits.flatMap(({ events }) => events).filter((one) => one.type === type)[k];
  if (!found) throw new Error(`no ${type}`);
  return found;
};
const commitOf = (job: Job, type: string, k = 0): Job['commits'][number] => {
  const found = job.commits.filter(({ events }) => events.some((one) => one.type === type))[k];
  if (!found) throw new Error(`no ${type}`);
  return found;
};
/** Put before or after the commit of the k-th event of that type; the versions after it move on, so that nothing else is wrong. */
const insert = (job: Job, type: string, events: readonly RawEvent[], where: 'before' | 'after' = 'after', k = 0): void => {
  const at = job.commits.indexOf(commitOf(job, type, k)) + (where === 'after' ? 1 : 0);
  const near = job.commits[Math.max(0, at - 1)]!;
  job.commits.splice(at, 0, { ...near, id: `inserted-${at}-${events[0]?.type}`, actor: 'supervisor', events: [...events] });
  for (const [i, commit] of job.commits.entries()) commit.version = i + 1;
};
const remove = (job: Job, type: string, k = 0): void => {
  const commit = commitOf(job, type, k);
  const events = job.commits.flatMap((one) => one.events).filter((one) => one.type === type);
  commit.events = commit.events.filter((one) => one !== events[k]);
};

const nothing = { epoch: 0, step: -1, path: '' };
const memory = { memoryPerNodeMi: 1024 };
const failed = { state: 'failed', cause: 'exited', class: 'application', ran: 'yes', detail: { code: 3 }, evidence: [] };

/** `r` recovers, `c` is cancelled, `s` is stopped by a rule. */
type Row = readonly [RuleName, string, (of: { r: Job; c: Job; s: Job; all: Sound }) => void];
const ROWS: readonly Row[] = [
  ['versions without a gap', 'a commit is missing', ({ r }) => void r.commits.splice(7, 1)],
  ['versions without a gap', 'a version is there twice', ({ c }) => Object.assign(c.commits[3]!, { version: 3 })],
  ['versions without a gap', "of a cluster's log", ({ all }) => void all.others.splice(0, 1)],
  ['commit ids are unique', 'one commit was written twice', ({ r, c }) => Object.assign(c.commits[2]!, { id: r.commits[2]!.id })],
  ['time does not go back', 'a commit is earlier than the one before', ({ r }) => Object.assign(r.commits[5]!, { at: 5 })],
  ['a birth is whole', 'a job is submitted twice', ({ r }) => insert(r, 'job_submitted', [event(r, 'job_submitted')])],
  ['a birth is whole', 'the log begins with something else', ({ s }) => remove(s, 'job_submitted')],
  ['a birth is whole', 'a head without a log', ({ s }) => void s.commits.splice(0)],
  [
    'a birth is whole',
    'no key leads to the job',
    ({ all, c }) =>
      void all.others.splice(
        all.others.findIndex((one) => one['job'] === c.job),
        1,
      ),
  ],
  ['attempts are consecutive', 'a number is left out', ({ r }) => Object.assign(event(r, 'attempt_planned', 2), { n: 5 })],
  ['attempts are consecutive', 'sent again without a deferral', ({ r }) => remove(r, 'attempt_submission_deferred')],
  ['attempts are consecutive', 'planned while the one before has not ended', ({ r }) => remove(r, 'attempt_ended')],
  ['attempts are consecutive', 'released without having been planned', ({ s }) => Object.assign(event(s, 'attempt_released'), { n: 2 })],
  [
    'an attempt is bound once',
    'bound to two objects',
    ({ r }) =>
      insert(r, 'attempt_bound', [
        { ...event(r, 'attempt_bound'), receipt: { cluster: 'here', schedulerId: 'other', identity: 'dtest-jobrecovers-1' } },
      ]),
  ],
  [
    'an attempt is bound once',
    'bound after its end',
    ({ r }) => {
      const moved = event(r, 'attempt_bound', 3);
      remove(r, 'attempt_bound', 3);
      insert(r, 'attempt_ended', [moved], 'after', 3);
    },
  ],
  [
    'an attempt is bound once',
    'bound to an object of another name',
    ({ c }) => Object.assign(event(c, 'attempt_bound'), { receipt: { cluster: 'here', schedulerId: 'z', identity: 'dtest-other-1' } }),
  ],
  [
    'an attempt is bound once',
    'one object is bound to two jobs',
    ({ c, s }) => {
      Object.assign(event(s, 'attempt_planned'), { identity: 'dtest-jobcancelled-1' });
      Object.assign(event(s, 'attempt_bound'), { receipt: event(c, 'attempt_bound').receipt });
    },
  ],
  ['release only after bound', 'released and never bound', ({ c }) => remove(c, 'attempt_bound')],
  ['release only after bound', 'intended twice', ({ c }) => insert(c, 'release_intended', [{ type: 'release_intended', n: 1 }])],
  ['release only after bound', 'released without the intention', ({ c }) => remove(c, 'release_intended')],
  ['release only after bound', 'another one that was to be released has not ended', ({ r }) => remove(r, 'attempt_ended', 1)],
  [
    'nothing new after a cancel',
    'released after the request',
    ({ c }) => {
      const moved = event(c, 'release_intended');
      remove(c, 'release_intended');
      insert(c, 'cancel_requested', [moved]);
    },
  ],
  [
    'nothing new after a cancel',
    'planned in the commit of the request',
    ({ c }) => commitOf(c, 'cancel_requested').events.push({ ...event(c, 'attempt_planned'), n: 2 }),
  ],
  [
    'nothing new after a cancel',
    'requeued after the request',
    ({ c }) => insert(c, 'cancel_requested', [{ type: 'requeue_intended', n: 1 }]),
  ],
  [
    'nothing new after a cancel',
    'recovered after the request',
    ({ c }) => insert(c, 'cancel_intended', [{ type: 'recovery_decided', n: 1, by: { kind: 'unmatched' }, action: { kind: 'relaunch' } }]),
  ],
  [
    'nothing after the end',
    'seen after the end',
    ({ c }) => insert(c, 'job_ended', [{ type: 'attempt_observed', n: 1, state: 'running' }]),
  ],
  ['nothing after the end', 'ended twice', ({ s }) => insert(s, 'job_ended', [event(s, 'job_ended')])],
  ['each relaunch is explained', 'decided by nobody', ({ r }) => remove(r, 'recovery_decided')],
  [
    'each relaunch is explained',
    'by a rule that says something else',
    ({ r }) => Object.assign(event(r, 'recovery_decided'), { by: { kind: 'rule', rule: 1 } }),
  ],
  [
    'each relaunch is explained',
    'by a rule whose condition does not hold',
    ({ r }) => Object.assign(event(r, 'recovery_decided', 1), { by: { kind: 'rule', rule: 1 } }),
  ],
  ['each relaunch is explained', 'by an answer that nobody gave', ({ r }) => remove(r, 'escalation_answered')],
  [
    'each relaunch is explained',
    'by another answer than the one given',
    ({ r }) => Object.assign(event(r, 'escalation_answered'), { answer: 'stop' }),
  ],
  [
    'each relaunch is explained',
    'as unmatched, where nothing says so',
    ({ r }) => Object.assign(event(r, 'recovery_decided', 1), { by: { kind: 'unmatched' } }),
  ],
  [
    'each relaunch is explained',
    'of an attempt that lives',
    ({ r }) => insert(r, 'attempt_ended', [{ type: 'attempt_observed', n: 2, state: 'running', run: 0 }], 'after', 1),
  ],
  [
    'each relaunch is explained',
    'before its moment',
    ({ r }) => Object.assign(event(r, 'recovery_decided'), { notBefore: Date.UTC(2031, 0, 1) }),
  ],
  [
    'each relaunch is explained',
    'with other resources than were decided',
    ({ r }) => Object.assign(event(r, 'attempt_planned', 2), { resources: { memoryPerNodeMi: 4096 } }),
  ],
  [
    'within the limits',
    'a rule is used beyond its max',
    ({ r }) => {
      Object.assign(event(r, 'attempt_ended', 1), { outcome: event(r, 'attempt_ended').outcome });
      Object.assign(event(r, 'recovery_decided', 1), { by: { kind: 'rule', rule: 0 } });
    },
  ],
  [
    'within the limits',
    'an attempt that ran is not counted',
    ({ r }) =>
      Object.assign(event(r, 'recovery_decided'), { action: { kind: 'relaunch', from: 'checkpoint', counts: false, resources: memory } }),
  ],
  [
    'within the limits',
    'more attempts than the limit and the answers allow',
    ({ r }) => Object.assign(event(r, 'job_submitted').spec!.policy.limits, { attempts: 1 }),
  ],
  [
    'within the limits',
    'more memory than the rule allows',
    ({ r }) => {
      Object.assign(event(r, 'recovery_decided').action!, { resources: { memoryPerNodeMi: 2048 } });
      Object.assign(event(r, 'attempt_planned', 2), { resources: { memoryPerNodeMi: 2048 } });
    },
  ],
  [
    'a question is asked once and closed once',
    'answered twice',
    ({ r }) => insert(r, 'escalation_answered', [event(r, 'escalation_answered')]),
  ],
  [
    'a question is asked once and closed once',
    'expired after it was answered',
    ({ r }) => insert(r, 'escalation_answered', [{ type: 'escalation_expired', id: 'q1', answer: 'stop' }]),
  ],
  [
    'a question is asked once and closed once',
    'expired before its time',
    ({ r }) => Object.assign(event(r, 'escalation_raised', 1), { expiresAt: Date.UTC(2031, 0, 1) }),
  ],
  [
    'a question is asked once and closed once',
    'answered with what is no option',
    ({ r }) => Object.assign(event(r, 'escalation_answered'), { answer: 'accept_success' }),
  ],
  [
    'a question is asked once and closed once',
    'the same key is asked again',
    ({ r }) => Object.assign(event(r, 'escalation_raised', 1), { n: 2 }),
  ],
  [
    'a question is asked once and closed once',
    'left open by the end',
    ({ s }) => insert(s, 'attempt_released', [{ ...LOOSE_QUESTION, blocks: false }]),
  ],
  ['one blocking question at a time', 'a second one', ({ r }) => insert(r, 'escalation_raised', [{ ...LOOSE_QUESTION, blocks: true }])],
  [
    'an end is explained',
    'completed, and the last attempt failed',
    ({ r }) => Object.assign(event(r, 'attempt_ended', 3), { outcome: failed }),
  ],
  ['an end is explained', 'cancelled by nobody', ({ c }) => remove(c, 'cancel_requested')],
  ['an end is explained', 'cancelled and told as failed', ({ c }) => Object.assign(event(c, 'job_ended').outcome!, { state: 'failed' })],
  [
    'an end is explained',
    'by a rule that does not match',
    ({ s }) => Object.assign(event(s, 'job_ended'), { because: { kind: 'rule', rule: 0 } }),
  ],
  [
    'an end is explained',
    'unmatched, and a rule matches',
    ({ s }) => Object.assign(event(s, 'job_ended'), { because: { kind: 'unmatched' } }),
  ],
  [
    'an end is explained',
    'by an answer that nobody gave',
    ({ s }) => Object.assign(event(s, 'job_ended'), { because: { kind: 'answer', question: 'q1', answer: 'stop' } }),
  ],
  [
    'an end is explained',
    'by a deadline that it has not',
    ({ s }) => Object.assign(event(s, 'job_ended'), { because: { kind: 'deadline' } }),
  ],
  [
    'publications are append-only',
    'one is reported twice',
    ({ r }) => insert(r, 'checkpoint_published', [event(r, 'checkpoint_published')]),
  ],
  [
    'publications are append-only',
    'one comes in time after a later plan',
    ({ r }) => insert(r, 'attempt_bound', [{ ...event(r, 'checkpoint_published'), step: 150 }], 'after', 1),
  ],
  [
    'publications are append-only',
    'an attempt reports for another',
    ({ r }) => Object.assign(commitOf(r, 'checkpoint_published'), { actor: 'attempt:2' }),
  ],
  [
    'publications are append-only',
    'a run lists what is not its own',
    ({ r }) => Object.assign(event(r, 'attempt_ended').runs![0]!.latest!, { epoch: 2_000_000 }),
  ],
  [
    'publications are append-only',
    'a later listing holds less',
    ({ r }) => insert(r, 'attempt_ended', [{ ...event(r, 'attempt_ended'), runs: [{ run: 0, base: nothing, publications: 0 }] }]),
  ],
  [
    'a resume point is never below',
    'from nothing although something was published',
    ({ r }) => Object.assign(event(r, 'attempt_planned', 2), { resume: nothing }),
  ],
  [
    'a resume point is never below',
    'from an older point than before',
    ({ r }) => Object.assign(event(r, 'attempt_planned', 3), { resume: { epoch: 1_000_000, step: 50, path: 'exec/1-0/step-50' } }),
  ],
  [
    'a resume point is never below',
    'from an epoch that had not begun',
    ({ r }) => Object.assign(event(r, 'attempt_planned', 2).resume!, { epoch: 2_000_000 }),
  ],
  [
    'a resume point is never below',
    'from something although it was to begin anew',
    ({ r }) => Object.assign(event(r, 'attempt_planned', 4), { resume: event(r, 'attempt_planned', 3).resume }),
  ],
  [
    'a resume point is never below',
    'a run began elsewhere than it was told',
    ({ r }) => Object.assign(event(r, 'attempt_ended', 1).runs![0]!, { base: nothing }),
  ],
  ['the head agrees with the log', 'it is behind', ({ r }) => Object.assign(r.head, { v: 3, notified: 3 })],
  ['the head agrees with the log', 'it says another state', ({ c }) => Object.assign(c.head, { state: 'running' })],
  ['the head agrees with the log', 'it says another cause', ({ c }) => Object.assign(c.head, { cause: 'preempted' })],
  ['the head agrees with the log', 'it says another owner', ({ c }) => Object.assign(c.head, { principal: 'bob' })],
  ['the head agrees with the log', 'an ended job is still polled for', ({ c }) => Object.assign(c.head, { active: 'here#default' })],
  ['the head agrees with the log', 'an ended job is listed as unended', ({ c }) => Object.assign(c.head, { unended: 'yes' })],
  [
    'labels are there',
    'one is missing',
    ({ all }) =>
      void all.others.splice(
        all.others.findIndex((one) => String(one['pk']).startsWith('LABEL#')),
        1,
      ),
  ],
  [
    'no token outside its slot',
    'a wake token in an event',
    ({ c }) => Object.assign(event(c, 'cancel_requested'), { reason: `because ${TOKEN}` }),
  ],
  [
    'no token outside its slot',
    "an attempt's token in an event",
    ({ c }) => Object.assign(event(c, 'cancel_requested'), { reason: 'dispatch1.local.jobcancelled.1.xyz' }),
  ],
  [
    'no token outside its slot',
    'a wake token in a notice',
    ({ all }) => void all.outside.notices.push(JSON.stringify({ seq: 9, notice: { id: 'x', type: 'y', to: TOKEN } })),
  ],
  [
    'no token outside its slot',
    'a wake token in an index',
    ({ all }) => void all.outside.indexRows.push(JSON.stringify({ token: { S: TOKEN } })),
  ],
  [
    'no token outside its slot',
    'a token that somebody was handed',
    ({ all, s }) => {
      all.outside.secrets.push('handed-out');
      Object.assign(s.head, { w: 'x handed-out' });
    },
  ],
  ['at rest nothing is owed', 'a wake of a job', ({ r }) => Object.assign(r.head, { wake: 'owed' })],
  [
    'at rest nothing is owed',
    'a wake of a question',
    ({ all }) => Object.assign(all.others.find((one) => one['sk'] === 'Q#q1')!, { wake: 'owed' }),
  ],
  ['at rest nothing is owed', 'a notice', ({ r }) => Object.assign(r.head, { notified: 4 })],
  [
    'at rest nothing is owed',
    'a job goes on',
    ({ s }) => {
      remove(s, 'job_ended');
      Object.assign(s.head, { state: 'running', unended: 'yes', unendedIn: 'vision' });
    },
  ],
  ['everything is told', 'an end was not', ({ all }) => void all.outside.notices.pop()],
  [
    'everything is told',
    'a question was not',
    ({ all }) => {
      all.outside.notices = all.outside.notices.filter((line) => !line.includes('escalation.raised'));
    },
  ],
];
const LOOSE_QUESTION: RawEvent = {
  type: 'escalation_raised',
  id: 'q9',
  kind: 'stuck',
  n: 1,
  episode: 1,
  options: ['wait'],
  onExpiry: 'wait',
};

test('a sound record is accepted', () => {
  expect(judged(sound())).toEqual([]);
});

test.each(ROWS)('%s: %s', (rule, _, breaks) => {
  const all = sound();
  const [r, c, s] = all.jobs as [Job, Job, Job];
  breaks({ r, c, s, all });
  expect(judged(all).map((one) => one.rule)).toContain(rule);
});

test('every rule is broken by some row', () => {
  expect(RULES.filter((rule) => !ROWS.some(([name]) => name === rule))).toEqual([]);
});

test('the reader shares no code with dispatch: its folder imports from itself alone', () => {
  const folder = new URL('./reader/', import.meta.url);
  for (const file of readdirSync(folder)) {
    const from = [...readFileSync(new URL(file, folder), 'utf8').matchAll(/\bfrom '([^']+)'|\bimport\(/g)].map(([, path]) => path);
    expect(
      from.filter((path) => !path?.startsWith('./')),
      file,
    ).toEqual([]);
  }
});
