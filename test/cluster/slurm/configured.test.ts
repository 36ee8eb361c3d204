/**
 * What a cluster's configuration says for its jobs (contract §4, §11): what a login fills in, and the secrets that programs are given. The
 * real adapter on a login node of ours, a real record, the real use cases: so what may never hold a secret's value is searched for it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptJob } from '../../../lib/app/accept-job.ts';
import { advance } from '../../../lib/app/advance.ts';
import { collectCheckpoints } from '../../../lib/app/collect-checkpoints.ts';
import { planJob } from '../../../lib/app/plan-job.ts';
import type { ClusterConfiguration, Ports, SecretConfiguration } from '../../../lib/app/ports.ts';
import type { Principal } from '../../../lib/app/principal.ts';
import { readCluster } from '../../../lib/app/read-cluster.ts';
import { boundedSecrets } from '../../../lib/cluster/secret.ts';
import { createSlurmAdapter, type SlurmOptions } from '../../../lib/cluster/slurm/adapter.ts';
import { CAPABILITY_NAMES, type Probe } from '../../../lib/job/capability.ts';
import { fold } from '../../../lib/job/view.ts';
import { virtualClock } from '../../../lib/local/clock.ts';
import { createSystem } from '../../../lib/local/system.ts';
import { createMemoryStore } from '../../../lib/record/memory-store.ts';
import { seeded } from './seeded.ts';
import { NOW, type Site, site, TAG } from './site.ts';

const VALUE = "hunter2 'and' $(more)";
const PROBE = {
  probedAt: 0,
  facts: { scheduler: 'slurm 22.05.8', credentialLifeSeconds: 300, clockOffsetMs: 0, partitions: [], requeueExitCodes: [], user: 'u' },
  capabilities: Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, { support: 'yes', evidence: '', probedAt: 0 }])),
} as unknown as Probe;
const MARA: Principal = { id: 'mara', groups: ['language'], scopes: ['read', 'submit'] };
const SPEC = {
  name: 'train',
  cluster: 'c1',
  resources: { nodes: 1 },
  program: { script: '#!/bin/sh\ntrue\n', secrets: { WANDB_API_KEY: { ref: 'wandb/mara' } } },
  timeLimit: '1h',
  policy: { unmatched: 'stop', limits: { attempts: 1 } },
};
const SECRETS: readonly SecretConfiguration[] = [
  { name: 'wandb/mara', allow: ['mara'] },
  { name: 'wandb/team', allow: ['language'], logins: ['c1/alice'] },
  { name: 'vault/root', allow: ['admin'] },
  { name: 'other/login', logins: ['c1/bob'] },
];

interface Given {
  readonly login?: Partial<ClusterConfiguration['logins'][number]>;
  readonly secret?: (ref: string) => Promise<string>;
  readonly slurm?: Partial<SlurmOptions>;
}

const given = ({ login = {}, secret = async () => VALUE, slurm = {} }: Given = {}) => {
  const at = site();
  at.client('scontrol', 'exit 1');
  const clock = virtualClock(NOW * 1000);
  const store = createMemoryStore();
  const logs: unknown[] = [];
  const notices: unknown[] = [];
  const read = boundedSecrets(
    secret,
    SECRETS.map(({ name }) => name),
    { now: clock.now },
  );
  const bare = createSlurmAdapter({ ...at.options(), secret: read, ...slurm });
  const { ports: made } = createSystem({
    store,
    clusters: [
      {
        id: 'c1',
        adapter: bare,
        pollEverySeconds: 60,
        landingBoundSeconds: 90,
        readOnly: false,
        rootId: 'lustre-1',
        logins: [{ id: 'alice', user: 'u', ...login }],
      },
    ],
    secrets: SECRETS,
    tag: TAG,
    clock,
    random: seeded(3),
    log: (...line) => logs.push(line),
    supervisors: { start: async () => 'started', signal: async () => 'signalled' },
    bus: { put: async (said) => void notices.push(...said) },
  });
  const ports: Ports = { ...made, probeOf: async () => PROBE };
  const plan = async (over: object = {}, who: Principal | undefined = MARA) => {
    const planned = await planJob(ports, { ...SPEC, ...over }, who);
    if (planned.kind !== 'planned') throw new Error(JSON.stringify(planned.refusals));
    return planned;
  };
  return { at, clock, store, logs, notices, ports, plan };
};

const submitted = async ({ ports, clock }: ReturnType<typeof given>, over: object = {}, key = 'k') => {
  const birth = await acceptJob(ports, MARA, { spec: { ...SPEC, ...over }, key });
  if (birth.kind !== 'submitted') throw new Error(JSON.stringify(birth));
  const { job } = birth.view;
  const startedAt = new Date(clock.now()).toISOString();
  await advance(ports, { machine: 1, job, generation: 1, loops: 0, startedAt, answer: {} });
  return job;
};
const sbatch = (at: Site): string | undefined => at.calls().find((call) => call.startsWith('sbatch'));

describe('contract §11: what a login fills in', () => {
  const defaults = { account: 'lp42', qos: 'normal', partition: 'gpu' };
  const bare = { program: { script: 'true' } };

  it('is in the rendered submission and in what the plan digests, and what a spec says itself wins', async () => {
    const without = (await given().plan(bare)).plan;
    const { plan } = given({ login: { defaults } });
    const filled = (await plan(bare)).plan;
    for (const option of ['--account=lp42', '--qos=normal', '--partition=gpu']) {
      expect(filled.submission).toContain(`'${option}'`);
      expect(without.submission).not.toContain(option);
    }
    expect(filled.digest).not.toBe(without.digest);
    const own = (await plan({ ...bare, extensions: { slurm: { account: 'mine' } } })).plan;
    expect(own.submission).toContain("'--account=mine'");
    expect(own.submission).toContain("'--qos=normal'");
    expect(own.submission).not.toContain('lp42');
  });

  it('is what is sent, and stays what was planned when the configuration changes before a relaunch', async () => {
    const world = given({ login: { defaults } });
    const job = await submitted(world, bare);
    for (const option of ['--account=lp42', '--qos=normal', '--partition=gpu']) expect(sbatch(world.at)).toContain(` ${option} `);
    const [first] = await world.store.read(job);
    expect(first?.events[0]).toMatchObject({ type: 'job_submitted', spec: { extensions: { slurm: defaults } } });
  });

  it('is no part of what was asked for: a repeat after a change of the configuration is the same job', async () => {
    const world = given({ login: { defaults } });
    const job = await submitted(world, bare);
    const cluster = world.ports.clusters.get('c1')!;
    const changed = { ...cluster, logins: [{ ...cluster.logins[0]!, defaults: { account: 'new' } }] };
    const again = await acceptJob({ ...world.ports, clusters: new Map([['c1', changed]]) }, MARA, { spec: { ...SPEC, ...bare }, key: 'k' });
    expect(again).toMatchObject({ kind: 'submitted', view: { job } });
  });

  it('is what a probe’s dry run asks for, since a site may refuse everything else', async () => {
    const { at } = given();
    const session = await at.open({ defaultsOf: () => ({ account: "it's", partition: 'gpu' }) });
    await session.probe(0);
    expect(sbatch(at)).toBe("sbatch --test-only --time=1 --nodes=1 --account=it's --partition=gpu --wrap=:");
  });

  it('a root’s identity is shown', async () => {
    expect(await readCluster(given().ports, MARA, 'c1')).toMatchObject({ rootId: 'lustre-1' });
  });
});

describe('contract §4: secrets', () => {
  const refusals = async (ref: string, who: Principal = MARA) => {
    const { plan } = await given().plan({ program: { script: 'true', secrets: { A: { ref } } } }, who);
    return plan.refusals.map(({ path, says }) => `${path}: ${says}`);
  };

  it('one that the deployment does not name, or not for this caller, is refused with its path and the names that are for the caller', async () => {
    const known = 'known: wandb/mara, wandb/team';
    expect(await refusals('wandb/mara')).toEqual([]);
    expect(await refusals('wandb/maro')).toEqual([
      `program.secrets.A.ref: "wandb/maro" is no secret that you may use here; did you mean "wandb/mara"? ${known}`,
    ]);
    // Whether there is one is not told: the words are those for a name that nobody has.
    for (const ref of ['vault/root', 'other/login', '/etc/passwd'])
      expect(await refusals(ref)).toEqual([`program.secrets.A.ref: "${ref}" is no secret that you may use here; ${known}`]);
    expect(await refusals('wandb/mara', { ...MARA, id: 'eve', groups: [] })).toEqual([
      'program.secrets.A.ref: this deployment gives you no secrets here; ask who operates it',
    ]);
  });

  it('a value is in one file of 0600 on the cluster, and in no record, plan, command line, log or notice', async () => {
    const world = given();
    const { plan } = await world.plan();
    const job = await submitted(world);
    const secrets = join(world.at.root, TAG, job, 'secrets');
    expect(readdirSync(secrets)).toEqual(['1']);
    expect(readFileSync(join(secrets, '1'), 'utf8')).toContain('hunter2');
    expect(statSync(join(secrets, '1')).mode & 0o777).toBe(0o600);
    const dump = world.store.dump();
    const searched = {
      plan: JSON.stringify(plan),
      record: JSON.stringify([...dump.jobs.values()].map((one) => (one instanceof Map ? [...one] : one))),
      commits: JSON.stringify(await world.store.read(job)),
      arguments: world.at.calls().join('\n'),
      logs: JSON.stringify(world.logs),
      notices: JSON.stringify(world.notices),
    };
    expect(searched.arguments).toContain('sbatch');
    expect(searched.commits).toContain('attempt_bound');
    expect(Object.entries(searched).flatMap(([name, text]) => (text.includes('hunter2') ? [name] : []))).toEqual([]);
    // Beside that one file nothing on the cluster holds it either.
    const files = readdirSync(join(world.at.root, TAG, job), { recursive: true, encoding: 'utf8' });
    const holding = files.filter((name) => {
      const path = join(world.at.root, TAG, job, name);
      return statSync(path).isFile() && readFileSync(path, 'utf8').includes('hunter2');
    });
    expect(holding).toEqual(['secrets/1']);
  });

  it('one that cannot be read defers the submission and never fails the job; what its store said is told to nobody', async () => {
    let fails = true;
    const secret = async (): Promise<string> => (fails ? Promise.reject(new Error('denied: hunter2 at arn:aws:secret')) : VALUE);
    const world = given({ secret });
    const job = await submitted(world);
    const types = async () => (await world.store.read(job)).flatMap(({ events }) => events.map(({ type }) => type));
    expect(await types()).toEqual(['job_submitted', 'attempt_planned', 'attempt_submission_deferred']);
    expect(sbatch(world.at)).toBeUndefined();
    const text = JSON.stringify([await world.store.read(job), world.logs]);
    expect(text).toContain('the secret for WANDB_API_KEY could not be read (secret/unavailable)');
    for (const word of ['hunter2', 'arn:aws']) expect(text).not.toContain(word);
    fails = false;
    // The bound of the next try is the cluster's clock plus the landing bound; ours has moved on.
    const startedAt = new Date(world.clock.now()).toISOString();
    const later: Ports = { ...world.ports, now: () => world.clock.now() + 120_000 };
    await advance(later, { machine: 1, job, generation: 1, loops: 0, startedAt, answer: {} });
    expect(await types()).toContain('attempt_bound');
    expect(existsSync(join(world.at.root, TAG, job, 'secrets', '1'))).toBe(true);
  });

  it('all of a job are read at once, each once, and too much of them is not sent', async () => {
    const asked: string[] = [];
    const secret = async (ref: string): Promise<string> => {
      asked.push(ref);
      return 'x'.repeat(30_000);
    };
    const secrets = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`S${i}`, { ref: 'wandb/mara' }]));
    const world = given({ secret });
    const job = await submitted(world, { program: { script: 'true', secrets } });
    expect(asked).toEqual(['wandb/mara']);
    expect(JSON.stringify(await world.store.read(job))).toContain('the secrets together have more than');
  });

  it('a part of one that a full disk left does not stay', async () => {
    const world = given();
    world.at.client('mv', 'case $* in */secrets/1) exit 1 ;; esac; exec /bin/mv "$@"');
    const job = await submitted(world);
    expect(JSON.stringify(await world.store.read(job))).toContain('could not be written');
    expect(sbatch(world.at)).toBeUndefined();
    expect(readdirSync(join(world.at.root, TAG, job, 'secrets'))).toEqual([]);
  });
});

describe('P8.4: collecting', () => {
  it('ends what an earlier call put aside, also where nothing else goes, and not when it is only asked', async () => {
    const world = given();
    const job = await submitted(world, { program: { script: 'true' } });
    const aside = join(world.at.root, 'checkpoints', job, 'exec', '1-0', '.collected-x');
    mkdirSync(aside, { recursive: true });
    const view = fold(await world.store.read(job));
    if (!view) throw new Error('no job');
    const collect = (dry: boolean) => collectCheckpoints(world.ports, view, { keep: 2, dry });
    expect(await collect(true)).toMatchObject({ kind: 'collected', items: [] });
    expect(existsSync(aside)).toBe(true);
    expect(await collect(false)).toMatchObject({ kind: 'collected', items: [] });
    expect(existsSync(aside)).toBe(false);
  });
});
