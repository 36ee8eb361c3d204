import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import { BATCH_LIMIT, COMMIT_BYTES, LOG_COMMITS, type RecordStore } from '../../../lib/record/port.ts';
import { aCommit, anEventOf, fresh } from './given.ts';

export const logContract = (store: () => RecordStore): void => {
  describe('the log', () => {
    it('P1.1: reads what was appended, in order and over several pages, from any version on', async () => {
      const job = fresh();
      const commits = Array.from({ length: 12 }, (_, i) => aCommit(job, i + 1));
      for (const commit of commits) expect(await store().append(commit)).toBe('appended');
      expect(await store().read(job)).toEqual(commits);
      expect(await store().read(job, 9)).toEqual(commits.slice(9));
      expect(await store().read(job, 12)).toEqual([]);
      expect(await store().read(fresh())).toEqual([]);
      expect(await store().readAt(job, 10)).toEqual(commits[9]);
      expect(await store().readAt(job, 13)).toBeUndefined();
    });

    it('P2.4: of many jobs, those whose log goes on, in one batch of at most a hundred', async () => {
      const [ahead, level, unknown] = [fresh(), fresh(), fresh()];
      for (const version of [1, 2]) await store().append(aCommit(ahead, version));
      await store().append(aCommit(level, 1));
      const places = [ahead, level, unknown].map((job) => ({ job, version: 1 }));
      expect(await store().goingOn(places)).toEqual(new Set([ahead]));
      expect(await store().goingOn(places.map(({ job }) => ({ job, version: 0 })))).toEqual(new Set([ahead, level]));
      const many = (count: number) => Array.from({ length: count }, () => ({ job: fresh(), version: 3 }));
      expect(await store().goingOn(many(BATCH_LIMIT))).toEqual(new Set());
      for (const count of [0, BATCH_LIMIT + 1]) await expect(store().goingOn(many(count))).rejects.toThrow(AssertionFailed);
    });

    it('P1.1: of 50 writers at one version exactly one wins', async () => {
      const job = fresh();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => store().append(aCommit(job, 1, { commitId: `writer-${i}`, actor: `attempt:${i}` }))),
      );
      const winner = answers.indexOf('appended');
      expect(answers.filter((answer) => answer === 'conflict')).toHaveLength(49);
      expect((await store().read(job)).map((commit) => commit.commitId)).toEqual([`writer-${winner}`]);
    });

    it('P1.2: a commit that is already there under our commitId is ours, also when later ones follow', async () => {
      const job = fresh();
      await store().append(aCommit(job, 1));
      await store().append(aCommit(job, 2));
      expect(await store().append(aCommit(job, 1))).toBe('appended');
      expect(await store().append(aCommit(job, 1, { commitId: 'another' }))).toBe('conflict');
      expect(await store().read(job)).toEqual([aCommit(job, 1), aCommit(job, 2)]);
    });

    it('§8: a log with a hole is never taken for a log', async () => {
      const job = fresh();
      await store().append(aCommit(job, 1));
      await store().append(aCommit(job, 3));
      await expect(store().read(job)).rejects.toThrow(AssertionFailed);
    });

    it('§8: a commit of nearly 300 KiB is one item; a larger one is refused before any write', async () => {
      const job = fresh();
      const overhead = JSON.stringify(aCommit(job, 1, { events: [anEventOf(0)] })).length;
      const largest = aCommit(job, 1, { events: [anEventOf(COMMIT_BYTES - overhead)] });
      const larger = aCommit(job, 2, { events: [anEventOf(COMMIT_BYTES - overhead + 1)] });
      expect(await store().append(largest)).toBe('appended');
      await expect(store().append(larger)).rejects.toThrow(AssertionFailed);
      expect(await store().read(job)).toEqual([largest]);
    });

    it('§8: escaped and wide characters fit as well', async () => {
      const job = fresh();
      const commit = aCommit(job, 1, { events: [{ type: 'attempt_uncertain', n: 1, sent: '"\\\n'.repeat(50_000), answer: 'é漢🚀' }] });
      expect(await store().append(commit)).toBe('appended');
      expect(await store().read(job)).toEqual([commit]);
    });

    it.each([0, -1, 1.5, LOG_COMMITS + 1])('§8: version %d is outside of the log', async (version) => {
      await expect(store().append(aCommit(fresh(), version))).rejects.toThrow(AssertionFailed);
    });

    it('§8: the last version of a log can be written and read', async () => {
      const job = fresh();
      expect(await store().append(aCommit(job, LOG_COMMITS))).toBe('appended');
      expect(await store().readAt(job, LOG_COMMITS)).toEqual(aCommit(job, LOG_COMMITS));
    });
  });

  describe('texts beside the log', () => {
    it('§8: a blob is stored once under its SHA-256', async () => {
      const job = fresh();
      const script = '#!/bin/sh\nsrun python train.py\n'.repeat(100);
      const digest = await store().putBlob(job, script);
      expect(digest).toBe(createHash('sha256').update(script).digest('hex'));
      expect(await store().putBlob(job, script)).toBe(digest);
      expect(await store().getBlob(job, digest)).toBe(script);
      expect(await store().getBlob(fresh(), digest)).toBeUndefined();
      expect(await store().getBlob(job, await store().putBlob(job, ''))).toBe('');
    });

    it('§8: a blob larger than a commit is refused', async () => {
      await expect(store().putBlob(fresh(), 'x'.repeat(COMMIT_BYTES + 1))).rejects.toThrow(AssertionFailed);
    });

    it('P5.6: a watch is replaced and removed without a version, and is no part of the log', async () => {
      const job = fresh();
      expect(await store().readWatch(job)).toBeUndefined();
      await store().writeWatch(job, 'absent since 1');
      await store().writeWatch(job, 'absent since 2');
      expect(await store().readWatch(job)).toBe('absent since 2');
      expect(await store().read(job)).toEqual([]);
      await store().writeWatch(job, undefined);
      await store().writeWatch(job, undefined);
      expect(await store().readWatch(job)).toBeUndefined();
    });
  });
};
