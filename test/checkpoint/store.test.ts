import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DeleteObjectsCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createBucketStore, type Objects } from '../../lib/checkpoint/bucket.ts';
import { formatMarker } from '../../lib/checkpoint/marker.ts';
import { createMemoryStore } from '../../lib/checkpoint/memory.ts';
import { formatPoint } from '../../lib/checkpoint/point-text.ts';
import type { CheckpointStore } from '../../lib/checkpoint/port.ts';
import { createPosixStore } from '../../lib/checkpoint/posix.ts';
import { createS3Objects, parseBucketRoot, s3Limits } from '../../lib/checkpoint/s3.ts';
import { NOTHING, type Point } from '../../lib/job/event.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { fixedByBase } from '../../lib/job/point.ts';
import { CREDENTIALS, type S3Server, startS3 } from './s3-server.ts';

const JOB = '0123456789abcdef';
const OTHER = '0123456789abcdeg';

/** One store, and a cluster's hands on what it shows. */
interface Rig {
  readonly store: CheckpointStore;
  save(path: string): void | Promise<void>;
  saved(path: string): boolean | Promise<boolean>;
  /** Something in `pub/` that is no marker. Absent where a store holds markers alone. */
  stray?(name: string): void | Promise<void>;
  fix?(n: number, run: number, base: Point): void;
  /** From now on a look fails somewhere on its way. */
  breaks(): void;
}

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

const memory = (): Rig => {
  const store = createMemoryStore();
  return {
    store,
    save: (path) => store.save(JOB, path),
    saved: (path) => store.saved(JOB, path),
    fix: (n, run, base) => store.fix(JOB, { n, run, base }),
    breaks: () => store.fail('broken'),
  };
};

const posix = (): Rig & { readonly root: string; readonly control: string } => {
  const mounted = mkdtempSync(join(tmpdir(), 'store-'));
  cleanups.push(() => rmSync(mounted, { recursive: true, force: true }));
  const placesOf = (job: string) => ({ root: join(mounted, 'checkpoints', job), control: join(mounted, 'tag', job), mounted });
  const { root, control } = placesOf(JOB);
  const put = (path: string, text = '') => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  return {
    root,
    control,
    store: createPosixStore(placesOf),
    save: (path) => put(join(root, path, 'part'), 'x'),
    saved: (path) => existsSync(join(root, path)),
    stray: (name) => put(join(root, 'pub', name)),
    fix: (n, run, base) => put(join(control, 'bases', `${n}-${run}`), `${formatPoint(base)}\n`),
    breaks: () => {
      rmSync(join(root, 'pub'), { recursive: true, force: true });
      rmSync(join(control, 'bases'), { recursive: true, force: true });
      put(join(root, 'pub'), 'a file where a folder was');
      put(join(control, 'bases'), 'a file where a folder was');
    },
  };
};

/** Pages of two keys, so that every listing has several. */
const bucket = (): Rig & { readonly keys: Set<string> } => {
  const keys = new Set<string>();
  let broken = false;
  const PAGE = 2;
  const objects: Objects = {
    page: async (prefix, from) => {
      if (broken && from !== undefined) throw new Error('broken on its second page');
      const found = [...keys].filter((key) => key.startsWith(prefix) && key > (from ?? '')).sort();
      const page = found.slice(0, PAGE);
      return { keys: page, ...(found.length > PAGE ? { next: page.at(-1)! } : {}) };
    },
    putEmpty: async (key) => {
      if (broken) throw new Error('409 ConditionalRequestConflict');
      if (keys.has(key)) return 'exists';
      keys.add(key);
      return 'created';
    },
    remove: async (gone) => {
      if (broken) throw new Error('503 SlowDown');
      for (const key of gone) keys.delete(key);
      return [];
    },
  };
  const prefixOf = (job: string): string => `team/${job}`;
  return {
    keys,
    store: createBucketStore(objects, prefixOf),
    save: (path) => void keys.add(`${prefixOf(JOB)}/${path}/part`),
    saved: (path) => [...keys].some((key) => key.startsWith(`${prefixOf(JOB)}/${path}/`)),
    stray: (name) => void keys.add(`${prefixOf(JOB)}/pub/${name}`),
    breaks: () => {
      broken = true;
    },
  };
};

let server: S3Server;
beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server.close());
let folders = 0;

/** The real client, over the wire, with signatures that are checked. */
const s3 = (): Rig => {
  server.answer(undefined);
  const client = new S3Client({
    ...s3Limits,
    maxAttempts: 1,
    endpoint: server.url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: CREDENTIALS,
  });
  const prefixOf = (job: string): string => `t${folder}/${job}`;
  const folder = folders++;
  const put = async (key: string): Promise<void> =>
    void (await client.send(new PutObjectCommand({ Bucket: server.bucket, Key: `${prefixOf(JOB)}/${key}`, Body: '', ContentLength: 0 })));
  return {
    store: createBucketStore(createS3Objects({ client, bucket: server.bucket, pageKeys: 3 }), prefixOf),
    save: (path) => put(`${path}/part`),
    saved: async (path) => {
      const { KeyCount } = await client.send(new ListObjectsV2Command({ Bucket: server.bucket, Prefix: `${prefixOf(JOB)}/${path}/` }));
      return (KeyCount ?? 0) > 0;
    },
    stray: (name) => put(`pub/${name}`),
    breaks: () => server.answer(503),
  };
};

const saved = (n: number, run: number, step: number) => ({ epoch: epochOf(n, run), step, path: `exec/${n}-${run}/step-${step}` });

describe.each([
  ['memory', memory],
  ['posix', posix],
  ['bucket', bucket],
  ['s3', s3],
] as const)('checkpoint store: %s', (_, rigged) => {
  test('P8.1 what was announced is listed, completely, whatever the number', async () => {
    const { store } = rigged();
    const all = Array.from({ length: 25 }, (_unused, i) => saved(1 + (i % 3), 0, i));
    for (const one of all) expect(await store.announce(JOB, one)).toEqual({ kind: 'announced' });
    await store.announce(OTHER, saved(9, 0, 9));
    const listing = await store.list(JOB);
    expect(listing).toMatchObject({ kind: 'complete', strays: 0 });
    const byStep = (a: { step: number }, b: { step: number }) => a.step - b.step;
    expect(listing.kind === 'complete' && [...listing.publications].sort(byStep)).toEqual(all);
  });

  test('P8.1 an announcement is exclusive, also when two are made at once', async () => {
    const { store } = rigged();
    const both = await Promise.all([store.announce(JOB, saved(1, 0, 5)), store.announce(JOB, saved(1, 0, 5))]);
    expect(both.map(({ kind }) => kind).sort()).toEqual(['announced', 'exists']);
    expect(await store.announce(JOB, saved(1, 0, 5))).toEqual({ kind: 'exists' });
  });

  test('a job of which nothing was ever sent has no publications and no bases', async () => {
    const { store } = rigged();
    expect(await store.list(JOB)).toEqual({ kind: 'complete', publications: [], strays: 0 });
    expect(await store.bases(JOB)).toEqual({ kind: 'complete', points: [] });
  });

  test('P2.1 what cannot be read is unknown, never empty and never a part', async () => {
    const rig = rigged();
    for (const step of [1, 2, 3, 4, 5]) await rig.store.announce(JOB, saved(1, 0, step));
    rig.breaks();
    expect(await rig.store.list(JOB)).toMatchObject({ kind: 'unknown', says: expect.stringMatching(/./) });
    expect(await rig.store.announce(JOB, saved(1, 0, 6))).toMatchObject({ kind: 'unknown' });
    const doomed = [{ publication: saved(1, 0, 1), files: true }];
    expect((await rig.store.remove(JOB, doomed)).failed).toHaveLength(1);
  });

  test('P5.5 a stray name costs nothing but a count', async () => {
    const rig = rigged();
    await rig.store.announce(JOB, saved(1, 0, 5));
    for (const name of ['.nfs0001', 'README', formatMarker({ epoch: 1, step: 1, path: '../away' })]) await rig.stray?.(name);
    expect(await rig.store.list(JOB)).toEqual({ kind: 'complete', publications: [saved(1, 0, 5)], strays: rig.stray ? 3 : 0 });
  });

  test('P8.4 removes the marker and the files, only those, and may be repeated', async () => {
    const rig = rigged();
    for (const step of [1, 2, 3]) {
      await rig.save(saved(1, 0, step).path);
      await rig.store.announce(JOB, saved(1, 0, step));
    }
    await rig.save('exec/1-0/step-11');
    const doomed = [
      { publication: saved(1, 0, 1), files: true },
      { publication: saved(1, 0, 2), files: false },
    ];
    expect(await rig.store.remove(JOB, doomed)).toEqual({ markers: 2, saves: 1, failed: [] });
    expect(await rig.store.remove(JOB, doomed)).toMatchObject({ failed: [] });
    expect(await rig.store.list(JOB)).toMatchObject({ kind: 'complete', publications: [saved(1, 0, 3)] });
    const left = [1, 2, 3, 11].map(async (step) => rig.saved(`exec/1-0/step-${step}`));
    expect(await Promise.all(left)).toEqual([false, true, true, true]);
  });

  test('what no marker can say is a mistake of the caller', async () => {
    await expect(rigged().store.announce(JOB, { epoch: 1, step: 1, path: 'x'.repeat(131) })).rejects.toThrow(RangeError);
  });
});

describe.each([
  ['memory', memory],
  ['posix', posix],
] as const)('bases: %s', (_, rigged) => {
  test('P8.2 each base fixes a point for its epoch, in their order', async () => {
    const rig = rigged();
    const point = saved(1, 0, 20);
    rig.fix!(1, 0, NOTHING());
    rig.fix!(1, 10, point);
    expect(await rig.store.bases(JOB)).toEqual({
      kind: 'complete',
      points: [fixedByBase({ n: 1, run: 0, base: NOTHING() }), fixedByBase({ n: 1, run: 10, base: point })],
    });
    rig.breaks();
    expect(await rig.store.bases(JOB)).toMatchObject({ kind: 'unknown' });
  });
});

describe('posix alone', () => {
  const listings = async (rig: ReturnType<typeof posix>) => [(await rig.store.list(JOB)).kind, (await rig.store.bases(JOB)).kind];

  test('a missing pub/ is no empty one once something was sent, nor where the file system is gone', async () => {
    const sent = posix();
    mkdirSync(join(sent.control, 'sent'), { recursive: true });
    expect(await listings(sent)).toEqual(['complete', 'complete']);
    writeFileSync(join(sent.control, 'sent', '1'), '');
    expect(await listings(sent)).toEqual(['unknown', 'unknown']);
    const gone = posix();
    rmSync(join(gone.root, '..', '..'), { recursive: true, force: true });
    expect(await listings(gone)).toEqual(['unknown', 'unknown']);
  });

  test('a base that cannot be read leaves the points unknown: it fixed something', async () => {
    const rig = posix();
    rig.fix!(1, 0, NOTHING());
    writeFileSync(join(rig.control, 'bases', '1-1'), 'half');
    expect(await rig.store.bases(JOB)).toMatchObject({ kind: 'unknown', says: expect.stringContaining('1-1') });
  });

  test('a base that is still being written is not there yet', async () => {
    const rig = posix();
    rig.fix!(1, 0, NOTHING());
    writeFileSync(join(rig.control, 'bases', '.1-1'), 'half');
    expect(await rig.store.bases(JOB)).toMatchObject({ kind: 'complete', points: [{ epoch: epochOf(1, 0) }] });
  });

  test('P8.4 a link that leads out of the root is not followed', async () => {
    const rig = posix();
    await rig.store.announce(JOB, saved(1, 0, 1));
    const away = mkdtempSync(join(tmpdir(), 'away-'));
    cleanups.push(() => rmSync(away, { recursive: true, force: true }));
    mkdirSync(join(away, 'step-1'));
    mkdirSync(join(rig.root, 'exec'), { recursive: true });
    symlinkSync(away, join(rig.root, 'exec', '1-0'));
    const { failed } = await rig.store.remove(JOB, [{ publication: saved(1, 0, 1), files: true }]);
    expect(failed).toEqual([{ path: 'exec/1-0/step-1', says: expect.stringContaining('link') }]);
    expect(readdirSync(away)).toEqual(['step-1']);
  });
});

describe('s3 alone', () => {
  test.each([403, 409, 500])('P8.1 an announcement that was answered with %s is unknown, not announced', async (status) => {
    const { store } = s3();
    server.answer(status);
    expect(await store.announce(JOB, saved(1, 0, 1))).toMatchObject({ kind: 'unknown' });
  });

  test('a listing that is cut short without a place to go on is not complete', async () => {
    const client = new S3Client({ region: 'us-east-1', credentials: CREDENTIALS });
    client.send = (async () => ({ IsTruncated: true, Contents: [{ Key: 'x' }] })) as typeof client.send;
    const store = createBucketStore(createS3Objects({ client, bucket: 'b' }), (job) => job);
    expect(await store.list(JOB)).toMatchObject({ kind: 'unknown', says: expect.stringContaining('cut short') });
  });

  test('P8.4 an object that stayed is said', async () => {
    const client = new S3Client({ region: 'us-east-1', credentials: CREDENTIALS });
    client.send = (async (command: unknown) =>
      command instanceof DeleteObjectsCommand ? { Errors: [{ Key: 'k', Code: 'AccessDenied' }] } : {}) as typeof client.send;
    const store = createBucketStore(createS3Objects({ client, bucket: 'b' }), (job) => job);
    expect(await store.remove(JOB, [{ publication: saved(1, 0, 1), files: false }])).toMatchObject({
      markers: 0,
      failed: [{ path: 'exec/1-0/step-1' }],
    });
  });

  test.each([
    ['s3://bucket/a/b/', { bucket: 'bucket', prefix: 'a/b' }],
    ['s3://my.bucket-1/x', { bucket: 'my.bucket-1', prefix: 'x' }],
    ['s3://bucket', undefined],
    ['s3://bucket/', undefined],
    ['s3://B/x', undefined],
    ['/bucket/x', undefined],
  ])('the root %s', (root, parts) => expect(parseBucketRoot(root)).toEqual(parts));
});

test('P8.4 of a save that has more objects than one call lists, what was reached is gone', async () => {
  let listed = 0;
  const gone: string[] = [];
  const endless: Objects = {
    page: async () => ({ keys: [`k${listed++}`], next: 'more' }),
    putEmpty: async () => 'created',
    remove: async (keys) => {
      gone.push(...keys);
      return [];
    },
  };
  const said = await createBucketStore(endless, (job) => job).remove(JOB, [{ publication: saved(1, 0, 1), files: true }]);
  expect(said).toMatchObject({ markers: 1, saves: 0, failed: [{ says: expect.stringContaining('more than 200000 objects') }] });
  expect(gone).toContain('k0');
  expect(gone).toHaveLength(listed + 1);
});
