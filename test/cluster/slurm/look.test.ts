/** One answer of the controller against what the record last knew (protocols §4.3, §4.5, §5). */
import { describe, expect, it } from 'vitest';
import { seenOf, type Target } from '../../../lib/cluster/port.ts';
import { lookAt } from '../../../lib/cluster/slurm/look.ts';
import { FIELD } from '../../../lib/cluster/slurm/squeue.ts';
import { identityOf } from '../../../lib/job/identity.ts';

const NOW = 1_800_000_000;
const JOB = '0123456789abcdef';
const facts = { tag: 'tst0', cluster: 'c1', login: 'alice', clusterStartedAt: NOW * 1000 };

interface Row {
  readonly id?: string;
  readonly name?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly run?: number;
  readonly submit?: number;
  readonly eligible?: number | 'N/A';
}
const line = ({
  id = '7',
  name = identityOf('tst0', JOB, 1),
  state = 'RUNNING',
  reason = 'None',
  run = 0,
  submit = NOW - 100,
  eligible = NOW - 100,
}: Row): string =>
  `${[id, name, state, reason, 0, 0, run, submit, eligible, NOW - 50, NOW + 50, 'N/A', 'N/A', 'n1', 'n1', 'batch'].join(FIELD)}\x1e\n`;

const target = (over: Partial<Target> = {}): Target => ({
  job: JOB,
  n: 1,
  receipt: { cluster: 'c1', login: 'alice', schedulerId: '7', identity: identityOf('tst0', JOB, 1), submittedAt: (NOW - 100) * 1000 },
  released: true,
  requeueable: false,
  run: 0,
  seen: 'gated.0.',
  timeLimitSeconds: 60,
  ...over,
});
const at = (row: Row, over: Partial<Target> = {}) => lookAt(line(row), [target(over)], facts);
const live = (row: Row, over: Partial<Target> = {}) => at(row, over).changed[0];

describe('what a row says', () => {
  const future = NOW + 500;
  it.each([
    ['begin gate', { state: 'PENDING', reason: 'BeginTime', eligible: future }, 'gated'],
    ['begin gate, not evaluated yet', { state: 'PENDING', reason: 'None', eligible: future }, 'gated'],
    ['hold gate', { state: 'PENDING', reason: 'JobHeldUser', eligible: 'N/A' }, 'gated'],
    ['released', { state: 'PENDING', reason: 'None', eligible: NOW - 1 }, 'queued'],
    ['waits', { state: 'PENDING', reason: 'Resources', eligible: NOW - 1 }, 'queued'],
    ['held by an administrator', { state: 'PENDING', reason: 'JobHeldAdmin', eligible: 'N/A' }, 'queued'],
    ['back in the queue', { state: 'PENDING', reason: 'BeginTime', eligible: future, run: 1 }, 'queued'],
    ['booting', { state: 'CONFIGURING' }, 'starting'],
    ['prolog', { state: 'RUNNING', reason: 'Prolog' }, 'starting'],
    ['runs', { state: 'RUNNING' }, 'running'],
    ['suspended', { state: 'SUSPENDED' }, 'suspended'],
    ['C013: completing', { state: 'COMPLETING' }, 'ending'],
  ] as const)('%s', (_name, row, state) => {
    const look = at(row, { seen: '' });
    expect((look.changed[0] ?? look.wanted[0]?.live)?.state).toBe(state);
  });

  it('C016: a pending group comes with the word', () => {
    expect(live({ state: 'PENDING', reason: 'AssocMaxJobsLimit' })).toMatchObject({
      pending: { group: 'concurrency', reason: 'AssocMaxJobsLimit' },
    });
  });

  it('P4.3: once it was seen beyond its gate, a hold is the work of others', () => {
    const held = { state: 'PENDING', reason: 'JobHeldUser', eligible: 'N/A' } as const;
    expect(live(held, { seen: 'queued.0.waiting' })).toMatchObject({
      state: 'queued',
      pending: { group: 'held' },
      finding: { kind: 'held' },
    });
    expect(at(held).changed).toEqual([]);
  });

  it('P4.1: let go by somebody else is told once; let go by us is not', () => {
    expect(live({}, { released: false })?.finding).toMatchObject({ kind: 'released', since: NOW * 1000 });
    expect(live({})?.finding).toBeUndefined();
  });

  it('P4.6: a restart is told with its run, asks why, and is a finding only where nobody may requeue', () => {
    const row = { state: 'PENDING', reason: 'BeginTime', run: 1, eligible: future };
    const [wanted] = at(row, { seen: 'running.0.' }).wanted;
    expect(wanted).toMatchObject({ live: { state: 'queued', run: 1, finding: { kind: 'requeued' } }, row: { run: 1 } });
    expect(at(row, { seen: 'running.0.', requeueable: true }).wanted[0]!.live!.finding).toBeUndefined();
  });

  it('C013: while it is cleaned up the next run has not begun', () => {
    expect(live({ state: 'COMPLETING', run: 1 }, { seen: 'running.0.', requeueable: true })).toMatchObject({ state: 'ending', run: 0 });
  });

  it('an end is only noticed, and not again once it is recorded', () => {
    expect(at({ state: 'FAILED' }, { seen: 'running.0.' }).wanted).toMatchObject([{ row: { state: 'FAILED' } }]);
    expect(at({ state: 'FAILED' }, { seen: 'ended.0.' })).toMatchObject({ wanted: [], changed: [] });
    expect(at({ state: 'FAILED', run: 1 }, { seen: 'ended.0.' }).wanted).toHaveLength(1);
  });

  it('C004 P5.5: an unknown word changes nothing', () => {
    expect(at({ state: 'LAUNCH_FAILED' }, { seen: 'running.0.' })).toMatchObject({ changed: [], wanted: [], odd: [] });
  });
});

describe('whose row it is', () => {
  it.each([
    ['another name', { name: 'train' }],
    ['another attempt', { name: identityOf('tst0', JOB, 2) }],
    ['submitted earlier', { submit: NOW - 101 }],
  ])('P4.5 C012: %s under the same id is another object', (_name, row) => {
    const look = at({ ...row, state: 'COMPLETED' });
    expect(look.wanted).toEqual([{ target: target() }]);
    expect(look.changed).toEqual([]);
  });

  it('a requeue moves the submit time later: still this object', () => {
    expect(live({ submit: NOW + 1 })).toMatchObject({ state: 'running' });
  });

  it('contract §1: live objects with our tag and no target are told, ended and foreign ones are not', () => {
    const text = [
      line({ id: '8', name: identityOf('tst0', JOB, 2), state: 'PENDING', reason: 'BeginTime', eligible: NOW + 5 }),
      line({ id: '9', name: identityOf('tst0', JOB, 3), state: 'COMPLETED' }),
      line({ id: '10', name: identityOf('zzzz', JOB, 1) }),
      line({ id: '11', name: 'dtst0-whatever' }),
    ].join('');
    expect(lookAt(text, [], facts).unexplained).toMatchObject([{ n: 2, state: 'gated', receipt: { schedulerId: '8', login: 'alice' } }]);
  });

  it('P5.5: an odd row about one target proves nothing of it and costs the others nothing', () => {
    const other = target({ n: 2, receipt: { ...target().receipt, schedulerId: '8', identity: identityOf('tst0', JOB, 2) } });
    const look = lookAt(`7${FIELD}cut\x1e\n${line({ id: '8', name: other.receipt.identity })}`, [target(), other], facts);
    expect(look).toMatchObject({ odd: [], wanted: [], changed: [{ target: { n: 2 } }] });
    expect(lookAt(`garbage\x1e\n`, [target()], facts).odd).toHaveLength(1);
  });
});

describe('a quiet poll of ten thousand jobs', () => {
  const reasons = ['Priority', 'Resources', 'AssocMaxJobsLimit', 'Nodes required for job are DOWN, DRAINED or reserved'];
  const jobs = Array.from({ length: 10_000 }, (_, i) => {
    const job = String(i).padStart(16, '0');
    const name = identityOf('tst0', job, 1);
    const isRunning = i % 3 === 0;
    const reason = reasons[i % reasons.length]!;
    const group = (['waiting', 'waiting', 'concurrency', 'waiting'] as const)[i % reasons.length]!;
    const receipt = { ...target().receipt, schedulerId: String(100_000 + i), identity: name };
    return {
      text: line({ id: receipt.schedulerId, name, ...(isRunning ? {} : { state: 'PENDING', reason }) }),
      target: target({ job, receipt, seen: isRunning ? seenOf('running', 0) : seenOf('queued', 0, group) }),
    };
  });
  const text = jobs.map((job) => job.text).join('');
  const targets = jobs.map((job) => job.target);

  it('says nothing and costs at most five times what splitting the text costs', () => {
    const split = () => text.split('\x1e\n').map((row) => row.split(FIELD).length);
    const look = () => lookAt(text, targets, facts);
    expect(look()).toMatchObject({ changed: [], wanted: [], unexplained: [], odd: [], truncated: false });
    // CPU of this thread, the best of several: what else runs here, in other threads of this process too, must not decide.
    const best = (work: () => unknown): number =>
      Math.min(
        ...Array.from({ length: 12 }, () => {
          const before = process.threadCpuUsage();
          for (let i = 0; i < 3; i++) work();
          const { user, system } = process.threadCpuUsage(before);
          return user + system;
        }),
      );
    best(split);
    best(look);
    expect(best(look) / best(split)).toBeLessThan(5);
  });
});
