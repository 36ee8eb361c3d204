/** The adapter against hostile text, full disks, slow file systems and neighbours with odd names, under a real sh. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Target } from '../../../lib/cluster/port.ts';
import { parseMark } from '../../../lib/cluster/slurm/control-files.ts';
import { observeAll } from '../../../lib/cluster/slurm/observation.ts';
import { type Asked, prelude } from '../../../lib/cluster/slurm/remote.ts';
import { FIELD } from '../../../lib/cluster/slurm/squeue.ts';
import { identityOf, newJobId } from '../../../lib/job/identity.ts';
import { seeded } from './seeded.ts';
import { accounted, identity, job, NOW, receipt, row, type Site, say, shown, site, spec, submission, TAG, target } from './site.ts';

const mkfifo = (path: string): void => void spawnSync('mkfifo', [path]);
const control = (at: Site): string => join(at.root, TAG, job);
const QUOTES = "'".repeat(64 * 1024);

describe('submission of hostile text', () => {
  it('the largest spec that is allowed, all of it quotes, is sent whole', async () => {
    const at = site();
    at.client('scontrol', shown());
    const env = Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`Q${i}`, QUOTES.slice(0, 1024)]));
    const session = await at.open();
    expect((await session.submit(submission({ spec: spec({ program: { script: QUOTES, env, secrets: {} } }) }))).kind).toBe('accepted');
    const files = readdirSync(join(control(at), 'files')).filter((name) => !name.endsWith('.sh'));
    expect(readFileSync(join(control(at), 'files', files[0]!), 'utf8')).toBe(QUOTES);
  });

  it('every text of a user arrives at sbatch as one word, and nothing of it runs', async () => {
    const at = site();
    const evil = (name: string): string =>
      `${name}$(touch ${at.root}/ran)\`touch ${at.root}/ran\`;touch ${at.root}/ran #'"\\\n\r--wrap=id é`;
    const extensions = {
      slurm: { partition: evil('p'), account: evil('a'), qos: evil('q'), constraint: evil('c'), reservation: evil('r') },
    };
    at.client('sbatch', `for word in "$@"; do printf '%s\\0' "$word"; done > ${at.root.replaceAll(/([ '])/g, '\\$1')}/words; echo 77`);
    at.client('scontrol', shown());
    const program = { command: [evil('w')], workdir: `/${evil('d')}`, env: { E: evil('e') }, secrets: {} };
    const hostile = spec({ program, checkpoint: { root: `${at.root}/ck$(touch ran)'`, required: false }, extensions, name: evil('n') });
    expect((await (await at.open()).submit(submission({ spec: hostile, excludeNodes: [evil('x')] }))).kind).toBe('accepted');
    const words = readFileSync(join(at.root, 'words'), 'utf8').split('\0');
    expect(words).toContain(`--partition=${evil('p')}`);
    expect(words).toContain(`--account=${evil('a')}`);
    expect(words).toContain(`--exclude=${evil('x')}`);
    expect(existsSync(join(at.root, 'ran'))).toBe(false);
    expect(existsSync(`${at.root}/ck$(touch ran)'/${job}/pub`)).toBe(true);
  });

  it('a percent sign in a path is itself, not a pattern of Slurm', async () => {
    const at = site();
    at.client('scontrol', shown());
    await (await at.open({ root: `${at.root}/a%j` })).submit(submission());
    expect(at.calls().find((one) => one.startsWith('sbatch'))).toContain(`a%%j/${TAG}/${job}/output/1.log`);
  });

  it('contract §4: a secret that cannot be had or held sends nothing, and no word of it is told', async () => {
    const at = site();
    const wanted = submission({ spec: spec({ program: { script: ':', env: {}, secrets: { A: { ref: 'x' } } } }) });
    for (const secret of [async () => 'hunter2\0', async () => Promise.reject(new Error('hunter2'))]) {
      const said = await (await at.open({ secret })).submit(wanted);
      expect(said).toMatchObject({ kind: 'not_now' });
      expect(JSON.stringify(said)).not.toContain('hunter2');
    }
    const said = await (await at.open({ tokenOf: async () => Promise.reject(new Error('hunter2')) })).submit(submission());
    expect(said).toMatchObject({ kind: 'uncertain', sent: 'no' });
    expect(JSON.stringify(said)).not.toContain('hunter2');
    expect(at.calls()).toEqual([]);
  });

  it('contract §4: secrets of an attempt that will never run do not stay on the cluster', async () => {
    const at = site();
    const wanted = submission({ spec: spec({ program: { script: ':', env: {}, secrets: { A: { ref: 'x' } } } }) });
    const session = await at.open({ secret: async () => 'hunter2' });
    at.client('sbatch', 'echo "sbatch: error: Batch job submission failed: Invalid qos specification" >&2; exit 1');
    expect((await session.submit(wanted)).kind).toBe('refused');
    expect(readdirSync(join(control(at), 'secrets'))).toEqual([]);
    at.client('sbatch', 'echo 77');
    at.client('scontrol', shown());
    expect((await session.submit(wanted)).kind).toBe('accepted');
    expect(readdirSync(join(control(at), 'secrets'))).toEqual(['1']);
    // Its own mark and a later attempt's submission leave them; the later one's mark keeps attempt 1 from ever running.
    await session.fence(job, { n: 1, schedulerId: '77' });
    for (const n of [2, 10]) expect((await session.submit({ ...wanted, n, identity: identityOf(TAG, job, n) })).kind).toBe('accepted');
    expect(readdirSync(join(control(at), 'secrets')).sort()).toEqual(['1', '10', '2']);
    await session.fence(job, { n: 2, schedulerId: '78' });
    expect(readdirSync(join(control(at), 'secrets')).sort()).toEqual(['10', '2']);
    await session.fence(job, 'stop');
    expect(readdirSync(join(control(at), 'secrets'))).toEqual([]);
    expect(at.calls().join('\n')).not.toContain('hunter2');
  });

  it('a patience that was over before the attempt could be sent is not sent: Slurm would call it a bad time limit', async () => {
    const at = site();
    const gate = { mechanism: 'begin', selfDestructs: true, clusterExpiresAt: (NOW - 1) * 1000 } as const;
    expect(await (await at.open()).submit(submission({ gate, patienceSeconds: 1 }))).toMatchObject({ kind: 'uncertain', sent: 'no' });
    expect(at.calls().filter((one) => one.startsWith('sbatch'))).toEqual([]);
  });

  it('the PATH of a login that has none does not begin with the folder that one stands in', () => {
    const seen = spawnSync('/bin/sh', ['-c', `${prelude('n')}printf '%s' "$PATH"`], { env: { PATH: '' }, encoding: 'utf8' });
    expect(seen.stdout).toMatch(/^\/usr/);
  });
});

describe('neighbours with odd names', () => {
  it.each([
    ['separators', `x\x1ey${FIELD}z`],
    ['a line that ends a row', `x\x1e\n9${FIELD}b`],
  ])('P3.6: a job of the same login whose name holds %s keeps nobody from being proved absent', async (_name, odd) => {
    const at = site();
    at.client('squeue', say(row('9', odd, 'RUNNING')));
    expect((await (await at.open()).find(job)).kind).toBe('absent');
    // Unless it might be the very one.
    at.client('squeue', say(row('9', `${identity}${odd}`, 'RUNNING')));
    expect((await (await at.open()).find(job)).kind).toBe('unreachable');
  });

  it('contract §1: names differ by their case, and a longer name is another one', async () => {
    const at = site();
    const names = [identity.toUpperCase(), `${identity}0x`, `x${identity}`, `${identity} `, identity.replace(TAG, 'tst1')];
    at.client('squeue', say(...names.map((name, i) => row(String(i + 1), name, 'RUNNING'))));
    at.client('sacct', say(...names.map((name, i) => accounted(String(i + 1), name, 'COMPLETED'))));
    expect((await (await at.open()).find(job)).kind).toBe('absent');
  });

  it('P3.6: the attempts asked for in accounting are the last ones, however many there were', async () => {
    const at = site();
    const session = await at.open();
    mkdirSync(join(control(at), 'sent'), { recursive: true });
    writeFileSync(join(control(at), 'sent', '1005'), `${NOW}\n`);
    await session.find(job);
    const asked = at.calls().find((one) => one.startsWith('sacct'))!;
    expect(asked).toContain(`${identityOf(TAG, job, 1005)},`);
    expect(asked).toContain(identityOf(TAG, job, 1007));
    expect(asked.split(',').filter((one) => one.includes(job)).length).toBeLessThanOrEqual(1000);
  });
});

describe('marks', () => {
  it('P4.2: a full disk leaves no mark, and the mark comes once there is room', async () => {
    const at = site();
    const session = await at.open();
    // What a full disk does: the write fails, the file is there and empty.
    at.client('dd', 'exit 1');
    expect((await session.fence(job, { n: 1, schedulerId: '77' })).kind).toBe('unreachable');
    expect((await session.fence(job, 'stop')).kind).toBe('unreachable');
    expect(readdirSync(join(control(at), 'release'))).toEqual([]);
    at.client('dd', 'exec /usr/bin/dd "$@"');
    expect(await session.fence(job, { n: 1, schedulerId: '77' })).toMatchObject({ kind: 'marked', holds: '77' });
    expect(await session.fence(job, 'stop')).toMatchObject({ kind: 'marked', holds: '' });
    // Hard links between folders are not everywhere to be had: each mark is written beside itself.
    expect(readdirSync(control(at)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('P4.2: of many fences at once one wins, and all read the same whole mark', async () => {
    const at = site();
    const answers = await Promise.all(
      ['77', '78', '79', '80'].map(async (schedulerId) => (await at.open()).fence(job, { n: 1, schedulerId })),
    );
    expect(new Set(answers.map((one) => one.kind === 'marked' && one.holds)).size).toBe(1);
    expect(parseMark(readFileSync(join(control(at), 'release', '1'), 'utf8'))).toBeDefined();
    expect(readdirSync(join(control(at), 'release'))).toEqual(['1']);
  });
});

describe('observation under attack', () => {
  const put = (at: Site, path: string, text: string): void => writeFileSync(join(control(at), path), text);
  const sent = async (at: Site) => {
    const session = await at.open();
    await session.submit(submission());
    return session;
  };

  it('P4.2: the refusal of a second start of the same run does not deny what the first one did', async () => {
    const at = site();
    const session = await sent(at);
    symlinkSync('77-0-feed', join(control(at), 'claims', '1-0'));
    at.client('squeue', say(row('77', identity, 'FAILED', NOW, 'NonZeroExitCode')));
    at.client('sacct', say(accounted('77', identity, 'FAILED')));
    const seen = () => session.observe([target()]);
    for (const says of ['guard: run 0 is claimed by 77-0-feed', 'told: to end before run 0 was claimed']) {
      put(at, 'refused/77-0', `${says}\n`);
      expect(await seen()).toMatchObject({ changed: [{ outcome: { ran: 'yes' }, missing: ['result'] }] });
    }
    put(at, 'results/1-0', 'id=77\nrun=0\nexit=3\nsignal=\nstopped=\ntold=no\nstarted=1\nended=2\nend\n');
    expect(await seen()).toMatchObject({ changed: [{ outcome: { cause: 'exited', detail: { code: 3 } }, missing: [] }] });
    // A claim by another object is a refusal all the same.
    put(at, 'refused/77-1', 'guard: run 1 is claimed by 78-1-feed\n');
    at.client('squeue', say(row('77', identity, 'FAILED', NOW, 'NonZeroExitCode', 1)));
    expect(await seen()).toMatchObject({ changed: [{ outcome: { cause: 'launch_failed', ran: 'no' } }] });
  });

  it('a program that fills the control folder costs its own job evidence, and no other job anything', async () => {
    const at = site();
    const session = await sent(at);
    for (const folder of ['results', 'bases']) for (let i = 0; i < 500; i++) put(at, `${folder}/1-${i + 1}`, 'x'.repeat(2048));
    for (let i = 0; i < 500; i++) put(at, `refused/77-${i + 1}`, 'guard: x\n');
    for (const pipe of ['results/1-501', 'refused/77-501', 'bases/1-501', 'output/1.log', 'output/1-0.err'])
      mkfifo(join(control(at), pipe));
    at.client('head', 'exec /usr/bin/head "$@"');
    at.client('squeue', say(row('77', identity, 'FAILED', NOW, 'NonZeroExitCode')));
    at.client('sacct', say(accounted('77', identity, 'FAILED')));
    expect(await session.observe([target()])).toMatchObject({ complete: true, changed: [{ kind: 'ended' }] });
    expect(at.calls().filter((one) => one.startsWith('head')).length).toBeLessThan(100);
  });

  it('every look at a file system that a user named has a time limit of its own', async () => {
    const at = site();
    const session = await sent(at);
    at.client('timeout', 'case "$*" in *" ls "*) exit 137 ;; esac; exec /usr/bin/timeout "$@"');
    at.client('squeue', say(row('77', identity, 'COMPLETED')));
    at.client('sacct', say(accounted('77', identity, 'COMPLETED')));
    put(at, 'results/1-0', 'id=77\nrun=0\nexit=0\nsignal=\nstopped=\ntold=no\nstarted=1\nended=2\nend\n');
    expect(await session.observe([target()])).toMatchObject({ changed: [{ outcome: { cause: 'completed' }, missing: ['publications'] }] });
    expect(await session.listPublications(job, spec())).toBeUndefined();
  });

  const targets = (count: number): Target[] =>
    Array.from({ length: count }, (_, i) => {
      const other = newJobId(NOW * 1000 + i, seeded(i));
      return target({ job: other, receipt: { ...receipt, schedulerId: String(1000 + i), identity: identityOf(TAG, other, 1) } });
    });
  const answered = (sections: Record<string, string>): Asked => ({
    kind: 'answered',
    answers: new Map(Object.entries(sections).map(([name, stdout]) => [name, { exitCode: 0, stdout, stderr: '' }])),
  });

  it('an answer that is too long is asked for in smaller parts; one job alone that is too long costs only itself', async () => {
    const all = targets(50);
    const greedy = all[7]!.job;
    let asked = 0;
    const seen = await observeAll(all, {
      at: { root: '/r', tag: TAG },
      cluster: 'c1',
      login: 'alice',
      now: () => 0,
      random: () => 0,
      ask: async (program) => {
        if (program.includes('ask squeue')) return answered({ clock: String(NOW), squeue: '' });
        asked += 1;
        if (program.includes(greedy)) return { kind: 'unreachable', says: 'too much', sent: 'maybe', tooLong: true };
        const ids = /'-j' '([\d,]+)'/.exec(program)?.[1]?.split(',') ?? [];
        const rows = all.filter(({ receipt: { schedulerId } }) => ids.includes(schedulerId));
        return answered({
          uid: '1',
          sacct0: rows.map((one) => `${accounted(one.receipt.schedulerId, one.receipt.identity, 'TIMEOUT')}\n`).join(''),
        });
      },
    });
    expect(seen).toMatchObject({ kind: 'observed', complete: false });
    expect(seen.kind === 'observed' && seen.changed.length).toBe(49);
    expect(asked).toBeLessThan(16);
  });

  it('P5.8: a look that runs out of time begins elsewhere next time, and all of it fits a poll’s 50 s', async () => {
    const all = targets(200);
    const first = new Set<string>();
    for (const random of [() => 0, () => 0.3, () => 0.6, () => 0.9]) {
      let clock = 0;
      let longest = 0;
      const seen = await observeAll(all, {
        ...{ at: { root: '/r', tag: TAG }, cluster: 'c1', login: 'alice', now: () => clock, random },
        ask: async (program, limits) => {
          longest = clock + limits.timeoutSeconds * 1000;
          if (program.includes('ask squeue')) {
            clock += limits.timeoutSeconds * 1000;
            return answered({ clock: String(NOW), squeue: '' });
          }
          first.add(/files j0 '([^']*)'/.exec(program)![1]!);
          clock += limits.timeoutSeconds * 1000;
          return { kind: 'unreachable', says: 'hung', sent: 'maybe' };
        },
      });
      expect(seen).toMatchObject({ complete: false, absent: [] });
      expect(longest).toBeLessThanOrEqual(40_000);
    }
    expect(first.size).toBeGreaterThan(1);
  });

  it('contract §8: evidence fits 8 KiB in bytes and stays well-formed, whatever the letters', async () => {
    const at = site();
    const session = await sent(at);
    const wide = '𝄞'.repeat(4000);
    at.client('squeue', say(row('77', identity, 'FAILED', NOW, wide)));
    at.client('sacct', say(accounted('77', identity, 'FAILED')));
    put(at, 'output/1.log', `x${wide}`);
    put(at, 'refused/77-0', `workdir: ${wide}\n`);
    const seen = await session.observe([target()]);
    const text = JSON.stringify(seen);
    expect(seen).toMatchObject({ changed: [{ outcome: { cause: 'launch_failed', detail: { stage: 'workdir' } } }] });
    const outcome = (seen as unknown as { changed: { outcome: { evidence: unknown; detail: unknown } }[] }).changed[0]!.outcome;
    expect(Buffer.byteLength(JSON.stringify(outcome.evidence))).toBeLessThanOrEqual(8 * 1024);
    expect(text.isWellFormed() && !/\\ud[89a-f]/i.test(text)).toBe(true);
  });
});

describe('acts', () => {
  it('a cancel of what ended in between is done', async () => {
    const at = site();
    at.client('scontrol', shown());
    at.client('scancel', 'echo "scancel: error: Kill job error on job id 77: Invalid job id specified" >&2; exit 1');
    expect((await (await at.open()).cancel(receipt)).kind).toBe('sent');
  });
  it('contract §7a: an id that is no number never reaches a shell', async () => {
    const at = site();
    const evil = { ...receipt, schedulerId: `77; touch "$HOME/ran"` };
    const session = await at.open();
    at.client('scontrol', `echo "JobId=${evil.schedulerId.replaceAll(/(["$])/g, '\\$1')} JobName=${identity} SubmitTime=${NOW} x"`);
    await session.cancel(evil);
    await session.release(evil, { mechanism: 'hold', selfDestructs: false });
    await session.observe([target({ receipt: evil })]);
    await session.outputBytes!([target({ receipt: evil })]);
    expect(existsSync(join(at.root, '..', 'ran'))).toBe(false);
  });
});
