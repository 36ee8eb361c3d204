/** Notices: what commits tell, as a reader of the bus gets it (protocols §2.7). */
import { describe, expect, test } from 'vitest';
import { type Notice, noticeSchema, noticesAfter, noticesOf } from '../../lib/app/notices.ts';
import type { Commit } from '../../lib/job/event.ts';
import { fold, type View } from '../../lib/job/view.ts';
import { AT_ONCE, type Given, type Life, life, relaunch, SHAPES } from '../contract/core/life.ts';

const preempted = { queueSeconds: 4, program: { runsSeconds: 20, publishes: [{ atSeconds: 8, step: 100 }], ends: 'preempted' } };
const completed = { queueSeconds: 4, program: { runsSeconds: 20, ends: 'completed' } };
const exited = { queueSeconds: 1, program: { runsSeconds: 5, ends: { exit: 1 } } };
const STORY: Given = { rules: [relaunch(['preempted'])], script: [preempted, completed] };
const ASKS: Given = { unmatched: 'escalate', script: [exited, completed] };

const tells = (one: Life): readonly Notice[] => noticesAfter(one.commits(), 0);
const short = (notices: readonly Notice[]): string[] =>
  notices.map((notice) => {
    const type = notice.type.replace('dispatch.', '');
    if (notice.type === 'dispatch.job.state_changed') return `${type} ${notice.from ?? '-'} > ${notice.to}`;
    if (notice.type === 'dispatch.attempt.ended') return `${type} ${notice.attempt} ${notice.outcome.cause}`;
    if (notice.type === 'dispatch.escalation.closed') return `${type} ${notice.how} ${notice.answer ?? notice.moot} ${notice.by ?? '-'}`;
    return type;
  });

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test('given the story, then every state is told once, in order, and each end of an attempt with its cause (P2.7)', async () => {
    const one = await life({ ...STORY, shape });
    await one.ended();
    expect(short(tells(one))).toEqual([
      'job.state_changed - > pending',
      'job.state_changed pending > queued',
      'job.state_changed queued > running',
      'attempt.ended 1 preempted',
      'job.state_changed running > recovering',
      'job.state_changed recovering > pending',
      'job.state_changed pending > queued',
      'job.state_changed queued > running',
      'attempt.ended 2 completed',
      'job.state_changed running > succeeded',
    ]);
  });

  test.each([
    ['by a person', 'answered relaunch user:ada', async (one: Life) => void (await one.answer('relaunch'))],
    ['by its token', 'answered relaunch token', async (one: Life) => void (await one.answerByToken({ answer: 'relaunch' }))],
    ['by nobody', 'expired stop -', async (one: Life) => one.advance(73 * 3600)],
    ['by a cancel', 'withdrawn a cancel was requested -', async (one: Life) => void (await one.cancel())],
  ])('given a question closed %s, then its end names the winner (P2.5)', async (_, how, close) => {
    const one = await life({ ...ASKS, shape, pollEverySeconds: 60 });
    await one.until((status) => status.state === 'awaiting');
    const raised = tells(one).find((notice) => notice.type === 'dispatch.escalation.raised');
    expect(raised).toMatchObject({
      escalation: { id: one.question().id, kind: 'unmatched_outcome', attempt: 1, blocks: true, onExpiry: 'stop' },
      link: `/jobs/${one.job()}/escalations/${one.question().id}/answer`,
    });
    await close(one);
    await one.ended(80 * 3600);
    expect(short(tells(one)).filter((text) => text.startsWith('escalation.closed'))).toEqual([
      `escalation.closed ${how.replace('user:', '')}`,
    ]);
  });

  test('given any log, then ids differ, shapes hold, no token shows, and the same commits tell the same however they are cut (P2.6)', async () => {
    const one = await life({
      ...ASKS,
      shape,
      rules: [relaunch(['preempted'], { backoff: AT_ONCE })],
      script: [preempted, exited, completed],
    });
    await one.until((status) => status.state === 'awaiting');
    const token = await one.tokenOf(one.question().id);
    await one.answer('relaunch');
    await one.ended();
    const all = tells(one);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const notice of all) expect(noticeSchema.parse(JSON.parse(JSON.stringify(notice)))).toEqual(notice);
    expect(JSON.stringify(all)).not.toContain(token);
    for (let version = 0; version <= one.commits().length; version++) {
      const rest = noticesAfter(one.commits(), version);
      expect(rest).toEqual(all.slice(all.length - rest.length));
      expect(rest.every(({ id }) => Number(id.split(':')[1]) > version)).toBe(true);
    }
    expect(one.commits().flatMap((commit, i) => noticesOf(fold(one.commits().slice(0, i)), commit, viewAt(one.commits(), i)))).toEqual(all);
  });
});

const viewAt = (commits: readonly Commit[], i: number): View => fold(commits.slice(0, i + 1)) as View;

test('a report of a checkpoint is told with the attempt and run whose epoch it names', async () => {
  const one = await life(STORY);
  await one.until((status) => status.state === 'running');
  const last = one.commits().at(-1)!;
  const before = one.view();
  const event = { type: 'checkpoint_published', epoch: 1_000_000, step: 7, path: 'exec/1-0/step-7' } as const;
  const commit: Commit = { ...last, version: last.version + 1, events: [event] };
  expect(noticesOf(before, commit, fold([commit], before) as View)).toMatchObject([
    { type: 'dispatch.checkpoint.published', attempt: 1, run: 0, epoch: 1_000_000, trainingStep: 7, late: false },
  ]);
});
