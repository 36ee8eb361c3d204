/**
 * P8.1 an `s3://` root on Slurm: the real wrapper and the real dispatch-publish announce with the job's own credentials, the supervisor
 * lists with the configuration's, and a later run of the same attempt finds its resume point from the node.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createBucketStore, type Objects } from '../../../lib/checkpoint/bucket.ts';
import { bucketsOf } from '../../../lib/checkpoint/open-bucket.ts';
import { publisherText } from '../../../lib/checkpoint/publisher.ts';
import { s3Limits } from '../../../lib/checkpoint/s3.ts';
import { bucketPublications } from '../../../lib/cluster/slurm/buckets.ts';
import { encodePath, markerName, parseMarker } from '../../../lib/cluster/slurm/control-files.ts';
import type { WrapperFacts } from '../../../lib/cluster/slurm/wrapper.ts';
import { CREDENTIALS, type S3Server, startS3 } from '../../checkpoint/s3-server.ts';
import { accounted, identity, job, NOW, row, say, site, spec, submission, target } from './site.ts';
import { type Place, place, run, SHELLS } from './wrapper-rig.ts';

let s3: S3Server;
let client: S3Client;
beforeAll(async () => {
  s3 = await startS3();
  client = new S3Client({ ...s3Limits, endpoint: s3.url, region: 'us-east-1', forcePathStyle: true, credentials: CREDENTIALS });
});
afterAll(async () => {
  client.destroy();
  await s3.close();
});
const open: (() => void)[] = [];
afterEach(() => {
  s3.answer(undefined);
  for (const close of open.splice(0)) close();
});
let count = 0;
const prefix = (): string => {
  count += 1;
  return `jobs/${count}`;
};
const put = (key: string, text = ''): Promise<unknown> =>
  client.send(new PutObjectCommand({ Bucket: s3.bucket, Key: key, Body: text, ContentLength: text.length }));
// What the SDK of this process finds: as the supervisor's own, they come from its environment.
const openBucket = () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId, AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey });
  return bucketsOf({ [s3.bucket]: { region: 'us-east-1', endpoint: s3.url } });
};

const node = () => {
  const at: Place = place();
  open.push(at.remove);
  const root = `s3://${s3.bucket}/${prefix()}/0123456789abcdef`;
  const tool = join(at.control, 'bin', 'dispatch-publish');
  writeFileSync(tool, publisherText());
  chmodSync(tool, 0o700);
  mkdirSync(join(at.control, 'secrets'));
  const secrets = join(at.control, 'secrets', '1');
  writeFileSync(secrets, `export AWS_SECRET_ACCESS_KEY='${CREDENTIALS.secretAccessKey}'\n`, { mode: 0o600 });
  at.release(1, 7);
  const facts = (script: string): WrapperFacts =>
    at.facts({
      checkpoints: root,
      bucket: { region: 'us-east-1', endpoint: s3.url },
      env: { AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId },
      secrets: { path: secrets, keep: true },
      program: at.script(script),
    });
  return { at, root, facts };
};
// A program in place of one that saves to a bucket: what it stores is put there beforehand.
const SCRIPT = `printf '%s|%s|%s|%s\\n' "$DISPATCH_EXEC_DIR" "\${DISPATCH_RESUME_FROM-none}" "\${DISPATCH_RESUME_STEP-none}" "$PWD"
[ "$DISPATCH_ATTEMPT" != 1-0 ] || dispatch-publish 7 save
`;

describe.each(SHELLS)('P8.1 P6.2 a run with its checkpoints in a bucket, under %s', (shell) => {
  it('announces with its own credentials, works aside, and the next run resumes from what was announced', async () => {
    const { at, root, facts } = node();
    const key = root.slice(`s3://${s3.bucket}/`.length);
    for (const name of ['.metadata', '__0_0.distcp']) await put(`${key}/exec/1-0/save/${name}`, 'x');
    const said = await run(shell, at, facts(SCRIPT));
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(at.file('control/output/1-0.out')).toBe(
      `${root}/exec/1-0|none|none|${join(at.control, 'work', '1-0')}\npublished step 7: exec/1-0/save\n`,
    );
    expect(at.file('control/output/1-0.err')).toBe('');
    expect(await run(shell, at, facts(SCRIPT), 7, 1)).toMatchObject({ code: 0 });
    expect(at.file('control/output/1-1.out')).toBe(`${root}/exec/1-1|${root}/exec/1-0/save|7|${join(at.control, 'work', '1-1')}\n`);
    expect(at.file('control/bases/1-1')).toMatch(/^1000000 7 [a-z2-7]+\n$/);
    // Nothing of the job's own environment stayed in the wrapper's files.
    expect(at.list('ck pt/pub')).toEqual([]);
  });

  it('P4.2 a run that may not run changes nothing of where the bucket is', async () => {
    const { at, facts } = node();
    writeFileSync(join(at.control, 'bucket'), 'as it is\n');
    await run(shell, at, facts(SCRIPT), 8);
    expect(at.file('control/bucket')).toBe('as it is\n');
    await run(shell, at, facts(SCRIPT));
    expect(at.file('control/bucket')).toBe(`us-east-1\n${s3.url}\n`);
  });

  it('a bucket that cannot be listed keeps a later run from starting at a wrong point', async () => {
    const { at, facts } = node();
    expect(await run(shell, at, facts(SCRIPT), 7, 0)).toMatchObject({ code: 3 });
    s3.answer(503);
    expect(await run(shell, at, facts(SCRIPT), 7, 1)).toMatchObject({ code: 79 });
    expect(at.file('control/refused/7-1')).toContain('checkpoint: the publications cannot be listed');
  });
});

describe('P8.1 the supervisor lists by the configuration', () => {
  const inBucket = (root: string) => ({ spec: spec({ checkpoint: { root, required: false } }) });
  const published = { epoch: 1_000_000, step: 5, path: 'exec/1-0/a' };

  it('bases from the control folder and markers from the bucket; without a complete listing nothing', async () => {
    const at = site();
    const under = prefix();
    const root = `s3://${s3.bucket}/${under}`;
    const buckets = { at: { [s3.bucket]: { region: 'us-east-1', endpoint: s3.url } }, open: openBucket() };
    const session = await at.open({ buckets });
    // Before anything was sent there is nothing, and the bucket is not even asked.
    expect(await session.listPublications(job, inBucket(root).spec)).toEqual({ publications: [], bases: [] });
    expect((await session.submit(submission(inBucket(root)))).kind).toBe('accepted');
    const control = join(at.root, 'tst0', job);
    writeFileSync(join(control, 'bases', '1-0'), '0 -1 -\n');
    await put(`${under}/${job}/pub/${markerName(published)}`);
    await put(`${under}/${job}/pub/stray`);
    expect(await session.listPublications(job, inBucket(root).spec)).toEqual({
      publications: [published],
      bases: [{ n: 1, run: 0, base: { epoch: 0, step: -1, path: '' } }],
    });
    s3.answer(403);
    expect(await session.listPublications(job, inBucket(root).spec)).toBeUndefined();
    expect(await (await at.open()).listPublications(job, inBucket(root).spec)).toBeUndefined();
  });

  it('P5.7 an end carries what lies in the bucket, and misses it while it cannot be listed', async () => {
    const at = site();
    const under = prefix();
    const root = `s3://${s3.bucket}/${under}`;
    const session = await at.open({ buckets: { at: {}, open: openBucket() } });
    await session.submit(submission(inBucket(root)));
    at.client('squeue', say(row('77', identity, 'COMPLETED', NOW)));
    at.client('sacct', say(accounted('77', identity, 'COMPLETED')));
    writeFileSync(join(at.root, 'tst0', job, 'bases', '1-0'), '0 -1 -\n');
    await put(`${under}/${job}/pub/${markerName(published)}`);
    const seen = async () => {
      const observed = await session.observe([target({ checkpointRoot: root })]);
      return observed.kind === 'observed' ? observed.changed[0] : undefined;
    };
    expect(await seen()).toMatchObject({ kind: 'ended', runs: [{ run: 0, latest: published, publications: 1 }] });
    expect(await seen()).not.toMatchObject({ missing: expect.arrayContaining(['publications']) });
    s3.answer(403);
    expect(await seen()).toMatchObject({ kind: 'ended', missing: expect.arrayContaining(['publications']) });
  });
});

describe('P8.1 one bound of a path', () => {
  it('a marker of 130 bytes is read, one of 131 is nobody’s', () => {
    const path = `exec/1-0/${'a'.repeat(121)}`;
    const name = markerName({ epoch: 1_000_000, step: 1, path });
    expect(parseMarker(name)).toEqual({ epoch: 1_000_000, step: 1, path });
    const longer = `${name.slice(0, 42)}${encodePath(`${path}a`)}`;
    expect(parseMarker(longer)).toBeUndefined();
    expect(() => markerName({ epoch: 1, step: 1, path: `${path}a` })).toThrow(RangeError);
  });
});

it('P5.1 a listing that its caller gave up asks for no further page', async () => {
  const asked: PromiseWithResolvers<void>[] = [];
  const objects: Objects = {
    page: async () => {
      const page = Promise.withResolvers<void>();
      asked.push(page);
      await page.promise;
      return { keys: [], next: 'more' };
    },
    putEmpty: async () => 'created',
    remove: async () => [],
  };
  const opened = async () => createBucketStore(objects, (one) => one);
  expect(await bucketPublications(opened, 's3://saves/x', job, 1)).toBeUndefined();
  asked[0]?.resolve();
  await setImmediate();
  expect(asked).toHaveLength(1);
});
