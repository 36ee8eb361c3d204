/** The remote programs under a real sh: uploads, clocks, marks, identities. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { markerName } from '../../../lib/cluster/slurm/control-files.ts';
import { identityOf } from '../../../lib/job/identity.ts';
import { accounted, identity, job, NOW, receipt, row, type Site, say, shown, site, spec, submission, TAG, target } from './site.ts';

describe('submit', () => {
  it('uploads whole files named by their hash, then submits by path, and takes the submit time from the controller', async () => {
    const at = site();
    at.client('scontrol', shown());
    const session = await at.open();
    expect(await session.submit(submission())).toEqual({ kind: 'accepted', receipt: { ...receipt, submittedAt: (NOW + 3) * 1000 } });
    const control = join(at.root, TAG, job);
    const files = readdirSync(join(control, 'files'));
    expect(files).toHaveLength(2);
    expect(readFileSync(join(control, 'files', files.find((name) => !name.endsWith('.sh'))!), 'utf8')).toBe(spec().program.script);
    expect(statSync(control).mode & 0o777).toBe(0o700);
    expect(existsSync(join(at.root, 'checkpoints', job, 'pub'))).toBe(true);
    const call = at.calls().find((one) => one.startsWith('sbatch'))!;
    for (const option of [
      '--parsable',
      `--job-name=${identity}`,
      '--no-requeue',
      '--time=1',
      `--begin=uts${NOW + 660}`,
      `--deadline=uts${NOW + 660}`,
      '--open-mode=append',
    ]) {
      expect(call).toContain(option);
    }
    expect(call.endsWith('.sh')).toBe(true);
  });

  it('P3.3: at or near the bound nothing is sent, by the cluster’s own clock', async () => {
    const at = site();
    const session = await at.open();
    for (const left of [14, 0, -1]) {
      expect(await session.submit(submission({ clusterBoundAt: (NOW + left) * 1000 }))).toMatchObject({ kind: 'uncertain', sent: 'no' });
    }
    expect(at.calls().filter((one) => one.startsWith('sbatch'))).toEqual([]);
    expect((await session.submit(submission({ clusterBoundAt: (NOW + 15) * 1000 }))).kind).toBe('accepted');
  });

  it('an upload that does not arrive whole is never submitted', async () => {
    const at = site();
    at.client('sha256sum', 'echo 0000000000000000000000000000000000000000000000000000000000000000');
    expect(await (await at.open()).submit(submission())).toMatchObject({
      kind: 'not_now',
      reason: expect.stringContaining('did not arrive whole'),
    });
    expect(at.calls().filter((one) => one.startsWith('sbatch'))).toEqual([]);
  });

  it('P4.5: without the controller’s word the receipt’s time is safely early', async () => {
    const at = site();
    at.client('scontrol', shown({ name: 'another' }));
    const said = await (await at.open()).submit(submission());
    expect(said).toMatchObject({ kind: 'accepted', receipt: { submittedAt: (NOW - 300) * 1000 } });
  });

  it('P3.4: the login’s environment has no say, and an answer in doubt is uncertain', async () => {
    const at = site();
    at.client(
      'sbatch',
      '[ -z "$SBATCH_WAIT" ] || exit 9\necho "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2; exit 1',
    );
    expect(await (await at.open()).submit(submission())).toMatchObject({
      kind: 'uncertain',
      sent: 'maybe',
      answer: expect.stringContaining('Socket timed out'),
    });
  });

  it('secrets are in a file of 0600 alone; without a source of secrets nothing is sent', async () => {
    const at = site();
    const secret = { spec: spec({ program: { script: ':', env: {}, secrets: { TOKEN: { ref: 'r' } } } }) };
    expect(await (await at.open()).submit(submission(secret))).toMatchObject({ kind: 'not_now' });
    const session = await at.open({
      secret: async (ref) => `it's ${ref}`,
      tokenOf: async () => 't0ken',
      helpers: [{ name: 'helper', text: '#!/bin/sh\n' }],
    });
    expect((await session.submit(submission(secret))).kind).toBe('accepted');
    const control = join(at.root, TAG, job);
    expect(readFileSync(join(control, 'secrets', '1'), 'utf8')).toBe("export TOKEN='it'\\''s r'\n");
    expect(statSync(join(control, 'secrets', '1')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(control, 'token'), 'utf8')).toBe('t0ken');
    expect(statSync(join(control, 'bin', 'helper')).mode & 0o777).toBe(0o700);
    expect(at.calls().join('\n')).not.toContain("it's r");
  });
});

describe('find', () => {
  it('P3.6: absent only when every source answered', async () => {
    const at = site();
    const session = await at.open();
    expect(await session.find(job)).toEqual({ kind: 'absent', clusterNow: NOW * 1000 });
    at.client('sacct', 'echo "Slurm accounting storage is disabled" >&2; exit 1');
    expect((await session.find(job)).kind).toBe('absent');
    at.client('sacct', 'echo "Connection refused" >&2; exit 1');
    expect((await session.find(job)).kind).toBe('unreachable');
    at.client('squeue', 'exit 1');
    expect((await session.find(job)).kind).toBe('unreachable');
    at.client('squeue', 'printf 7');
    expect((await session.find(job)).kind).toBe('unreachable');
  });

  it('contract §1: every attempt of the job, nothing of another job or tag', async () => {
    const at = site();
    at.client(
      'squeue',
      say(
        row('9', identityOf(TAG, job, 2), 'PENDING', NOW, 'JobHeldUser'),
        row('8', identity, 'RUNNING'),
        row('5', identity, 'FAILED', NOW, 'BadConstraints'),
        row('6', identityOf('zzzz', job, 1), 'RUNNING'),
        row('7', identityOf(TAG, '0123456789abcdef', 1), 'RUNNING'),
      ),
    );
    at.client('sacct', say(accounted('8', identity, 'RUNNING'), accounted('4', identity, 'TIMEOUT')));
    const found = await (await at.open()).find(job);
    expect(found).toMatchObject({
      kind: 'found',
      complete: true,
      objects: [
        { receipt: { schedulerId: '4' }, n: 1, state: 'ended' },
        { receipt: { schedulerId: '5' }, state: 'ended', refused: { cause: 'rejected', ran: 'no' } },
        { receipt: { schedulerId: '8' }, state: 'running' },
        { receipt: { schedulerId: '9' }, n: 2, state: 'gated' },
      ],
    });
  });

  it('what was found stands when accounting fails, but proves nobody else absent', async () => {
    const at = site();
    at.client('squeue', say(row('8', identity, 'RUNNING')));
    at.client('sacct', 'exit 1');
    expect(await (await at.open()).find(job)).toMatchObject({ kind: 'found', complete: false });
  });

  it('accounting is asked for the names that may have been sent, in a window beyond their begin times', async () => {
    const at = site();
    const session = await at.open();
    await session.submit(submission({ n: 3, identity: identityOf(TAG, job, 3) }));
    await session.find(job);
    const call = at.calls().findLast((one) => one.startsWith('sacct'))!;
    expect(call).toContain(`--name=${[1, 2, 3, 4, 5].map((n) => identityOf(TAG, job, n)).join(',')} `);
    expect(call).toContain(`-S uts${NOW - 3600} -E uts${NOW + 660 + 86_400} `);
  });
});

describe('fence', () => {
  it('P4.2: a mark is made once, whole, and read back whoever wrote it', async () => {
    const at = site();
    const session = await at.open();
    const marks = await Promise.all(['7', '8', '9'].map((schedulerId) => session.fence(job, { n: 2, schedulerId })));
    const holds = new Set(marks.map((mark) => (mark.kind === 'marked' ? mark.holds : '')));
    expect(holds.size).toBe(1);
    expect(marks[0]).toMatchObject({ kind: 'marked', clusterWrittenAt: NOW * 1000, clusterNow: NOW * 1000 });
    expect(readdirSync(join(at.root, TAG, job, 'release'))).toEqual(['2']);
    expect(await session.fence(job, 'stop')).toMatchObject({ kind: 'marked', holds: '' });
  });

  it('a mark that cannot be written is unreachable', async () => {
    const at = site();
    writeFileSync(join(at.root, TAG), 'in the way');
    expect((await (await at.open()).fence(job, 'stop')).kind).toBe('unreachable');
  });
});

describe('acts', () => {
  const gate = submission().gate;
  it.each([
    ['our object', shown(), 'sent', 1],
    ['another object under this id', shown({ name: 'train' }), 'sent', 0],
    ['an earlier object of the same name', shown({ submit: NOW - 1 }), 'sent', 0],
    ['nothing', 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1', 'sent', 0],
    ['no answer', 'echo "Unable to contact slurm controller (connect failure)" >&2; exit 1', 'unreachable', 0],
  ] as const)('P4.5 C012: a cancel looks first: %s', async (_name, scontrol, kind, cancels) => {
    const at = site();
    at.client('scontrol', scontrol);
    expect((await (await at.open()).cancel(receipt)).kind).toBe(kind);
    expect(at.calls().filter((one) => one.startsWith('scancel'))).toHaveLength(cancels);
  });

  it('contract §1: an object of another tag is refused before anything is sent', async () => {
    const at = site();
    const foreign = { ...receipt, identity: identityOf('zzzz', job, 1) };
    const session = await at.open();
    for (const act of [session.cancel(foreign), session.discard(foreign), session.release(foreign, gate), session.requeue!(foreign)]) {
      expect((await act).kind).toBe('refused');
    }
    expect(at.calls()).toEqual([]);
  });

  it.each([
    [gate, `scontrol update JobId=77 StartTime=now`],
    [{ mechanism: 'hold', selfDestructs: false } as const, 'scontrol release 77'],
  ])('P4.3: each gate has its own key (%j)', async (which, call) => {
    const at = site();
    at.client('scontrol', `case $* in *show*) ${shown()} ;; esac`);
    expect(await (await at.open()).release(receipt, which)).toEqual({ kind: 'sent' });
    expect(at.calls()).toContain(call);
  });

  it.each([
    ['Job is no longer pending execution for job 77', 'sent'],
    ['Job has already finished for job 77', 'sent'],
    ['Access/permission denied for job 77', 'refused'],
    ['Unexpected message received for job 77', 'unreachable'],
  ])('P4.3: %s → %s', async (text, kind) => {
    const at = site();
    at.client('scontrol', `case $* in *show*) ${shown()} ;; *) echo "${text}" >&2; exit 1 ;; esac`);
    expect((await (await at.open()).release(receipt, gate)).kind).toBe(kind);
  });
});

describe('observe', () => {
  const sent = async (at: Site) => {
    const session = await at.open();
    await session.submit(submission());
    return session;
  };
  const put = (at: Site, path: string, text: string): void => writeFileSync(join(at.root, TAG, job, path), text);
  const RESULT = (run: number, exit: number) => `id=77\nrun=${run}\nexit=${exit}\nsignal=\nstopped=\ntold=no\nstarted=1\nended=2\nend\n`;

  it('P5.1: a quiet look is one command, whatever the number of jobs', async () => {
    const at = site();
    at.client('squeue', say(row('77', identity, 'RUNNING')));
    const session = await at.open();
    expect(await session.observe([target()])).toEqual({
      kind: 'observed',
      clusterStartedAt: NOW * 1000,
      complete: true,
      changed: [],
      absent: [],
      unexplained: [],
    });
    expect(at.calls().map((one) => one.split(' ')[0])).toEqual(['date', 'squeue']);
  });

  it('P5.3: an end comes with accounting, the result, the runs and the tail of the errors', async () => {
    const at = site();
    const session = await sent(at);
    at.client('squeue', say(row('77', identity, 'FAILED', NOW, 'NonZeroExitCode', 1)));
    at.client('sacct', say(accounted('77', identity, 'FAILED')));
    claim(at, '1-1', '77-1-abc');
    put(at, 'results/1-0', RESULT(0, 9));
    put(at, 'results/1-1', RESULT(1, 3));
    put(at, 'bases/1-0', '0 -1 -\n');
    put(at, 'output/1.log', 'slurm says\n');
    put(at, 'output/1-1.err', 'program says\n');
    const published = { epoch: 1_000_000, step: 5, path: 'a' };
    writeFileSync(join(at.root, 'checkpoints', job, 'pub', markerName(published)), '');
    writeFileSync(join(at.root, 'checkpoints', job, 'pub', markerName({ ...published, epoch: 2_000_000 })), '');
    const seen = await session.observe([target({ run: 1, seen: 'running.1.' })]);
    expect(seen).toMatchObject({
      complete: true,
      changed: [
        {
          kind: 'ended',
          run: 1,
          missing: [],
          processes: 'gone',
          outcome: { cause: 'exited', detail: { code: 3 }, observedAt: 42 },
          runs: [{ run: 0, latest: published, publications: 1 }],
        },
      ],
    });
    const text = JSON.stringify(seen);
    for (const words of ['slurm says', 'program says']) expect(text).toContain(words);
  });

  it('P5.6: absent only where accounting answered, and never together with a failed source', async () => {
    const at = site();
    const session = await sent(at);
    expect(await session.observe([target()])).toMatchObject({ complete: true, absent: [{ n: 1 }], changed: [] });
    at.client('sacct', 'echo "Connection refused" >&2; exit 1');
    expect(await session.observe([target()])).toMatchObject({ complete: false, absent: [], changed: [] });
    at.client('sacct', 'echo "Slurm accounting storage is disabled" >&2; exit 1');
    expect(await session.observe([target()])).toMatchObject({ complete: true, absent: [{ n: 1 }] });
    put(at, 'results/1-0', RESULT(0, 0));
    expect(await session.observe([target()])).toMatchObject({ changed: [{ outcome: { cause: 'completed', confidence: 'likely' } }] });
  });

  it('C005: forgotten by the controller, accounting says how it ended; no id is ever asked of the controller', async () => {
    const at = site();
    const session = await sent(at);
    put(at, 'results/1-0', RESULT(0, 0));
    claim(at, '1-0', '77-0-abc');
    at.client('squeue', 'case $* in *-j*) echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1 ;; esac');
    at.client('sacct', say(accounted('77', identity, 'COMPLETED')));
    expect(await session.observe([target()])).toMatchObject({
      complete: true,
      absent: [],
      changed: [{ kind: 'ended', missing: [], outcome: { state: 'succeeded', cause: 'completed', confidence: 'certain' } }],
    });
  });

  it('C020: one empty answer of the controller ends nothing, whatever the program printed', async () => {
    const at = site();
    const session = await sent(at);
    claim(at, '1-0', '77-0-abc');
    at.client('sacct', 'echo "Slurm accounting storage is disabled" >&2; exit 1');
    put(at, 'output/1-0.err', 'slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-03-01T10:00:00 ***\n');
    expect(await session.observe([target()])).toMatchObject({ changed: [], absent: [{ n: 1 }] });
    at.client('squeue', say(row('77', identity, 'RUNNING')));
    expect(await session.observe([target()])).toMatchObject({ changed: [], absent: [] });
  });

  it('C031: of 64 tasks the first that ended is the cause, also where later lines fill the log', async () => {
    const at = site();
    const session = await sent(at);
    claim(at, '1-0', '77-0-abc');
    at.client('squeue', say(row('77', identity, 'FAILED', NOW, 'NonZeroExitCode')));
    at.client('sacct', say(accounted('77', identity, 'FAILED')));
    put(at, 'results/1-0', RESULT(0, 143));
    const killed = Array.from({ length: 63 }, (_, i) => `srun: error: n${i}: task ${i}: Terminated ${'.'.repeat(80)}`).join('\n');
    put(at, 'output/1-0.err', `${'progress\n'.repeat(5000)}srun: error: n17: task 17: Exited with exit code 41\n${killed}\n`);
    expect(await session.observe([target()])).toMatchObject({ changed: [{ outcome: { cause: 'exited', detail: { code: 41 } } }] });
  });

  it('P4.2: a refusal counts for the object that it names, in the run that it names', async () => {
    const at = site();
    const session = await sent(at);
    put(at, 'refused/78-0', 'guard: never released\n');
    expect(await session.observe([target()])).toMatchObject({ absent: [{ n: 1 }] });
    put(at, 'refused/77-0', 'guard: never released\n');
    expect(await session.observe([target()])).toMatchObject({ changed: [{ outcome: { cause: 'launch_failed', ran: 'no' } }] });
  });

  it('a control folder or a pub/ that cannot be read is missing evidence', async () => {
    const at = site();
    const session = await sent(at);
    at.client('squeue', say(row('77', identity, 'COMPLETED')));
    at.client('sacct', say(accounted('77', identity, 'COMPLETED')));
    rmSync(join(at.root, 'checkpoints'), { recursive: true });
    rmSync(join(at.root, TAG), { recursive: true });
    expect(await session.observe([target()])).toMatchObject({ changed: [{ missing: ['result', 'publications'] }] });
  });

  it('P4.6: a restart tells why the run before ended', async () => {
    const at = site();
    const session = await sent(at);
    at.client('squeue', say(row('77', identity, 'PENDING', NOW + 9, 'BeginTime', 1)));
    at.client('sacct', say(accounted('77', identity, 'PREEMPTED'), accounted('77', identity, 'PENDING', NOW + 9)));
    expect(await session.observe([target({ requeueable: true })])).toMatchObject({
      changed: [{ kind: 'live', state: 'queued', run: 1, lastRunCause: 'preempted' }],
    });
  });

  it('an ended attempt is looked at again for better evidence only', async () => {
    const at = site();
    const session = await sent(at);
    expect(await session.observe([target({ seen: 'ended.0.' })])).toMatchObject({ changed: [], absent: [] });
    at.client('sacct', say(accounted('77', identity, 'TIMEOUT')));
    expect(await session.observe([target({ seen: 'ended.0.' })])).toMatchObject({ changed: [{ outcome: { cause: 'time_limit' } }] });
  });

  it('an adopted object has no control folder: judged by Slurm’s words alone', async () => {
    const at = site();
    const adopted = target({ receipt: { ...receipt, identity: 'train-llm' } });
    at.client('squeue', say(row('77', 'train-llm', 'FAILED', NOW, 'NonZeroExitCode')));
    at.client('sacct', say(accounted('77', 'train-llm', 'FAILED')));
    expect(await (await at.open()).observe([adopted])).toMatchObject({ changed: [{ kind: 'ended', missing: [], runs: [] }] });
  });

  it('P5.4: a controller that does not answer is unreachable, with its words', async () => {
    const at = site();
    at.client('squeue', 'echo "Unable to contact slurm controller (connect failure)" >&2; exit 1');
    expect(await (await at.open()).observe([target()])).toMatchObject({
      kind: 'unreachable',
      says: expect.stringContaining('connect failure'),
    });
  });

  it('output sizes of all jobs are read in one program', async () => {
    const at = site();
    const session = await sent(at);
    put(at, 'output/1-0.out', '12345');
    put(at, 'output/1-0.err', '1');
    put(at, 'output/2-0.out', 'of another attempt');
    expect(await session.outputBytes!([target()])).toEqual(new Map([['77', 6]]));
  });
});

const claim = (at: Site, name: string, text: string): void => symlinkSync(text, join(at.root, TAG, job, 'claims', name));

describe('publications', () => {
  it('P2.1: a job of which nothing was sent has none; one whose pub/ is gone cannot be listed', async () => {
    const at = site();
    const session = await at.open();
    expect(await session.listPublications(job, spec())).toEqual({ publications: [], bases: [] });
    await session.submit(submission());
    const publication = { epoch: 1_000_000, step: 3, path: "a 'b'" };
    writeFileSync(join(at.root, 'checkpoints', job, 'pub', markerName(publication)), '');
    writeFileSync(join(at.root, 'checkpoints', job, 'pub', 'stray'), '');
    writeFileSync(join(at.root, TAG, job, 'bases', '1-0'), '0 -1 -\n');
    expect(await session.listPublications(job, spec())).toEqual({
      publications: [publication],
      bases: [{ n: 1, run: 0, base: { epoch: 0, step: -1, path: '' } }],
    });
    rmSync(join(at.root, 'checkpoints'), { recursive: true });
    expect(await session.listPublications(job, spec())).toBeUndefined();
  });

  it('without the cluster’s root there is no proof of anything', async () => {
    const at = site();
    const session = await at.open();
    rmSync(at.root, { recursive: true });
    expect(await session.listPublications(job, spec())).toBeUndefined();
  });
});

describe('probe', () => {
  it('a root whose folder of control files is closed to this login takes no submission, and says which folder', async () => {
    const at = site();
    const session = await at.open();
    const evidenceOf = async () => (await session.probe(0)).capabilities.submit_allowed.evidence;
    const closed = join(at.root, TAG);
    expect(await evidenceOf()).not.toContain(closed);
    writeFileSync(closed, '');
    expect((await session.probe(0)).capabilities.submit_allowed.support).toBe('no');
    expect(await evidenceOf()).toBe(`${closed} does not exist or cannot be written to`);
  });
});

describe('connect', () => {
  it('contract §12: a login that the configuration does not name is cluster/no_login', async () => {
    await expect(site().open({ transports: () => undefined })).rejects.toMatchObject({ code: 'cluster/no_login', sent: 'no' });
  });

  it('P3.6: a connection that breaks shows as unreachable in every verb', async () => {
    const session = await site().open();
    await session.close();
    expect(await session.clock()).toBeUndefined();
    expect((await session.find(job)).kind).toBe('unreachable');
    expect((await session.observe([])).kind).toBe('unreachable');
    expect((await session.fence(job, 'stop')).kind).toBe('unreachable');
    expect((await session.cancel(receipt)).kind).toBe('unreachable');
    expect(await session.submit(submission())).toMatchObject({ kind: 'uncertain', sent: 'no' });
    expect(await session.listPublications(job, spec())).toBeUndefined();
    expect((await session.probe(0)).capabilities.submit_allowed.support).toBe('unknown');
  });
});
