/** The wrapper against its worst users and nodes: environments, scripts and folders that a guard must not trip over. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseRefusal, parseResult } from '../../../lib/cluster/slurm/control-files.ts';
import { interpreterOf, unsettable, wrapperText } from '../../../lib/cluster/slurm/wrapper.ts';
import { GUARD_EXIT_CODE as GUARD_EXIT } from '../../../lib/job/plan-requeue.ts';
import { appears, type Place, place, run, SHELLS, start } from './wrapper-rig.ts';

const places: Place[] = [];
const fresh = (): Place => {
  const made = place();
  places.push(made);
  made.release(1, 7);
  return made;
};
afterAll(() => {
  for (const made of places) made.remove();
});
const resultOf = (at: Place, name = '1-0') => parseResult(at.file(`control/results/${name}`) ?? '');
const refusalOf = (at: Place, name = '7-0') => parseRefusal(at.file(`control/refused/${name}`) ?? '');
const SHOW = '/usr/bin/env -0 > "$DISPATCH_CHECKPOINT_ROOT/env"';
const shownBy = (at: Place): Record<string, string> =>
  Object.fromEntries((at.file('ck pt/env') ?? '').split('\0').map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)]));

/** Names that some shell keeps, changes, checks or acts upon when they are set. */
const SHELL_NAMES =
  `OPTIND OPTARG RANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME SRANDOM BASHPID FUNCNAME GROUPS DIRSTACK HISTCMD BASH_COMMAND
  BASH_ARGV0 BASH_SUBSHELL BASH_LINENO BASH_SOURCE BASH_ARGC BASH_ARGV BASH_REMATCH COMP_WORDS MAPFILE REPLY PIPESTATUS SHELLOPTS BASHOPTS EUID UID
  PPID IFS PS1 PS2 PS4 ENV BASH_ENV CDPATH PWD OLDPWD SHLVL MAILCHECK MAIL FPATH TMOUT GLOBIGNORE POSIXLY_CORRECT BASH_COMPAT BASH_XTRACEFD
  EXECIGNORE LANG LC_ALL LC_CTYPE HOME TERM _ FCEDIT HISTSIZE IGNOREEOF`.split(/\s+/);
const OURS =
  'd_n d_root d_exec d_control d_job d_script d_workdir d_setsid d_srun d_bash d_secrets d_keep_secrets d_rm d_resume_path d_cr'.split(' ');

describe.concurrent.each(SHELLS)('the wrapper under %s, attacked', (shell) => {
  it('contract 4a: names that the wrapper itself uses are the program’s to set, and change nothing else', async () => {
    const at = fresh();
    at.put('control/secrets/1', `export d_secret_too='s'\nexport d_keep_secrets=yes d_rm=/bin/true\n`);
    const env = { ...Object.fromEntries(OURS.map((name) => [name, `user's ${name}`])), SLURM_JOB_ID: '1', SLURM_RESTART_COUNT: '9' };
    const secrets = { path: join(at.control, 'secrets', '1'), keep: false };
    const ended = await run(shell, at, at.facts({ env, secrets, program: at.script(SHOW) }));
    expect(ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(shownBy(at)).toMatchObject({
      ...env,
      d_secret_too: 's',
      d_keep_secrets: 'yes',
      d_rm: '/bin/true',
      DISPATCH_ATTEMPT: '1-0',
      DISPATCH_JOB: '0123456789abcdef',
      DISPATCH_CHECKPOINT_ROOT: at.checkpoints,
      DISPATCH_EXEC_DIR: join(at.checkpoints, 'exec', '1-0'),
    });
    expect(shownBy(at)['PATH']?.startsWith(`${at.control}/bin:`)).toBe(true);
    expect(at.list('control/secrets')).toEqual([]);
    expect(resultOf(at)).toMatchObject({ id: '7', run: 0, exit: 0 });
  });

  it.each(SHELL_NAMES.filter((name) => !unsettable(name, 'x')))('a name that is not refused arrives as it was set: %s', async (name) => {
    const at = fresh();
    const program = { kind: 'script', path: '/usr/bin/true' } as const;
    const words = ['/usr/bin/env', '-0'];
    // Straight from the wrapper into a program that is no shell.
    await run(shell, at, at.facts({ env: { [name]: "od'd x" }, program: { ...program, path: '-0', interpreter: words.slice(0, 1) } }));
    const said = at.file('control/output/1-0.out') ?? '';
    expect(said.split('\0')).toContain(`${name}=od'd x`);
  });

  it.each([
    ['#!/usr/bin/env python3\nimport sys, os\nopen(os.environ["DISPATCH_CHECKPOINT_ROOT"] + "/ran", "w").write("python")\n', 'python'],
    ['#!/bin/sh -e\nfalse\nprintf no > "$DISPATCH_CHECKPOINT_ROOT/ran"\n', undefined],
    ['#! /bin/bash\n[[ 1 == 1 ]] && printf bash > "$DISPATCH_CHECKPOINT_ROOT/ran"\n', 'bash'],
    ['#!/usr/bin/env -S awk -f\nBEGIN { printf "awk" > (ENVIRON["DISPATCH_CHECKPOINT_ROOT"] "/ran") }\n', 'awk'],
    ['\n#!/bin/false\nprintf plain > "$DISPATCH_CHECKPOINT_ROOT/ran"', 'plain'],
    ['#!\nprintf empty > "$DISPATCH_CHECKPOINT_ROOT/ran"\n', 'empty'],
    ['', undefined],
  ])('contract 4: a script is run by what its first line names: %j', async (text, ran) => {
    const at = fresh();
    await run(shell, at, at.facts({ program: { ...at.script(text), ...interpreterOf(text) } }));
    expect(at.file('ck pt/ran')).toBe(ran);
    expect(refusalOf(at)).toBeUndefined();
  });

  it('ends of lines reach the program, but no line of the wrapper is a user’s: sbatch obeys #PBS and #BSUB lines anywhere', async () => {
    const at = fresh();
    const env = { CRLF: `a\r\nit's\r\r\n`, d_cr: 'x\r\ny', d_lf: '\n#PBS -A evil\n', LF: `\n#BSUB -P evil\n\n'\n` };
    const program = {
      kind: 'command',
      words: ['sh', '-c', `printf '%s' "$1" > "$DISPATCH_CHECKPOINT_ROOT/word"; ${SHOW}`, 'x', "b'\r\nc"],
    } as const;
    const facts = at.facts({ env, program });
    expect(wrapperText(facts)).not.toMatch(/\r|^\s*#(PBS|BSUB|SBATCH)/m);
    await run(shell, at, facts);
    expect(shownBy(at)).toMatchObject(env);
    expect(at.file('ck pt/word')).toBe("b'\r\nc");
  });

  it('a node without what runs the program refuses: nobody’s program failed', async () => {
    const at = fresh();
    const program = { ...at.script(SHOW), kind: 'script', interpreter: ['/no/such/interpreter', '-x'] } as const;
    expect((await run(shell, at, at.facts({ program: { ...program, path: '/x' } }))).code).toBe(GUARD_EXIT);
    expect(refusalOf(at)).toMatchObject({ stage: 'configuration', says: expect.stringContaining('/no/such/interpreter') });
  });

  it.each([
    ['claims', 'guard'],
    ['bases', 'checkpoint'],
    ['output', 'output'],
  ])('a control folder where %s cannot be written to refuses before the program starts', async (folder, stage) => {
    const at = fresh();
    at.put(`control/${folder}`, 'a file where a folder should be');
    expect((await run(shell, at, at.facts({ program: at.script('touch "$DISPATCH_CHECKPOINT_ROOT/ran"') }))).code).toBe(GUARD_EXIT);
    expect(refusalOf(at)).toMatchObject({ stage });
    expect(at.file('ck pt/ran')).toBeUndefined();
  });

  it('a program that removes the control folder still leaves its result', async () => {
    const at = fresh();
    await run(shell, at, at.facts({ program: at.script(`rm -rf '${at.control.replaceAll("'", `'\\''`)}'; exit 4`) }));
    expect(resultOf(at)).toMatchObject({ id: '7', exit: 4 });
  });

  it('P6.3: who tells every process of the job to end does not end the watch: a program in its time of grace is still fenced', async () => {
    const at = fresh();
    const running = start(
      shell,
      at,
      at.facts({ program: at.script(`trap '' TERM; touch "$DISPATCH_CHECKPOINT_ROOT/up"; while :; do sleep 300; done`) }),
    );
    await appears(join(at.checkpoints, 'up'));
    const { pid } = running.child;
    for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')) process.kill(Number(child), 'SIGTERM');
    at.put('control/stop', '- 1\n');
    expect((await running.ended).code).toBe(137);
    expect(resultOf(at)).toMatchObject({ stopped: 'fenced', exit: 137 });
  });

  it.each([
    ['it waits for its mark', 'sleep', '*', 'told', 'to end before run 0 was claimed'],
    ['it claimed its run', 'mkdir', '*output*', 'told', 'to end before its program began'],
    ['another start has claimed its run', 'mkdir', '*claims*', 'guard', 'run 0 is claimed by 7-0-feed'],
  ])('TERM when %s: the program does not begin, and the run says so', async (_when, tool, call, stage, says) => {
    const at = fresh();
    if (stage === 'guard') {
      mkdirSync(join(at.control, 'claims'));
      symlinkSync('7-0-feed', join(at.control, 'claims', '1-0'));
    }
    // The wrapper is told in the middle of a step of its own.
    const told = `#!/bin/sh\ncase "$*" in ${call}) kill -TERM "$PPID" ;; esac\nexec /bin/${tool} "$@"\n`;
    writeFileSync(join(at.root, 'bin', tool), told);
    chmodSync(join(at.root, 'bin', tool), 0o755);
    if (tool === 'sleep') rmSync(join(at.control, 'release', '1'));
    const ended = await run(shell, at, at.facts({ program: at.script(SHOW), timing: { lateViewSeconds: 600, lookAgainSeconds: 1 } }));
    expect(ended.code).toBe(GUARD_EXIT);
    expect(refusalOf(at)).toEqual({ stage, says });
    expect(at.list('control/claims')).toEqual(tool === 'sleep' ? [] : ['1-0']);
    expect(existsSync(join(at.checkpoints, 'env'))).toBe(false);
  });

  it.each(['', 'x', '1000000 40', '1000000 forty mjqxgzi', 'one 40 mjqxgzi', '1000000 40 MJ', '1000000 40 mjqxgzi more', '* * *'])(
    'P8.2: a base that is no point is not resumed from: %j',
    async (text) => {
      const at = fresh();
      at.put('control/bases/1-0', `${text}\n`);
      expect((await run(shell, at, at.facts({ program: at.script(SHOW) }), 7, 1)).code).toBe(GUARD_EXIT);
      expect(refusalOf(at, '7-1')).toMatchObject({ stage: 'checkpoint' });
    },
  );

  it('P4.2: claims of one run by two objects: the link itself tells whose it is', async () => {
    const at = fresh();
    const ended = await run(shell, at, at.facts({ program: at.script(SHOW) }));
    expect(ended.code).toBe(0);
    expect(readlinkSync(join(at.control, 'claims', '1-0'))).toMatch(/^7-0-[0-9a-f]{16}$/);
  });
});

it('a node where a result cannot be written whole leaves none', () => {
  const at = fresh();
  // A printf that runs out of space in the middle, as a full disk would.
  writeFileSync(join(at.root, 'bin', 'mv'), '#!/bin/sh\nexit 1\n');
  chmodSync(join(at.root, 'bin', 'mv'), 0o755);
  const text = wrapperText(at.facts({ program: at.script('exit 0') }));
  writeFileSync(join(at.root, 'w.sh'), text);
  const ended = spawnSync('sh', [join(at.root, 'w.sh')], { env: { PATH: `${at.root}/bin:/usr/bin:/bin`, SLURM_JOB_ID: '7' } });
  expect(ended.status).toBe(GUARD_EXIT);
  expect(at.list('control/results')).toEqual([]);
});
