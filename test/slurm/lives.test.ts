/**
 * Short lives on a real Slurm, all at once in one system over SSH: cancel in each state, an attempt that is never released, and
 * another deployment's objects beside them (protocols §4.1, §7; S7).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelJob } from '../../lib/app/command-job.ts';
import { loadView } from '../../lib/app/load.ts';
import { statusOf } from '../../lib/app/status.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import type { View } from '../../lib/job/view.ts';
import type { System } from '../../lib/local/system.ts';
import { startSystem, submitTo } from './dispatch.ts';
import { as, asRoot, configurationFor, marksOf, rootFor, until } from './rig.ts';

const TAG = '11ve';
const root = rootFor('lives');
/** Jobs of these names are never let through their gate, as if dispatch had died between binding and releasing. */
const UNRELEASED = ['cancel-gated', 'never-released'];
const kept = new Set<string>();

/** The real adapter, except that it does not come to release some attempts. */
const withoutRelease = (adapter: Adapter): Adapter => ({
  ...adapter,
  connect: async (login) => {
    const session = await adapter.connect(login);
    return {
      ...session,
      release: async (receipt, gate) =>
        kept.has(receipt.identity) ? { kind: 'unreachable', says: 'held back by the test' } : session.release(receipt, gate),
    };
  },
});

let system: System;
let stranger = '';
let plain = '';
beforeAll(async () => {
  stranger = as(
    'alice',
    `sbatch --parsable --hold --no-requeue --time=1 -J dzzzz-0123456789abcdef-1 --output=/dev/null --wrap='sleep 1'`,
  ).trim();
  plain = as('alice', `sbatch --parsable --hold --time=1 -J d${TAG}-not-an-identity --output=/dev/null --wrap='sleep 1'`).trim();
  system = await startSystem(configurationFor('lives', root), TAG, withoutRelease);
});
afterAll(() => {
  system?.stop();
  as('alice', `scancel ${stranger} ${plain}`);
});

const spec = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  cluster: 'lab',
  resources: { nodes: 1, memoryPerNode: '100Mi' },
  program: { script: '#!/bin/bash\nmkdir -p "$DISPATCH_EXEC_DIR"\n: > "$DISPATCH_EXEC_DIR/began-$$"\nsleep 500\n' },
  timeLimit: '10m',
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
  ...more,
});

const view = async (job: string): Promise<View> => (await loadView(system.ports.store, job)) as View;
const ended = (job: string, seconds: number) =>
  until(`job ${job} ends`, seconds, async () => ((await view(job)).ended ? statusOf(await view(job)) : undefined));
const reaches = (job: string, state: string, seconds = 90) =>
  until(`attempt 1 is ${state}`, seconds, async () => ((await view(job)).attempts[0]?.state === state ? true : undefined));
const cancel = (job: string) => cancelJob(system.ports, job, { principal: 'tester', reason: 'test' });
const submit = async (name: string, more: Record<string, unknown> = {}): Promise<string> => {
  const job = await submitTo(system, spec(name, more));
  if (UNRELEASED.includes(name)) kept.add(`d${TAG}-${job}-1`);
  return job;
};
const inQueue = (job: string): string =>
  as('alice', `squeue --me -h -t PD,R,CG,CF,S -o %j`)
    .split('\n')
    .find((name) => name.includes(job)) ?? '';

describe.concurrent('short lives', () => {
  it('cancel while gated: the object is gone and the program never ran', async () => {
    const job = await submit('cancel-gated');
    await reaches(job, 'gated');
    await cancel(job);
    const status = await ended(job, 120);
    expect(status.state).toBe('cancelled');
    expect(status.outcome?.cause).toBe('cancelled_by_dispatch');
    expect(inQueue(job)).toBe('');
    expect(marksOf(root, job)).toEqual([]);
  });

  it('cancel while queued', async () => {
    const job = await submit('cancel-queued', { extensions: { slurm: { partition: 'down' } } });
    await reaches(job, 'queued');
    await cancel(job);
    const status = await ended(job, 120);
    expect(status.state).toBe('cancelled');
    expect(marksOf(root, job)).toEqual([]);
  });

  it('cancel while running: the program is ended and the job says by whom', async () => {
    const job = await submit('cancel-running');
    await reaches(job, 'running');
    await until('the program has begun', 30, () => marksOf(root, job).length === 1 || undefined);
    await cancel(job);
    const status = await ended(job, 120);
    expect(status.state).toBe('cancelled');
    expect(status.outcome?.cause).toBe('cancelled_by_dispatch');
    expect(status.why).toMatch(/tester asked for it/);
    expect(inQueue(job)).toBe('');
  });

  it('an administrator who gives a running attempt more time saves it: it ends by itself, past its own limit (P6.3)', async () => {
    const script = '#!/bin/bash\nmkdir -p "$DISPATCH_EXEC_DIR"\n: > "$DISPATCH_EXEC_DIR/began-$$"\nsleep 75\n';
    const job = await submit('given-time', { program: { script }, timeLimit: '1m' });
    await until('the program has begun', 120, () => marksOf(root, job).length === 1 || undefined);
    asRoot(`scontrol update JobId=${(await view(job)).attempts[0]?.receipt?.schedulerId} TimeLimit=3`);
    const status = await ended(job, 200);
    expect(status).toMatchObject({ state: 'succeeded', outcome: { cause: 'completed', ran: 'yes' } });
  });

  it('an attempt that is never released destroys itself at its gate (P4.1)', async () => {
    const job = await submit('never-released', { patience: '30s' });
    await reaches(job, 'gated');
    const status = await ended(job, 280);
    expect(status.state).toBe('failed');
    expect(status.outcome).toMatchObject({ cause: 'gate_expired', ran: 'no' });
    expect(marksOf(root, job)).toEqual([]);
  });

  it('a program that fails is `exited` with its code, and nothing more is tried without a rule', async () => {
    const job = await submit('exits', { program: { script: '#!/bin/bash\nexit 3\n' } });
    const status = await ended(job, 120);
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'exited', detail: { code: 3 }, ran: 'yes' } });
    expect(status.attempts).toHaveLength(1);
  });

  it('a program that needs more memory than it asked for is `out_of_memory`, not a failure like any other', async () => {
    const job = await submit('greedy', { program: { script: `#!/bin/bash\nsrun python3 -c 'x = bytearray(2**29); print(len(x))'\n` } });
    const status = await ended(job, 120);
    expect(status.outcome?.cause).toBe('out_of_memory');
  });

  it('a request that Slurm refuses is refused with its words and nothing is left behind', async () => {
    const job = await submit('refused', { extensions: { slurm: { constraint: 'nosuchfeature' } } });
    const status = await ended(job, 120);
    expect(status).toMatchObject({ state: 'failed', outcome: { class: 'request', ran: 'no' } });
    expect(inQueue(job)).toBe('');
  });
});

describe('other deployments', () => {
  it('their objects stay untouched, whatever they are called', () => {
    const left = as('alice', 'squeue --me -h -o "%i %T %r"');
    expect(left).toContain(`${stranger} PENDING JobHeldUser`);
    expect(left).toContain(`${plain} PENDING JobHeldUser`);
  });
});
