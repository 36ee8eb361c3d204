import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { markerName, parseRefusal, parseResult } from '../../../lib/cluster/slurm/control-files.ts';
import { unsettable, wrapperText } from '../../../lib/cluster/slurm/wrapper.ts';
import { GUARD_EXIT_CODE as GUARD_EXIT } from '../../../lib/job/plan-requeue.ts';
import { appears, isAlive, type Place, place, run, SHELLS, start } from './wrapper-rig.ts';

const places: Place[] = [];
const fresh = (odd?: string): Place => {
  const made = place(odd);
  places.push(made);
  return made;
};
afterAll(() => {
  for (const made of places) made.remove();
});
const resultOf = (at: Place, name = '1-0') => parseResult(at.file(`control/results/${name}`) ?? '');
const refusalOf = (at: Place, name = '7-0') => parseRefusal(at.file(`control/refused/${name}`) ?? '');

describe.concurrent.each(SHELLS)('the wrapper under %s', (shell) => {
  it.each([
    ['no mark ever', () => undefined, /never released/],
    ['the mark of another object', (at: Place) => at.release(1, 8), /names object 8/],
    ['a mark of a later attempt', (at: Place) => [at.release(1, 7), at.release(2, 9)], /attempt 2 has a release mark/],
    ['a stop mark', (at: Place) => [at.release(1, 7), at.put('control/stop', '- 1\n')], /stopped/],
    [
      'a claim of a later run',
      (at: Place) => [
        at.release(1, 7),
        mkdirSync(join(at.control, 'claims')),
        symlinkSync('7-12-feed', join(at.control, 'claims', '1-12')),
      ],
      /run 12 of this attempt has begun/,
    ],
    [
      'a claim of the same run',
      (at: Place) => [at.release(1, 7), mkdirSync(join(at.control, 'claims')), symlinkSync('7-0-feed', join(at.control, 'claims', '1-0'))],
      /claimed by 7-0-feed/,
    ],
  ])('P4.2: refuses with code and file under %s', async (_name, given, says) => {
    const at = fresh();
    given(at);
    const ended = await run(shell, at, at.facts({ program: at.script('echo ran > "$DISPATCH_EXEC_DIR/ran"') }));
    expect(ended.code).toBe(GUARD_EXIT);
    expect(refusalOf(at)).toMatchObject({ stage: 'guard', says: expect.stringMatching(says) });
    expect(at.list('ck pt/exec')).toEqual([]);
    expect(at.list('control/results')).toEqual([]);
  });

  it('P4.2: a mark that shows late lets it run; marks of earlier attempts and stray files do not matter', async () => {
    const at = fresh();
    at.put('control/release/.7.tmp', '9 1\n');
    at.put('control/release/note', '9 1\n');
    const running = start(
      shell,
      at,
      at.facts({ n: 3, program: at.script('exit 0'), timing: { lateViewSeconds: 30, lookAgainSeconds: 1 } }),
    );
    at.release(2, 6);
    at.release(3, 7);
    expect((await running.ended).code).toBe(0);
    expect(at.list('control/claims')).toHaveLength(1);
  });

  it('P4.2: of two wrappers of one run at once exactly one runs', async () => {
    const at = fresh();
    at.release(1, 7);
    const facts = at.facts({ program: at.script('echo once >> "$DISPATCH_CHECKPOINT_ROOT/ran"') });
    const codes = (await Promise.all([run(shell, at, facts), run(shell, at, facts), run(shell, at, facts)])).map((one) => one.code);
    expect(codes.sort()).toEqual([0, GUARD_EXIT, GUARD_EXIT]);
    expect(at.file('ck pt/ran')).toBe('once\n');
  });

  it('contract 4a: a script sees its environment, keeps its values, runs once in its exec folder', async () => {
    const at = fresh();
    at.release(1, 7);
    const hostile = { GREETING: `it's "x" $(id) \`id\`\n\\ end`, PATH: '/nowhere', IFSX: ' ', LD_LIBRARY_PATH: '/x y' };
    const script = '/usr/bin/env -0 | /usr/bin/sort -z > env; pwd > where; printf "%s" "$GREETING" > greeting';
    const ended = await run(shell, at, at.facts({ env: hostile, program: at.script(script) }));
    expect(ended).toMatchObject({ code: 0, stdout: '' });
    const exec = 'ck pt/exec/1-0';
    expect(at.file(`${exec}/greeting`)).toBe(hostile.GREETING);
    expect(at.file(`${exec}/where`)?.trim()).toBe(join(at.checkpoints, 'exec', '1-0'));
    const env = Object.fromEntries(
      (at.file(`${exec}/env`) ?? '').split('\0').map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)]),
    );
    expect(env).toMatchObject({
      DISPATCH_JOB: '0123456789abcdef',
      DISPATCH_CLUSTER: 'c1',
      DISPATCH_ATTEMPT: '1-0',
      DISPATCH_EPOCH: '1000000',
      DISPATCH_CHECKPOINT_ROOT: at.checkpoints,
      DISPATCH_EXEC_DIR: join(at.checkpoints, 'exec', '1-0'),
      DISPATCH_NODES: '2',
      DISPATCH_NODE_RANK: '0',
      DISPATCH_TASKS_PER_NODE: '1',
      DISPATCH_API_URL: 'https://api.example',
      DISPATCH_TOKEN_FILE: join(at.control, 'token'),
      PATH: `${at.control}/bin:/nowhere`,
    });
    expect(env['DISPATCH_MASTER_ADDR']).toBeTruthy();
    expect(Number(env['DISPATCH_MASTER_PORT'])).toBeGreaterThan(9999);
    expect(env).not.toHaveProperty('DISPATCH_RESUME_FROM');
    expect(env).not.toHaveProperty('DISPATCH_COMPLETION_MARKER');
    expect(env).not.toHaveProperty('LC_ALL');
    expect(statSync(join(at.control, 'token')).mode & 0o777).toBe(0o600);
    expect(at.file('control/bases/1-0')).toBe('0 -1 -\n');
  });

  it('P8.3: a program sees what proves its saves complete, as the spec says', async () => {
    const at = fresh();
    at.release(1, 7);
    const program = at.script('echo "$DISPATCH_COMPLETION_MARKER" > "$DISPATCH_CHECKPOINT_ROOT/seen"');
    await run(shell, at, at.facts({ completionMarker: 'torch-dcp', program }));
    expect(at.file('ck pt/seen')).toBe('torch-dcp\n');
  });

  it('C028 C050: a command runs under srun with a rank per node; output is kept per run and appended', async () => {
    const at = fresh();
    at.release(1, 7);
    at.put('control/output/1-0.out', 'before\n');
    const program = { kind: 'command', words: ['sh', '-c', 'echo "$DISPATCH_NODE_RANK $1"; echo err >&2', 'x', `a 'b' $c`] } as const;
    expect((await run(shell, at, at.facts({ program, cpusPerTask: 3 }))).code).toBe(0);
    expect(at.file('srun.calls')).toMatch(/^--kill-on-bad-exit=1 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=3 /);
    expect(at.file('control/output/1-0.out')).toBe(`before\n0 a 'b' $c\n1 a 'b' $c\n`);
    expect(at.file('control/output/1-0.err')).toBe('err\nerr\n');
  });

  it.each([
    ['exit 3', 3, { exit: 3, told: false }],
    ['exit 0', 0, { exit: 0 }],
    ['kill -9 $$', 137, { exit: 137, signal: 9 }],
    ['exit 79', 79, { exit: 79 }],
  ])('P4.2: `%s` is told by the code and by a whole result file', async (script, code, said) => {
    const at = fresh();
    at.release(1, 7);
    const ended = await run(shell, at, at.facts({ program: at.script(script) }));
    expect(ended.code).toBe(code);
    expect(resultOf(at)).toMatchObject({ id: '7', run: 0, ...said });
    expect(at.list('control/refused')).toEqual([]);
  });

  it('an exit code that would make the cluster requeue never reaches Slurm, only the result file', async () => {
    const at = fresh();
    at.release(1, 7);
    expect((await run(shell, at, at.facts({ program: at.script('exit 88'), requeueExitCodes: [1, 88] }))).code).toBe(2);
    expect(resultOf(at)).toMatchObject({ exit: 88 });
  });

  it('contract §5: a requeue by the supervisor is allowed at the program’s own end, never before, never elsewhere', async () => {
    for (const allowRequeue of [true, false]) {
      const at = fresh();
      at.release(1, 7);
      at.put('bin/scontrol', `#!/bin/sh\necho "$*" >> "$HOME/scontrol.calls"\nls "$HOME/control/results" >> "$HOME/scontrol.calls"\n`);
      chmodSync(join(at.root, 'bin', 'scontrol'), 0o755);
      expect((await run(shell, at, at.facts({ allowRequeue, program: at.script('exit 4') }))).code).toBe(4);
      expect(at.file('scontrol.calls')).toBe(allowRequeue ? 'update JobId=7 Requeue=1\n1-0\n' : undefined);
    }
  });

  it('TERM reaches all of the program, its own code is kept, and the result says that it was told', async () => {
    const at = fresh();
    at.release(1, 7);
    const program = at.script(`trap 'exit 5' TERM; sleep 300 & echo $! > child; touch "$DISPATCH_CHECKPOINT_ROOT/up"; wait`);
    const running = start(shell, at, at.facts({ program }));
    await appears(join(at.checkpoints, 'up'));
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(5);
    expect(resultOf(at)).toMatchObject({ exit: 5, told: true });
    const child = Number(at.file('ck pt/exec/1-0/child'));
    await expect.poll(() => isAlive(child), { timeout: 10_000 }).toBe(false);
  });

  it.each([
    ['a later mark', (at: Place) => at.release(2, 9)],
    ['the claim of a later run', (at: Place) => symlinkSync('9-1-feed', join(at.control, 'claims', '1-1'))],
    ['a stop mark', (at: Place) => at.put('control/stop', '- 1\n')],
  ])('P6.3: %s ends a running program, also one that ignores TERM', async (_name, then) => {
    const at = fresh();
    at.release(1, 7);
    const program = at.script(`trap '' TERM; touch "$DISPATCH_CHECKPOINT_ROOT/up"; while :; do sleep 300; done`);
    const running = start(shell, at, at.facts({ program }));
    await appears(join(at.checkpoints, 'up'));
    then(at);
    expect((await running.ended).code).toBe(137);
    expect(resultOf(at)).toMatchObject({ stopped: 'fenced', exit: 137 });
  });

  it('P6.3: the wrapper enforces the time limit by itself', async () => {
    const at = fresh();
    at.release(1, 7);
    await run(shell, at, at.facts({ timeLimitSeconds: 1, program: at.script('exec sleep 300') }));
    expect(resultOf(at)).toMatchObject({ stopped: 'time_limit', exit: 143, told: false });
  });

  it.each([
    ['given more time by others', 'Restarts=0 StartTime=940 EndTime=1002', 2],
    ['given all the time there is', 'Restarts=0 StartTime=940 EndTime=Unknown', 2],
    ['a limit of seconds within the minutes of Slurm', 'Restarts=0 StartTime=999 EndTime=1059', 1],
    ['no time left', 'Restarts=0 StartTime=900 EndTime=990', 1],
    ['another run of the object', 'Restarts=1 StartTime=940 EndTime=1600', 1],
    ['an answer that does not say of which run', 'StartTime=940 EndTime=1600', 1],
    ['an answer without times', 'JobId=7', 1],
    ['no answer', '; exit 1', 1],
    ['time enough', 'Restarts=0 StartTime=940 EndTime=1600', 0],
  ])('P6.3: when its time is over it goes on only if Slurm can be asked and leaves it more: %s', async (_how, says, asks) => {
    const at = fresh();
    at.release(1, 7);
    at.put('bin/date', '#!/bin/sh\necho 1000\n');
    // The first answer is given, further ones are not.
    const answer = `echo "$SLURM_TIME_FORMAT $*" >> "$HOME/asked"; [ "$(wc -l < "$HOME/asked")" = 1 ] || exit 1`;
    at.put('bin/scontrol', `#!/bin/sh\n${answer}\necho TimeLimit=x ${says} Comment=EndTime=9999999999 EndTime=9999999999\n`);
    for (const tool of ['date', 'scontrol']) chmodSync(join(at.root, 'bin', tool), 0o755);
    const program = asks > 0 ? 'exec sleep 300' : 'until [ -e "$HOME/asked" ]; do sleep 0.1; done';
    await run(shell, at, at.facts({ timeLimitSeconds: 1, program: at.script(program) }));
    expect(at.file('asked')).toBe('%s -o show job 7\n'.repeat(Math.max(1, asks)));
    expect([resultOf(at)?.exit, resultOf(at)?.stopped]).toEqual(asks > 0 ? [143, 'time_limit'] : [0, undefined]);
  });

  it('secrets are sourced by the program alone and removed; kept where a requeue may need them', async () => {
    for (const keep of [false, true]) {
      const at = fresh();
      at.release(1, 7);
      at.put('control/secrets/1', `export TOKEN='it'\\''s'\n`);
      const secrets = { path: join(at.control, 'secrets', '1'), keep };
      const ended = await run(shell, at, at.facts({ secrets, program: at.script('printf %s "$TOKEN" > token') }));
      expect(ended.code).toBe(0);
      expect(at.file('ck pt/exec/1-0/token')).toBe("it's");
      expect(at.list('control/secrets')).toEqual(keep ? ['1'] : []);
    }
  });

  it('a missing working directory and missing secrets are refusals with their stage', async () => {
    const at = fresh();
    at.release(1, 7);
    expect((await run(shell, at, at.facts({ workdir: '/no/such/dir', program: at.script('') }))).code).toBe(GUARD_EXIT);
    expect(refusalOf(at)).toMatchObject({ stage: 'workdir' });
    const other = fresh();
    other.release(1, 7);
    await run(shell, other, other.facts({ secrets: { path: '/no/such/file', keep: false }, program: other.script('') }));
    expect(refusalOf(other)).toMatchObject({ stage: 'secrets' });
    // A later run that lists a bucket with them says what is missing, and not what follows from it.
    const later = fresh();
    later.release(1, 7);
    const facts = later.facts({ checkpoints: 's3://saves/x', secrets: { path: '/no/such/file', keep: true }, program: later.script('') });
    await run(shell, later, facts, 7, 1);
    expect(refusalOf(later, '7-1')).toMatchObject({ stage: 'secrets' });
  });

  describe('P8.2: the resume point', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
    const SEE = 'printf "%s|%s" "${DISPATCH_RESUME_FROM-none}" "${DISPATCH_RESUME_STEP-none}" > "$DISPATCH_CHECKPOINT_ROOT/seen"';
    const publish = (at: Place, epoch: number, step: number, path: string) => at.put(`ck pt/pub/${markerName({ epoch, step, path })}`, '');

    it('run 0 takes that of its plan, whatever is in pub/', async () => {
      const at = fresh();
      at.release(2, 7);
      publish(at, 1_000_000, 900, 'exec/1-0/late');
      const resume = { epoch: 1_000_000, step: 40, path: "exec/1-0/it's é" };
      await run(shell, at, at.facts({ n: 2, resume, program: at.script(SEE) }));
      expect(at.file('ck pt/seen')).toBe(`${at.checkpoints}/${resume.path}|40`);
      expect(at.file('control/bases/2-0')).toMatch(/^1000000 40 [a-z2-7]+\n$/);
    });

    it.each([
      [
        'the greatest of its own earlier runs',
        [
          [2_000_000, 50, 'a'],
          [2_000_000, 60, 'b'],
          [2_000_001, 55, 'c'],
        ],
        'c|55',
      ],
      ['the last base where nothing was published since', [[1_000_000, 99, 'late']], 'base|40'],
      ['nothing below the base', [[2_000_000, 39, 'behind']], 'base|40'],
      [
        'nothing of this run itself or later',
        [
          [2_000_002, 70, 'own'],
          [2_000_003, 80, 'x'],
        ],
        'base|40',
      ],
      ['no name that is not a whole marker', [], 'base|40'],
      [
        'the greater path of two at one step',
        [
          [2_000_000, 60, 'z'],
          [2_000_000, 60, 'é'],
        ],
        'é|60',
      ],
    ] as const)('a later run takes %s', async (_name, published, expected) => {
      const at = fresh();
      at.release(2, 7);
      at.put('control/bases/2-0', '1000000 40 mjqxgzi\n');
      at.put('ck pt/pub/notes.txt', '');
      at.put(`ck pt/pub/${'9'.repeat(20)}-1-me`, '');
      at.put(`ck pt/pub/${markerName({ epoch: 2_000_000, step: 99, path: 'x' })}!`, '');
      for (const [epoch, step, path] of published) publish(at, epoch, step, path);
      await run(shell, at, at.facts({ n: 2, program: at.script(SEE) }), 7, 2);
      expect(at.file('ck pt/seen')).toBe(`${at.checkpoints}/${expected}`);
    });

    it('without any base the plan counts, and *nothing* is no variable', async () => {
      const at = fresh();
      at.release(2, 7);
      publish(at, 1_000_000, 900, 'old');
      await run(shell, at, at.facts({ n: 2, resume: { epoch: 2_000_000, step: -1, path: '' }, program: at.script(SEE) }), 7, 1);
      expect(at.file('ck pt/seen')).toBe('none|none');
      expect(at.file('control/bases/2-1')).toBe('2000000 -1 -\n');
    });
  });
});

describe('the wrapper file', () => {
  it.each(SHELLS)('a file that was cut anywhere is a syntax error under %s and runs nothing', (shell) => {
    const at = fresh('cut');
    at.release(1, 7);
    const text = wrapperText(at.facts({ program: at.script('touch "$DISPATCH_CHECKPOINT_ROOT/ran"') }));
    const lines = [...text.matchAll(/\n/g)]
      .map((match) => match.index + 1)
      .filter((end) => end > '#!/bin/sh\n'.length && end < text.length);
    const cuts = lines.filter((_, i) => i % 7 === 0 || i > lines.length - 5);
    for (const cut of [...cuts, text.length - 2]) {
      const file = join(at.root, 'cut.sh');
      writeFileSync(file, text.slice(0, cut));
      const ended = spawnSync(shell, [file], { env: { PATH: '/usr/bin:/bin', SLURM_JOB_ID: '7' } });
      expect(ended.status, `cut at ${cut}`).toBe(2);
    }
    expect(at.list('control/claims')).toEqual([]);
  });

  it.each([
    ['OK_1', 'x', undefined],
    ['1X', 'x', /not a name/],
    ['A B', 'x', /not a name/],
    ['SHELLOPTS', 'x', /cannot be set/],
    ['A', 'a\0b', /character/],
    ['A', '\ud800', /character/],
  ])('names and values that no environment can hold are told: %s', (name, value, says) => {
    if (says) expect(unsettable(name, value)).toMatch(says);
    else expect(unsettable(name, value)).toBeUndefined();
  });
});
