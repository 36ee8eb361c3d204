/**
 * What a configuration gives jobs, on a real Slurm over ssh, through the API of `npm start` (contract §4, §11; protocols §8): a login's
 * defaults, secrets of programs, roots in a bucket; and collecting. What ran under what is told by accounting, by files and processes of the
 * cluster and by the bucket; a value that must be nowhere is searched for in everything that the cluster and dispatch ever wrote.
 */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMarker } from '../../lib/cluster/slurm/control-files.ts';
import { CREDENTIALS } from '../checkpoint/s3-server.ts';
import { startBucket } from './dispatch.ts';
import { saidOf, startsOf, WORDS } from './program.ts';
import { as, asRoot, configurationFor, DIR, nodesOf, preempt, rootFor, until } from './rig.ts';
import { checkpointsBy, eventsBy, jobBy, newServer, type Server, submitBy, type Told } from './server.ts';

const ALICE = 2001;
const root = rootFor('configured');
/** Of alice's own, for what a program whose saves are in a bucket tells the test. */
const notes = rootFor('configured/checkpoints');
/** Outside of everything that is searched for their values. */
const vault = mkdtempSync(join(tmpdir(), 'vault-'));
const needle = randomBytes(12).toString('hex');
const VALUE = `it's "${needle}" $(more) \\ ü`;

let server: Server;
let s3: Awaited<ReturnType<typeof startBucket>>;
const keep = (name: string, value: string, mode = 0o600): void => {
  writeFileSync(`${vault}/${name}`, `${value}\n`, { mode });
  chmodSync(`${vault}/${name}`, mode);
};

beforeAll(async () => {
  keep('token', VALUE);
  // As somebody saved it who did not think of others: refused until it is put right.
  keep('late', VALUE, 0o644);
  keep('key-id', CREDENTIALS.accessKeyId);
  keep('key', CREDENTIALS.secretAccessKey);
  const lister = `[lister]\naws_access_key_id = ${CREDENTIALS.accessKeyId}\naws_secret_access_key = ${CREDENTIALS.secretAccessKey}`;
  keep('credentials', lister);
  s3 = await startBucket();
  const login = { user: 'alice', privateKeyFile: `${DIR}/ssh/id_ed25519` };
  const more = {
    logins: [
      { id: 'default', ...login },
      { id: 'visitor', ...login, defaults: { account: 'visitors', qos: 'short', partition: 'away-urgent' } },
    ],
    buckets: { [s3.bucket]: { endpoint: s3.url, profile: 'lister' } },
  };
  const secrets = Object.fromEntries(['token', 'late', 'key-id', 'key'].map((name) => [name, { file: `${vault}/${name}` }]));
  const configure = (apiUrl: string): string => configurationFor('configured', root, { apiUrl, ...more }, { secrets });
  server = await newServer('configured', configure, { AWS_SHARED_CREDENTIALS_FILE: `${vault}/credentials` });
  server.start();
  await server.ready();
});
afterAll(async () => {
  await server?.kill();
  await s3?.stop();
  rmSync(vault, { recursive: true, force: true });
});

const RELAUNCH = { relaunch: { max: 1, backoff: { initial: '1s' }, from: 'checkpoint' } };
const spec = (name: string, script: string, over: object = {}, program: object = {}): object => ({
  name,
  cluster: 'lab',
  resources: { nodes: 1, memoryPerNode: '100Mi' },
  program: { script: `${WORDS}${script}`, ...program },
  timeLimit: '20m',
  checkpoint: {},
  policy: { rules: [{ on: ['exited'], when: { exitCode: 7 }, do: RELAUNCH }], unmatched: 'stop', limits: { attempts: 2 } },
  ...over,
});
const on = (partition: string): object => ({ extensions: { slurm: { partition } } });
const inBucket = (): object => ({
  env: { S3_URL: s3.url, NOTES: notes },
  secrets: { AWS_ACCESS_KEY_ID: { ref: 'key-id' }, AWS_SECRET_ACCESS_KEY: { ref: 'key' } },
});
const bucketRoot = (): object => ({ checkpoint: { root: `s3://${s3.bucket}/runs` } });

const go = (job: string, name: string): void => writeFileSync(`${root}/checkpoints/${job}/${name}`, '');
const says = (job: string, label: string): Promise<string> =>
  until(`${label} of ${job}`, 90, () => saidOf(root, job).find((line) => line.startsWith(`${label} `)));
const ended = (job: string): Promise<Told> =>
  until(`the end of ${job}`, 100, async () => {
    const told = await jobBy(server, job);
    return ['succeeded', 'failed', 'cancelled'].includes(told.state) ? told : undefined;
  });
const eventsOf = async (job: string, type: string) => (await eventsBy(server, job)).items.filter(({ event }) => event.type === type);
const controlOf = (job: string): string => `${root}/${server.tag()}/${job}`;
const secretsOf = (job: string): string[] => readdirSync(`${controlOf(job)}/secrets`);
const identityOf = (job: string, n: number): string => `d${server.tag()}-${job}-${n}`;
const restarts = (job: string): { attempt: string; resumed: number | undefined }[] =>
  startsOf(root, job).map(({ attempt, resumed }) => ({ attempt, resumed }));

/** What accounting says each attempt ran under: `<attempt> <account> <qos> <partition>`. */
const accounted = (job: string): string[] =>
  as('alice', `sacct -nXP -S now-1hour -E now+1day -o jobname%60,account,qos,partition`)
    .split('\n')
    .filter((line) => line.includes(`-${job}-`))
    .map((line) => line.replace(/^.*-(\d+)\|/, '$1|').replaceAll('|', ' '))
    .toSorted();

/** Every file of the cluster, its daemons, their database, their users and of dispatch that holds it. */
const filesWith = (text: string): string[] =>
  asRoot(`grep -rlF -D skip -- '${text}' ${DIR} 2> /dev/null || true`).split('\n').filter(Boolean);
const processesWith = (what: 'cmdline' | 'environ', text: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readFileSync(`/proc/${pid}/${what}`, 'utf8').includes(text);
      } catch (error) {
        // It ended meanwhile.
        if (error instanceof Error && 'code' in error) return false;
        throw error;
      }
    });

interface Collected {
  readonly dry: boolean;
  readonly items: readonly { readonly trainingStep: number; readonly path: string; readonly files: boolean; readonly failed?: string }[];
  readonly kept: number;
  readonly left: number;
}
const collect = async (job: string, asked: object): Promise<Collected> => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) };
  const answer = await server.ask(`/jobs/${job}/checkpoints/collect`, init);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as Collected;
};

/** As somebody calls it. */
const byCommand = (job: string, ...more: string[]): string =>
  execFileSync(process.execPath, ['lib/cli/dispatch.ts', '--url', server.url, 'collect', job, '--keep', '2', ...more], {
    encoding: 'utf8',
    timeout: 30_000,
  }).trim();

describe.concurrent('a login with defaults', () => {
  it('has its jobs run under them, relaunches too; a spec’s own words win (contract §11)', async () => {
    const visitor = { login: 'visitor' };
    const job = await submitBy(server, 'defaults', spec('defaults', '[ "$DISPATCH_ATTEMPT" != 1-0 ] || exit 7\n', visitor));
    const own = { ...visitor, extensions: { slurm: { account: 'research', partition: 'batch' } } };
    const other = await submitBy(server, 'own', spec('own', '', own));
    const plain = await submitBy(server, 'plain', spec('plain', ''));
    for (const one of [job, other, plain]) expect(await ended(one)).toMatchObject({ state: 'succeeded' });
    for (const [one, rows] of [
      [job, ['1 visitors short away-urgent', '2 visitors short away-urgent']],
      [other, ['1 research short batch']],
      [plain, ['1 research normal batch']],
    ] as const)
      await until(`${rows} in accounting, not ${accounted(one)}`, 30, () => `${accounted(one)}` === `${rows}` || undefined);
  });
});

describe.concurrent('a secret', () => {
  const HASH = createHash('sha256').update(VALUE).digest('hex');
  const SAY = `printf 'secret %s\\n' "$(printf %s "$API_TOKEN" | sha256sum | cut -c 1-64)" >> "$root/said"\n`;

  it('reaches its program alone: 0600 until then, gone after it, and nowhere else (contract §4)', async () => {
    const script = `${SAY}
printf 'step %s\\n' "$(srun -n 1 sh -c 'printf %s "$API_TOKEN" | sha256sum | cut -c 1-64')" >> "$root/said"
srun -n 1 sleep 60 &
printf 'wrapper %s %s\\n' "$PPID" "$$" >> "$root/said"
await go
kill %1
`;
    const shown: number[] = [];
    const watch = setInterval(() => shown.push(...processesWith('cmdline', needle)), 100);
    const job = await submitBy(
      server,
      'secret',
      // Where nothing ever starts, until it is let go.
      spec('secret', script, on('down'), { secrets: { API_TOKEN: { ref: 'token' } } }),
    );
    const file = `${controlOf(job)}/secrets/1`;
    const id = await until('its file and object', 60, () =>
      existsSync(file) ? as('alice', `squeue --me -h -n ${identityOf(job, 1)} -o %i`).trim() || undefined : undefined,
    );
    const modeOf = (path: string): readonly [string, number] => [(statSync(path).mode & 0o7777).toString(8), statSync(path).uid];
    expect([modeOf(file), modeOf(`${controlOf(job)}/secrets`), modeOf(controlOf(job))]).toEqual([
      ['600', ALICE],
      ['700', ALICE],
      ['700', ALICE],
    ]);
    expect(filesWith(needle)).toEqual([file]);
    const accounting = `sacct -P -j ${id} -o ALL`;
    const told = (): string => [`scontrol -o show job ${id}`, `scontrol write batch_script ${id} -`, accounting].map(asRoot).join('');
    expect(told()).toContain(identityOf(job, 1));
    expect(told()).not.toContain(needle);
    await until('it is released', 30, async () => (await jobBy(server, job)).attempt?.state === 'queued' || undefined);
    as('alice', `scontrol update JobId=${id} Partition=batch`);

    const [, wrapper = '', program = ''] = (await says(job, 'wrapper')).split(' ');
    expect(saidOf(root, job).slice(0, 2)).toEqual([`secret ${HASH}`, `step ${HASH}`]);
    expect(filesWith(needle)).toEqual([]);
    expect(secretsOf(job)).toEqual([]);
    const holders = processesWith('environ', needle);
    expect(holders).toContain(Number(program));
    expect(holders).not.toContain(Number(wrapper));
    expect(told()).not.toContain(needle);
    go(job, 'go');
    expect(await ended(job)).toMatchObject({ state: 'succeeded' });
    clearInterval(watch);
    expect(shown).toEqual([]);
    expect(filesWith(needle)).toEqual([]);
    expect(`${JSON.stringify([await jobBy(server, job), await eventsBy(server, job)])}${server.said()}${asRoot(accounting)}`).not.toContain(
      needle,
    );
  });

  it('that cannot be read defers, which says for which variable, and the job runs when it can be', async () => {
    const job = await submitBy(server, 'late', spec('late', SAY, {}, { secrets: { API_TOKEN: { ref: 'late' } } }));
    const [deferred] = await until('a deferral', 60, async () => {
      const found = await eventsOf(job, 'attempt_submission_deferred');
      return found.length > 0 ? found : undefined;
    });
    expect(deferred?.event['reason']).toBe('nothing was sent: the secret for API_TOKEN could not be read (secret/unusable)');
    expect((await jobBy(server, job)).why).toContain('API_TOKEN');
    expect(existsSync(controlOf(job))).toBe(false);
    chmodSync(`${vault}/late`, 0o600);
    expect(await ended(job)).toMatchObject({ state: 'succeeded', attempts: [{ n: 1 }] });
    expect(saidOf(root, job)).toEqual([`secret ${HASH}`]);
    expect(secretsOf(job)).toEqual([]);
  });
});

describe.concurrent('a root in a bucket', () => {
  const STORY = `
if [ -z "\${DISPATCH_RESUME_STEP:-}" ]; then for i in 1 2 5; do both $i; done; await never; fi
both 10
await go
`;
  const announced = (job: string, n: string): Promise<string> =>
    until(`announcement ${n} of ${job}`, 90, () => saidOf(root, job).find((line) => line.startsWith(`announce-${n} `)));
  const inPlaceOf = (job: string): Promise<string> => until(`the node of ${job}`, 20, () => nodesOf(identityOf(job, 1)) || undefined);
  const base = (job: string, run: string): string => readFileSync(`${controlOf(job)}/bases/${run}`, 'utf8').trim();

  it('has a preempted job relaunched from the marker in it, and a requeued run finds its own way there, with its secrets (P8.1, P8.2)', async () => {
    const submit = (name: string, answer: object): Promise<string> => {
      const policy = { rules: [{ on: ['preempted'], do: answer }], unmatched: 'stop', limits: { attempts: 2 } };
      return submitBy(server, name, spec(name, STORY, { ...bucketRoot(), ...on('away'), policy }, inBucket()));
    };
    const byScheduler = { requeue: { max: 1, by: 'scheduler' } };
    const relaunched = await submit('relaunched', RELAUNCH);
    const requeued = await submit('requeued', byScheduler);
    const bereft = await submit('bereft', byScheduler);
    const all = [relaunched, requeued, bereft];
    for (const job of all) expect(await announced(job, '5')).toBe('announce-5 0');
    // Its one run has read them; the other may be run again, by the scheduler alone.
    expect(secretsOf(relaunched)).toEqual([]);
    expect(secretsOf(requeued)).toEqual(['1']);
    expect(statSync(`${controlOf(requeued)}/secrets/1`).mode & 0o777).toBe(0o600);
    as('alice', `rm '${controlOf(bereft)}/secrets/1'`);
    const ids = [requeued, bereft].map((job) => startsOf(root, job)[0]?.schedulerId);
    for (const node of new Set(await Promise.all(all.map(inPlaceOf)))) preempt(node, 3, 'away-urgent');
    for (const id of ids) {
      await until('it was put back', 30, () => as('alice', `squeue -h -j ${id} -o %T`).startsWith('PENDING') || undefined);
      // Two minutes of waiting that Slurm adds to every requeue, and lets its owner take away.
      as('alice', `scontrol update JobId=${id} StartTime=now`);
    }

    for (const job of [relaunched, requeued]) expect(await announced(job, '10')).toBe('announce-10 0');
    expect(restarts(relaunched)).toEqual([
      { attempt: '1-0', resumed: undefined },
      { attempt: '2-0', resumed: 5 },
    ]);
    expect(restarts(requeued)).toEqual([
      { attempt: '1-0', resumed: undefined },
      { attempt: '1-1', resumed: 5 },
    ]);
    expect(base(requeued, '1-1')).toMatch(/^1000000 5 [a-z2-7]+$/);
    for (const job of [relaunched, requeued]) go(job, 'go');
    expect(await ended(relaunched)).toMatchObject({
      state: 'succeeded',
      resumedFrom: { attempt: 1, trainingStep: 5 },
      checkpoint: { attempt: 2, trainingStep: 10, source: 'listed' },
    });
    expect(await ended(requeued)).toMatchObject({ state: 'succeeded', checkpoint: { attempt: 1, trainingStep: 10, source: 'listed' } });
    for (const job of [relaunched, requeued]) expect(secretsOf(job)).toEqual([]);
    // Without them it says so, and what was announced is not lost.
    expect(await ended(bereft)).toMatchObject({ state: 'failed', checkpoint: { attempt: 1, trainingStep: 5, source: 'listed' } });
    expect((await jobBy(server, bereft)).why).toBe('Failed (launch failed (secrets)): no rule matched.');
    expect(JSON.stringify(await eventsOf(bereft, 'attempt_ended'))).toContain('the file of secrets is gone');
    expect(restarts(bereft)).toEqual([{ attempt: '1-0', resumed: undefined }]);

    // Listed, and collected, by the supervisor's own key.
    // What was reported stays in the record, whatever becomes of its save.
    const shown = async () =>
      (await checkpointsBy(server, relaunched, true)).flatMap(({ epoch, trainingStep, standing }) =>
        standing === 'reported' ? [] : [[epoch, trainingStep]],
      );
    const told = await collect(relaunched, { keep: 2 });
    expect(told).toMatchObject({ dry: true, kept: 2, left: 0, items: [{ trainingStep: 1 }, { trainingStep: 2 }] });
    expect(await shown()).toHaveLength(4);
    expect(await collect(relaunched, { keep: 2, dry: false })).toEqual({ ...told, dry: false });
    expect(await shown()).toEqual([
      [2_000_000, 10],
      [1_000_000, 5],
    ]);
    expect((await checkpointsBy(server, requeued, true)).filter(({ latest }) => latest)).toMatchObject([
      { epoch: 1_000_001, trainingStep: 10 },
    ]);
  });

  it('refuses a wrong key by dispatch-publish’s exit code, and shows why', async () => {
    const script = `
save 5
code=0
AWS_SECRET_ACCESS_KEY=wrong dispatch-publish --manifest "$root/MANIFEST" 5 "$DISPATCH_EXEC_DIR/step-5" || code=$?
exit "$code"
`;
    const job = await submitBy(server, 'wrong', spec('wrong', script, bucketRoot(), inBucket()));
    expect(await ended(job)).toMatchObject({ state: 'failed', attempts: [{ outcome: 'exited with 3' }] });
    const path = `/jobs/${job}/attempts/1/output?stream=stderr`;
    const { body } = await server.ask(path);
    expect(body).toMatchObject({
      text: expect.stringMatching(/dispatch-publish: not published: the bucket could not be listed by curl: .*SignatureDoesNotMatch/),
    });
    expect(await checkpointsBy(server, job, true)).toEqual([]);
  });
});

describe.concurrent('collecting', () => {
  it('tells, then removes only what it told; what a run resumes from or writes stays (P8.4)', async () => {
    const script = `
if [ -z "\${DISPATCH_RESUME_STEP:-}" ]; then for i in 1 2 3 4; do both "$i"; done; save 99; exit 7; fi
both 5
both 6
both 7
save 98
printf 'ready %s\\n' "$DISPATCH_RESUME_STEP" >> "$root/said"
await go
`;
    const job = await submitBy(server, 'collected', spec('collected', script));
    expect(await says(job, 'ready')).toBe('ready 4');
    const at = `${root}/checkpoints/${job}`;
    const tree = (): Record<string, string[]> => ({
      '1-0': readdirSync(`${at}/exec/1-0`).toSorted(),
      '2-0': readdirSync(`${at}/exec/2-0`).toSorted(),
      pub: readdirSync(`${at}/pub`).map((name) => `${parseMarker(name)?.step}`),
    });
    const before = tree();
    const told = await collect(job, { keep: 2 });
    expect(told).toMatchObject({ dry: true, kept: 4, left: 0 });
    expect(told.items.map(({ trainingStep, path, files }) => [trainingStep, path, files])).toEqual([
      [1, 'exec/1-0/step-1', true],
      [2, 'exec/1-0/step-2', true],
      [3, 'exec/1-0/step-3', true],
    ]);
    expect(byCommand(job)).toMatch(/^step 1 .*\nstep 2 .*\nstep 3 .*\n3 would go, 4 stay; --remove does it$/);
    expect(tree()).toEqual(before);
    expect(await collect(job, { keep: 2, dry: false })).toEqual({ ...told, dry: false });
    expect(tree()).toEqual({ '1-0': ['step-4', 'step-99'], '2-0': before['2-0'], pub: ['4', '5', '6', '7'] });
    expect(byCommand(job, '--remove')).toBe('0 removed, 4 stay');
    expect(tree().pub).toEqual(['4', '5', '6', '7']);
    go(job, 'go');
    expect(await ended(job)).toMatchObject({ state: 'succeeded', checkpoint: { trainingStep: 7 } });
  });
});
