/** The command line as its caller sees it: what it prints and its exit code, against the real API in virtual time. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runDispatch } from '../../lib/cli/run-dispatch.ts';
import { given, SPEC, scripted } from '../api/given.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dispatch-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));
const file = async (name: string, value: unknown): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};

const cli = async () => {
  const world = await given();
  const token = await file('token', 'ada\n');
  await chmod(token, 0o600);
  const asked: string[] = [];
  let lost = 0;
  const loseAnswer = (): void => {
    lost = 1;
  };
  const run = async (args: readonly string[], as = token) => {
    const said = { out: '', warned: '' };
    let code: number | undefined;
    const ends = runDispatch(['--url', 'http://dispatch.test/', ...(as === '' ? [] : ['--token-file', as]), ...args], {
      // The API itself, without a network in between.
      fetch: async (address, init) => {
        const { pathname, search } = new URL(String(address));
        asked.push(`${init?.method} ${pathname}${search}`);
        const answer = await world.api.request(`${pathname}${search}`, { ...init, signal: null } as RequestInit);
        lost -= 1;
        if (lost === 0)
          throw Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) });
        return answer;
      },
      out: (text) => {
        said.out += text;
      },
      warn: (text) => {
        said.warned += text;
      },
      dim: (text) => text,
      sleep: (ms) => new Promise((resolve) => world.clock.after(ms, () => resolve())),
      random: () => 0.5,
      input: async () => JSON.stringify(SPEC),
    }).then((answer) => {
      code = answer;
      return answer;
    });
    for (let i = 0; i < 4000 && code === undefined; i++) await world.clock.advance(1000);
    return { code: await ends, ...said };
  };
  return { ...world, run, asked, loseAnswer };
};

describe('plan and submit', () => {
  test('a plan is told before anything starts; one with a refusal is exit 1', async () => {
    const { run, asked } = await cli();
    const good = await run(['plan', '-']);
    expect(good).toMatchObject({ code: 0, warned: '' });
    expect(good.out).toMatch(/can be submitted as planned; digest [0-9a-f]{64}\n$/);
    const bad = await run(['plan', await file('late.json', { ...SPEC, deadline: '2001-01-01T00:00:00Z' })]);
    expect(bad.code).toBe(1);
    expect(bad.out).toContain('refused');
    expect(asked).toEqual(['POST /plans', 'POST /plans']);
  });

  test('a submission prints its id, and watched it tells everything to the end', async () => {
    const { run } = await cli();
    const { code, out } = await run(['submit', '-', '--watch']);
    expect(code).toBe(0);
    const [id] = out.split('\n');
    expect(id).toMatch(/^[0-9a-z]{16}$/);
    expect(out).toMatch(/\n\+ +0\.0 s {2}job \w+ accepted\n/);
    expect(out).toMatch(/attempt 1 ended: completed\n/);
    expect(out).toMatch(/\n\nSucceeded[^\n]*\n/);
    expect((await run(['show', String(id)])).out).toContain('succeeded');
    expect((await run(['jobs'])).out).toContain(String(id));
  });

  test('a watched job that failed is exit 1', async () => {
    const { run } = await cli();
    const spec = await file('fails.json', scripted([{ program: { runsSeconds: 5, ends: { exit: 3 } } }]));
    const { code, out, warned } = await run(['submit', spec, '--watch']);
    expect([code, warned]).toEqual([1, '']);
    expect(out).toContain('exited with 3');
  });

  test('when the answer is lost it says how to repeat it, and the repeat is the same job', async () => {
    const { run, loseAnswer, memory } = await cli();
    loseAnswer();
    const lost = await run(['submit', '-']);
    expect(lost).toMatchObject({ code: 1, out: '' });
    const key = /repeat it with --key (\S+),/.exec(lost.warned)?.[1];
    expect((await run(['submit', '-', '--key', String(key)])).code).toBe(0);
    expect(memory.dump().jobs.size).toBe(1);
  });
});

describe('what the API refuses', () => {
  test.each([
    ['no token', ['jobs'], 'Nobody is signed in', ''],
    ['an unknown job', ['show', '0000000000000000'], 'There is no such job', undefined],
    ['a fault in the spec', ['submit', 'SPEC'], 'The request is not valid', undefined],
  ])('is said in its own words, exit 1: %s', async (_, args, says, as) => {
    const { run } = await cli();
    const spec = await file('bad.json', { ...SPEC, timeLimt: '1h', resources: { nodes: 0 } });
    const said = await run(
      args.map((word) => (word === 'SPEC' ? spec : word)),
      as,
    );
    expect(said).toMatchObject({ code: 1, out: '' });
    expect(said.warned).toContain(says);
  });

  test('each fault has its line', async () => {
    const { run } = await cli();
    const { warned } = await run(['submit', await file('bad.json', { ...SPEC, timeLimt: '1h', resources: { nodes: 0 } })]);
    expect(warned).toMatch(/\n {2}timeLimt: .*did you mean "timeLimit"/);
    expect(warned).toMatch(/\n {2}resources\.nodes: /);
  });

  test('what is no answer of dispatch is told apart', async () => {
    const warned: string[] = [];
    const code = await runDispatch(['jobs'], {
      fetch: async () => new Response('<html>proxy \x1b[2J</html>', { status: 200 }),
      out: () => undefined,
      warn: (text) => void warned.push(text),
      dim: (text) => text,
      sleep: async () => undefined,
      random: () => 0,
      input: async () => '',
    });
    expect([code, warned.join('')]).toEqual([1, 'http://127.0.0.1:8080 answered 200 with what is no answer of dispatch\n']);
  });
});

describe('how it is called', () => {
  test.each([
    [['nonsense'], 'unknown command'],
    [['collect', 'x'], "required option '--keep"],
    [['collect', 'x', '--keep', '1'], 'a whole number from 2 to 1000'],
    [['plan', '/nowhere/spec.json'], '/nowhere/spec.json: cannot be read (ENOENT)'],
    [['--url', 'ftp://x', 'jobs'], 'must be an http or https address'],
  ])('%j is a mistake, exit 2, and asks nothing', async (args, says) => {
    const { run, asked } = await cli();
    const said = await run(args);
    expect(said.code).toBe(2);
    expect(said.warned).toContain(says);
    expect(asked).toEqual([]);
  });

  test('a token that others may read is not sent', async () => {
    const { run, asked } = await cli();
    const open = await file('open-token', 'ada');
    await chmod(open, 0o644);
    expect(await run(['jobs'], open)).toMatchObject({ code: 2, warned: expect.stringContaining('chmod 600') });
    expect(asked).toEqual([]);
  });

  test('help is exit 0 and names every command', async () => {
    const { run } = await cli();
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    for (const name of ['plan', 'submit', 'jobs', 'show', 'watch', 'cancel', 'questions', 'answer', 'output', 'checkpoints', 'collect'])
      expect(out).toContain(`\n  ${name} `);
  });
});

describe('a running job', () => {
  const long = scripted([{ program: { runsSeconds: 3000, publishes: [10, 20, 30, 40].map((at) => ({ atSeconds: at, step: at })) } }], {
    checkpoint: {},
  });
  const running = async () => {
    const world = await cli();
    const job = await world.submit(long);
    await world.until(job, (status) => status['state'] === 'running');
    await world.clock.advance(120_000);
    return { ...world, job };
  };

  test('its output, its checkpoints, its questions, and its end by hand', async () => {
    const { run, job } = await running();
    expect((await run(['output', job])).out).toMatch(/^\.{59}\n/);
    expect((await run(['output', job, '--stream', 'stderr'])).out).toBe('');
    const listed = (await run(['checkpoints', job, '--refresh'])).out;
    expect(listed).toMatch(/^step 40 {2}1-0 {2}eligible {2}latest {2}exec\/1-0\/step-40\n/);
    // All of them lie in the folder of the run that lives.
    expect((await run(['collect', job, '--keep', '2'])).out).toBe('0 would go, 4 stay; --remove does it\n');
    expect(await run(['questions'])).toMatchObject({ code: 0, out: '' });
    expect(await run(['cancel', job, '--reason', 'enough'])).toMatchObject({ code: 0, warned: '' });
    const told = await run(['watch', job]);
    expect(told.code).toBe(1);
    expect(told.out).toContain('job cancelled');
    expect((await run(['collect', job, '--keep', '2', '--remove'])).out).toMatch(
      /step 10 {2}1-0 {2}exec\/1-0\/step-10\n.*\n2 removed, 2 stay\n$/s,
    );
    expect((await run(['checkpoints', job, '--refresh'])).out.trim().split('\n')).toHaveLength(2);
  });

  test('followed, its output goes on until it has ended', async () => {
    const { run, job, ask } = await running();
    const follows = run(['output', job, '--follow']);
    await ask('POST', `/jobs/${job}/cancel`);
    const { code, out } = await follows;
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(100);
  });

  test('with --json the answer itself is printed', async () => {
    const { run, job } = await running();
    expect(JSON.parse((await run(['show', job, '--json'])).out)).toMatchObject({ id: job, state: 'running' });
    expect(JSON.parse((await run(['--json', 'collect', job, '--keep', '2'])).out)).toMatchObject({ dry: true, kept: 4 });
  });

  test('a question is answered', async () => {
    const { run, submit, until } = await cli();
    const job = await submit({
      ...scripted([{ program: { runsSeconds: 5, ends: { exit: 3 } } }]),
      policy: { rules: [], unmatched: 'escalate', limits: { attempts: 2 } },
    });
    const status = await until(job, (one) => one['state'] === 'awaiting');
    const { id } = status['question'] as { id: string };
    expect((await run(['questions'])).out).toContain(`${job}  ${id}  stop,relaunch`);
    expect(await run(['answer', job, id, 'stop'])).toMatchObject({ code: 0 });
    expect(await run(['answer', job, id, 'stop'])).toMatchObject({ code: 1, warned: expect.stringContaining('The question is closed') });
  });
});
