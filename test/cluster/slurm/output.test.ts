/** Output read back in pieces, and what is to be known of somebody else's job, by the real programs under a real sh. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identity, job, NOW, shown, site, TAG } from './site.ts';

describe('output', () => {
  test('C051: bytes come as they were written, whatever they are, from any offset, also when there are more of them later', async () => {
    const at = site();
    const written = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7) % 256));
    mkdirSync(join(at.root, TAG, job, 'output'), { recursive: true });
    writeFileSync(join(at.root, TAG, job, 'output', '1-0.out'), written);
    const session = await at.open();
    const piece = (offset: number, limit: number, stream: 'stdout' | 'stderr' = 'stdout') =>
      session.output!({ job, n: 1, run: 0, stream, offset, limit });
    expect(await piece(0, 1024 * 1024)).toEqual({ kind: 'piece', bytes: written, totalBytes: 3000 });
    expect(await piece(1000, 500)).toEqual({ kind: 'piece', bytes: written.subarray(1000, 1500), totalBytes: 3000 });
    expect(await piece(3000, 10)).toEqual({ kind: 'piece', bytes: Buffer.alloc(0), totalBytes: 3000 });
    expect(await piece(0, 10, 'stderr')).toEqual({ kind: 'none' });
    appendFileSync(join(at.root, TAG, job, 'output', '1-0.out'), 'more');
    expect(await piece(3000, 10)).toEqual({ kind: 'piece', bytes: Buffer.from('more'), totalBytes: 3004 });
    spawnSync('mkfifo', [join(at.root, TAG, job, 'output', '1-0.err')]);
    expect(await piece(0, 10, 'stderr')).toEqual({ kind: 'none' });
  });
  test('a run that wrote nothing, and a job without a folder, have none', async () => {
    const session = await site().open();
    expect(await session.output!({ job, n: 1, run: 0, stream: 'stdout', offset: 0, limit: 10 })).toEqual({ kind: 'none' });
  });
});

describe('adopt', () => {
  const asked = async (scontrol: string, id = '77') => {
    const at = site();
    at.client('scontrol', scontrol);
    return (await at.open()).adopt!(id);
  };
  test('the object’s own name stands for an identity, spaces and all', async () => {
    const receipt = { cluster: 'c1', login: 'alice', schedulerId: '77', identity: 'my nightly job', submittedAt: (NOW + 3) * 1000 };
    expect(await asked(shown({ name: 'my nightly job' }))).toEqual({ kind: 'found', name: 'my nightly job', receipt });
  });
  test.each([
    ['an object of dispatch', shown(), '77', 'ours'],
    ['an id that nobody knows', 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1', '77', 'unknown_object'],
    ['another object', shown({ name: 'x', id: '78' }), '77', 'unknown_object'],
    ['a name beyond a receipt', shown({ name: 'x'.repeat(64) }), '77', 'unknown_object'],
    ['what is no id of one job', shown({ name: 'x' }), '77_3', 'unknown_object'],
    ['words for a shell', shown({ name: 'x' }), '77; true', 'unknown_object'],
    ['a controller that does not answer', 'echo "Unable to contact slurm controller" >&2; exit 1', '77', 'unreachable'],
    ['a line that cannot be read', 'echo "JobId=77"', '77', 'unreachable'],
  ])('%s', async (_, scontrol, id, kind) => {
    expect(identity).toContain(job);
    expect((await asked(scontrol, id)).kind).toBe(kind);
  });
});
