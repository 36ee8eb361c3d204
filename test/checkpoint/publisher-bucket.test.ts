/**
 * P8.1 with an `s3://` root: the real dispatch-publish against a server that speaks S3 and checks signatures, and the supervisor's own
 * listing of what it announced. The poorest node has curl and busybox; where aws announces, a stand-in says how it is called.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createBucketStore } from '../../lib/checkpoint/bucket.ts';
import { bucketsOf } from '../../lib/checkpoint/open-bucket.ts';
import { PUBLISHER_EXIT } from '../../lib/checkpoint/publisher.ts';
import { createS3Objects, s3Limits } from '../../lib/checkpoint/s3.ts';
import { placeOf, type Run, runIn, type Said, type Shell, shells } from './publisher-rig.ts';
import { CREDENTIALS, type S3Server, startS3 } from './s3-server.ts';

const JOB = '0123456789abcdef';
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
beforeEach(() => s3.answer(undefined));

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});
let count = 0;

/** A prefix of its own that needs escaping in an address and in XML. */
const given = (shell: Shell, { n = 1, run: runs = 0 } = {}) => {
  const run: Run = runIn(shell, { n, run: runs });
  open.push(run.remove);
  run.shadow('curl', `#!/bin/sh\nprintf '%s\\n' "$*" >> '${join(run.control, 'calls')}'\nexec ${placeOf('curl')} "$@"\n`);
  count += 1;
  const prefix = `rüns+${count}/a'b&c$d`;
  const root = `s3://${s3.bucket}/${prefix}/${JOB}`;
  // Where the bucket is, as the wrapper leaves it beside the token.
  run.mark('bucket', `us-east-1\n${s3.url}\n`);
  const environment = {
    DISPATCH_CHECKPOINT_ROOT: root,
    DISPATCH_EXEC_DIR: `${root}/exec/${n}-${runs}`,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  };
  const objects = createS3Objects({ client, bucket: s3.bucket });
  return {
    run,
    root,
    environment,
    put: async (path: string, text = 'x') => {
      const Key = `${prefix}/${JOB}/exec/${n}-${runs}/${path}`;
      await client.send(new PutObjectCommand({ Bucket: s3.bucket, Key, Body: text, ContentLength: Buffer.byteLength(text) }));
    },
    publish: (words: readonly string[], over: Readonly<Record<string, string | undefined>> = {}): Promise<Said> =>
      run.publish(words, { ...environment, ...over }),
    listed: async () => {
      const listing = await createBucketStore(objects, (job) => `${prefix}/${job}`).list(JOB);
      return listing.kind === 'complete' ? listing.publications : listing;
    },
  };
};
const torch = async ({ put }: { readonly put: (path: string, text?: string) => Promise<void> }, save = 'step 9'): Promise<void> => {
  await put(`${save}/.metadata`, 'pickle');
  await put(`${save}/__0_0.distcp`, 'tensor');
};

describe.each(shells())('P8.1 a root in a bucket, under $name', (shell) => {
  test('a whole save is announced once by an empty object, which a listing of the supervisor sees', async () => {
    const at = given(shell);
    await torch(at);
    expect(await at.publish(['9', 'step 9'])).toMatchObject({ code: 0, err: '', out: 'published step 9: exec/1-0/step 9\n' });
    expect(await at.listed()).toEqual([{ epoch: 1_000_000, step: 9, path: 'exec/1-0/step 9' }]);
    // By its whole address, and again: the store itself decides who was first.
    expect(await at.publish(['9', `${at.root}/exec/1-0/step 9/`])).toMatchObject({ code: PUBLISHER_EXIT.exists });
    expect(await at.listed()).toHaveLength(1);
  });

  test('no command line shows a secret', async () => {
    const at = given(shell);
    await torch(at);
    await at.publish(['9', 'step 9'], { AWS_SECRET_ACCESS_KEY: 'hun"ter\\2' });
    const calls = readFileSync(join(at.run.control, 'calls'), 'utf8');
    expect(calls).toContain('--aws-sigv4');
    expect(calls).not.toContain('hun');
    expect(calls).not.toContain(CREDENTIALS.accessKeyId);
  });

  test('what it writes aside lies in a folder of its own, closed to others, and goes', async () => {
    const at = given(shell);
    await torch(at);
    const folder = join(at.run.control, 'tmp');
    mkdirSync(folder);
    const look = `ls -l '${folder}' >> '${join(at.run.control, 'seen')}'`;
    at.run.shadow('curl', `#!/bin/sh\n${look}\nexec ${placeOf('curl')} "$@"\n`);
    expect(await at.publish(['9', 'step 9'], { TMPDIR: folder })).toMatchObject({ code: 0 });
    expect(await at.publish(['--list'], { TMPDIR: folder })).toMatchObject({ code: 0 });
    const seen = readFileSync(join(at.run.control, 'seen'), 'utf8').split('\n');
    const entries = seen.filter((line) => line.includes('dispatch-publish.'));
    expect(entries.length).toBeGreaterThan(1);
    for (const entry of entries) expect(entry).toMatch(/^drwx------/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('what is not whole is not announced', async () => {
    const at = given(shell);
    await at.put('s/__0_0.distcp', 'tensor');
    expect(await at.publish(['9', 's'])).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: expect.stringContaining('.metadata is missing'),
    });
    await at.put('s/.metadata', '');
    expect(await at.publish(['9', 's'])).toMatchObject({ code: PUBLISHER_EXIT.incomplete });
    expect(await at.publish(['9', 'nothing'])).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: expect.stringContaining('nothing is stored'),
    });
    expect(await at.publish(['9', 's'], {})).toMatchObject({ code: PUBLISHER_EXIT.incomplete });
    expect(await at.listed()).toEqual([]);
  });

  test('the frameworks that tell by names and sizes, found out or named', async () => {
    const at = given(shell);
    await at.put('hf/model.safetensors');
    await at.put('hf/trainer_state.json');
    expect(await at.publish(['1', 'hf'])).toMatchObject({ code: 0 });
    await at.put('orbax/_CHECKPOINT_METADATA');
    expect(await at.publish(['2', 'orbax'])).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: expect.stringContaining('commit_success.txt'),
    });
    await at.put('orbax/commit_success.txt', '');
    expect(await at.publish(['2', 'orbax'])).toMatchObject({ code: 0 });
    await at.put('ds/latest', 'global_step3');
    expect(await at.publish(['--framework', 'deepspeed', '3', 'ds'])).toMatchObject({
      code: PUBLISHER_EXIT.invalid,
      err: expect.stringContaining('--manifest'),
    });
  });

  test('a manifest names sizes: what is missing or has another one is not announced', async () => {
    const at = given(shell);
    await at.put("m/a 'b' & <c>.bin", '12345');
    await at.put('m/sub/b', '1');
    const manifest = (text: string): string => {
      at.run.mark('MANIFEST', text);
      return join(at.run.control, 'MANIFEST');
    };
    const publish = (text: string): Promise<Said> => at.publish(['--manifest', manifest(text), '4', 'm']);
    const whole = "5  a 'b' & <c>.bin\n1  ./sub/b\n";
    for (const [text, why] of [
      [whole.replace('5', '6'), 'has not the 6 bytes'],
      [`${whole}1  sub/c\n`, 'sub/c is missing'],
      [`${'a'.repeat(64)}  sub/b\n`, 'hashes cannot be checked'],
      [whole.trimEnd(), 'cut short'],
      ['', 'empty'],
    ] as const)
      expect(await publish(text)).toMatchObject({ code: PUBLISHER_EXIT.incomplete, err: expect.stringContaining(why) });
    expect(await at.listed()).toEqual([]);
    expect(await publish(whole)).toMatchObject({ code: 0 });
  });

  test.each([
    ['the folder itself', ''],
    ['another run’s', '../1-1/s'],
    ['an empty part', 'a//b'],
    ['a path of this machine', '/etc'],
    ['another bucket', 's3://other/x'],
    ['a control character', 'a\tb'],
  ])('P8.1 exit 2 for %s', async (_, path) => {
    const at = given(shell);
    expect(await at.publish(['1', path])).toMatchObject({ code: PUBLISHER_EXIT.invalid });
    expect(await at.listed()).toEqual([]);
  });

  test('P8.2 late: nothing is announced after a later mark, whatever the bucket would take', async () => {
    const at = given(shell);
    await torch(at);
    at.run.mark('release/2');
    expect(await at.publish(['9', 'step 9'])).toMatchObject({ code: PUBLISHER_EXIT.late });
    expect(await at.listed()).toEqual([]);
  });

  test('a bucket that refuses or fails is said, with exit 3, and the same call works later', async () => {
    const at = given(shell);
    await torch(at);
    const refused = await at.publish(['9', 'step 9'], { AWS_SECRET_ACCESS_KEY: 'wrong' });
    const notListed = 'the bucket could not be listed by curl:';
    expect(refused).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: `dispatch-publish: not published: ${notListed} 403 SignatureDoesNotMatch\n`,
    });
    s3.answer(503);
    const failed = await at.publish(['9', 'step 9']);
    expect(failed).toMatchObject({ code: PUBLISHER_EXIT.incomplete, err: `dispatch-publish: not published: ${notListed} 503\n` });
    expect(await at.publish(['--list'])).toMatchObject({ code: PUBLISHER_EXIT.incomplete, err: `dispatch-publish: ${notListed} 503\n` });
    s3.answer(undefined);
    expect(await at.publish(['9', 'step 9'])).toMatchObject({ code: 0 });
  });

  test('one answer that was lost or put off costs a repeat, not the save, nor a later run its start', async () => {
    const at = given(shell);
    await torch(at);
    const nth = join(at.run.control, 'nth');
    // Every second request: a page, then the announcement, then a page again.
    at.run.shadow(
      'curl',
      `#!/bin/sh
case $1 in --version) exec ${placeOf('curl')} "$@" ;; esac
if [ -e '${nth}' ]; then rm '${nth}'; exec ${placeOf('curl')} "$@"; fi
: > '${nth}'; cat > /dev/null; printf '<Error/>\\n503'
`,
    );
    expect(await at.publish(['9', 'step 9'])).toMatchObject({ code: 0, err: '' });
    expect(await at.publish(['--list'])).toMatchObject({ code: 0, err: '' });
    expect(await at.listed()).toHaveLength(1);
  });

  test('of a refusal the code and words are said, and nothing of what was signed', async () => {
    const at = given(shell);
    await torch(at);
    const body =
      '<?xml version="1.0"?>\\n<Error><Code>AccessDenied</Code><Message>not yours</Message><CanonicalRequest>x-amz-security-token:t</CanonicalRequest></Error>';
    at.run.shadow('curl', `#!/bin/sh\ncase $1 in --version) echo 'curl 8.0.0' ;; *) printf '${body}\\n403' ;; esac\n`);
    expect((await at.publish(['9', 'step 9'])).err).toBe(
      'dispatch-publish: not published: the bucket could not be listed by curl: 403 AccessDenied not yours\n',
    );
  });

  test('without credentials, or with a curl that cannot sign, it says what is needed', async () => {
    const at = given(shell);
    await torch(at);
    // No aws on this node: the path has the shell's own tools and our curl alone.
    const bare = { PATH: `${join(at.run.control, '..', 'bin')}:${poorPath()}` };
    expect(await at.publish(['9', 'step 9'], { ...bare, AWS_ACCESS_KEY_ID: undefined })).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: expect.stringContaining('AWS_ACCESS_KEY_ID'),
    });
    for (const [version, over] of [
      ['7.61.1', {}],
      ['7.86.0', { AWS_SESSION_TOKEN: 'x' }],
    ] as const) {
      at.run.shadow('curl', `#!/bin/sh\necho 'curl ${version} (x86_64)'\n`);
      expect(await at.publish(['9', 'step 9'], { ...bare, ...over })).toMatchObject({
        code: PUBLISHER_EXIT.incomplete,
        err: expect.stringContaining('curl is too old'),
      });
    }
  });

  test('many pages are listed whole, and --list gives the names of all markers', async () => {
    const at = given(shell);
    for (const step of ['1', '2', '3']) {
      await torch(at, `s${step}`);
      expect(await at.publish([step, `s${step}`])).toMatchObject({ code: 0 });
    }
    // A page of one, so that there are three.
    at.run.shadow(
      'curl',
      `#!/bin/sh\nfor w; do shift; set -- "$@" "$(printf '%s' "$w" | sed 's/max-keys=1000/max-keys=1/')"; done\nexec ${placeOf('curl')} "$@"\n`,
    );
    const said = await at.publish(['--list']);
    expect(said).toMatchObject({ code: 0, err: '' });
    expect(
      said.out
        .trim()
        .split('\n')
        .map((name) => name.slice(0, 41)),
    ).toEqual([1, 2, 3].map((step) => `00000000000001000000-${String(step).padStart(20, '0')}`));
    s3.answer(503);
    expect(await at.publish(['--list'])).toMatchObject({ code: PUBLISHER_EXIT.incomplete, out: '' });
  });

  test('aws announces where no credentials are in the environment: on a condition, and told apart from a failure', async () => {
    const at = given(shell);
    const none = { AWS_ACCESS_KEY_ID: undefined };
    const says = (put: string): void =>
      at.run.shadow(
        'aws',
        `#!/bin/sh
printf '%s\\n' "$*" >> '${join(at.run.control, 'aws.calls')}'
case $* in
  *list-objects-v2*) while [ "$1" != --prefix ]; do shift; done; printf '6\\t%s.metadata\\n6\\t%s__0_0.distcp\\n' "$2" "$2" ;;
  *) ${put} ;;
esac
`,
      );
    says('exit 0');
    expect(await at.publish(['9', 'step 9'], none)).toMatchObject({ code: 0, err: '' });
    const calls = readFileSync(join(at.run.control, 'aws.calls'), 'utf8');
    expect(calls).toMatch(/^s3api put-object --bucket saves --region us-east-1 --endpoint-url=http.* --if-none-match \*$/m);
    says('echo "An error occurred (PreconditionFailed) when calling the PutObject operation" >&2; exit 254');
    expect(await at.publish(['9', 'step 9'], none)).toMatchObject({ code: PUBLISHER_EXIT.exists });
    says('echo "Unknown options: --if-none-match, *" >&2; exit 252');
    expect(await at.publish(['9', 'step 9'], none)).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: expect.stringContaining('needs a newer one'),
    });
    says('echo "An error occurred (AccessDenied) when calling PutObject" >&2; exit 254');
    expect(await at.publish(['9', 'step 9'], none)).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: expect.stringContaining('AccessDenied'),
    });
    at.run.shadow('aws', '#!/bin/sh\necho "An error occurred (ExpiredToken) when calling ListObjectsV2" >&2\nexit 254\n');
    expect(await at.publish(['9', 'step 9'], none)).toMatchObject({
      code: PUBLISHER_EXIT.incomplete,
      err: expect.stringContaining('could not be listed by aws: An error occurred (ExpiredToken)'),
    });
  });

  const poorPath = (): string => (shell.name === 'busybox' ? shell.path : bareTools());
});

/** The usual tools without aws, wherever that is. */
const bareTools = (): string => '/usr/bin:/bin';

describe('the buckets of a configuration', () => {
  test('are opened by the root of a job, and no other bucket ever is', async () => {
    const openBucket = bucketsOf({
      [s3.bucket]: { region: 'us-east-1', endpoint: s3.url },
      far: { region: 'x', role: 'arn:aws:iam::1:role/x' },
    });
    for (const root of ['s3://other/x', 's3://far/x', '/shared', 's3://saves'])
      expect(await openBucket(root)).toEqual({ says: expect.any(String) });
    expect(await openBucket(`s3://${s3.bucket}/p`)).toHaveProperty('list');
  });
});
