/** Hostile text on a real Slurm: what a stand-in of sbatch or srun would let pass and the real one would not. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Session, Target } from '../../lib/cluster/port.ts';
import { createSlurmAdapter } from '../../lib/cluster/slurm/adapter.ts';
import { sshTransport } from '../../lib/cluster/slurm/transport/ssh.ts';
import { identityOf, newJobId } from '../../lib/job/identity.ts';
import type { Spec } from '../../lib/job/spec.ts';
import { as, DIR, rootFor, until } from './rig.ts';

const TAG = 'hst1';
/** A pattern of Slurm, a space and a quote: a root that an administrator may well have. */
const root = rootFor("hostile %j it's");
let session: Session;

beforeAll(async () => {
  const hostKey = readFileSync(`${DIR}/ssh/host_ed25519.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim();
  const sources = { random: (bytes: number) => randomBytes(bytes), nowMs: () => performance.now() };
  const privateKey = async () => readFileSync(`${DIR}/ssh/id_ed25519`, 'utf8');
  const ssh = {
    host: '127.0.0.1',
    port: 2222,
    user: 'alice',
    hostKeys: [hostKey],
    privateKey,
    totalSeconds: 1800,
    readyTimeoutSeconds: 60,
  };
  const adapter = createSlurmAdapter({
    ...{ id: 'lab', tag: TAG, root, random: Math.random, wrapperTiming: { lateViewSeconds: 6, lookAgainSeconds: 1, watchSeconds: 3 } },
    transports: () => sshTransport(ssh, sources),
    secret: async (ref) => `${ref}'s "secret"\r\n$(id)`,
  });
  // Everybody begins at once: sshd may turn some away.
  session = await until('a connection', 45, () => adapter.connect('default').catch(() => undefined));
});
afterAll(() => session.close());

const PYTHON = `#!/usr/bin/env python3
import json, os
root = os.environ["DISPATCH_CHECKPOINT_ROOT"]
json.dump({**os.environ}, open(root + "/environment.json", "w"))
`;
const HOSTILE: Record<string, string> = {
  CRLF: `a\r\nit's\r\r\n`,
  DIRECTIVE: '\n#SBATCH --comment=evil\n#PBS -A evil\n',
  RUN: '$(touch /tmp/dispatch-ran)`touch /tmp/dispatch-ran`;\\"\'',
  UNICODE: 'ä→𝄞',
  d_script: '/dev/null',
  d_root: '/nowhere',
  LD_LIBRARY_PATH: '/nowhere',
  LONG: 'x'.repeat(16_000),
};
const specOf = (overrides: Partial<Spec> = {}): Spec => ({
  name: 'hostile',
  cluster: 'lab',
  resources: { nodes: 1, tasksPerNode: 1, gpusPerNode: 0, memoryPerNodeMi: 100 },
  program: { script: PYTHON, env: HOSTILE, secrets: { SECRET: { ref: 'alice' } } },
  timeLimitSeconds: 90,
  patienceSeconds: 600,
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
  labels: {},
  extensions: { slurm: { partition: 'batch' } },
  ...overrides,
});

const submit = async (spec: Spec) => {
  const probe = await session.probe(Date.now());
  const job = newJobId(Date.now(), Math.random);
  const clusterNow = (await session.clock())!;
  const how = { requeue: 'never', patienceSeconds: spec.patienceSeconds } as const;
  const gate = session.gateFor(spec, probe, how, clusterNow);
  const answer = await session.submit({
    ...{ job, n: 1, identity: identityOf(TAG, job, 1), spec, probe, gate, clusterNow, ...how, resume: { epoch: 0, step: -1, path: '' } },
    ...{ resources: { timeLimitSeconds: spec.timeLimitSeconds, memoryPerNodeMi: 100 }, excludeNodes: [] },
    clusterBoundAt: clusterNow + 90_000,
  });
  return { job, gate, answer };
};

it('contract §4: what users write reaches their program as they wrote it, by their own interpreter, and nothing of it runs before', async () => {
  const { job, gate, answer } = await submit(specOf());
  if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer));
  const { receipt } = answer;
  const shown = as('alice', `scontrol show job ${receipt.schedulerId}`);
  expect(shown).not.toContain('evil');
  expect(await session.fence(job, { n: 1, schedulerId: receipt.schedulerId })).toMatchObject({
    kind: 'marked',
    holds: receipt.schedulerId,
  });
  expect(await session.release(receipt, gate)).toEqual({ kind: 'sent' });
  const target: Target = { job, n: 1, receipt, released: true, requeueable: false, run: 0, seen: '', timeLimitSeconds: 90 };
  const ended = await until('the end with all its evidence', 90, async () => {
    const seen = await session.observe([target]);
    return seen.kind === 'observed' ? seen.changed.find((one) => one.kind === 'ended' && one.missing.length === 0) : undefined;
  });
  expect(ended).toMatchObject({ outcome: { cause: 'completed', ran: 'yes', confidence: 'certain' } });
  const environment = JSON.parse(readFileSync(`${root}/checkpoints/${job}/environment.json`, 'utf8'));
  expect(environment).toMatchObject({
    ...HOSTILE,
    SECRET: `alice's "secret"\r\n$(id)`,
    DISPATCH_CHECKPOINT_ROOT: `${root}/checkpoints/${job}`,
    SLURM_JOB_ID: receipt.schedulerId,
  });
  expect(as('alice', 'ls /tmp/dispatch-ran 2>&1 || true')).toContain('No such file');
  // Not in accounting, whose submit line everybody may read, and not left behind.
  expect(as('alice', `sacct -j ${receipt.schedulerId} -o submitline%2000 -P`)).not.toContain('secret"');
  expect(as('alice', `ls -A "${root}/${TAG}/${job}/secrets"`).trim()).toBe('');
});

it('P3.6: neighbours with separators in their names keep nobody from being proved absent', async () => {
  const name = as('alice', `printf 'a\\036\\n9\\037b'`);
  expect(name).toHaveLength(6);
  const id = as('alice', `sbatch --parsable --hold --time=1 -J "$(printf 'a\\036\\n9\\037b')" --output=/dev/null --wrap=:`).trim();
  try {
    expect((await session.find(newJobId(Date.now(), Math.random))).kind).toBe('absent');
    expect(await session.observe([])).toMatchObject({ kind: 'observed', complete: true });
  } finally {
    as('alice', `scancel ${id}`);
  }
});

it('P3.4: what Slurm refuses of a user’s words is a refusal with those words, and leaves no secret behind', async () => {
  const { job, answer } = await submit(specOf({ extensions: { slurm: { partition: 'batch', constraint: "x'; scancel -u alice #" } } }));
  expect(answer).toMatchObject({ kind: 'refused', outcome: { ran: 'no' } });
  expect(as('alice', `ls -A "${root}/${TAG}/${job}/secrets"`).trim()).toBe('');
});
