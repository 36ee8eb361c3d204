/** The command line as its caller sees it: what it prints and its exit code, against the real API in virtual time. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
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
  const lost = (): never => {
    throw Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) });
  };
  /** What becomes of the answers from now on, in order; those after them arrive as they are. */
  const network: ((answer: Response) => Response)[] = [];
  const run = async (args: readonly string[], as = token) => {
    const said = { out: '', warned: '' };
    let code: number | undefined;
    const ends = runDispatch(['--url', 'http://dispatch.test/', ...(as === '' ? [] : ['--token-file', as]), ...args], {
      // The API itself, without a network in between.
      fetch: async (address, init) => {
        const { pathname, search } = new URL(String(address));
        asked.push(`${init?.method} ${pathname}${search}`);
        const answer = await world.api.request(`${pathname}${search}`, { ...init, signal: null } as RequestInit);
        return network.shift()?.(answer) ?? answer;
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
    // Files are read in real time, before the first call: the clock waits for it.
    const before = asked.length;
    for (let i = 0; i < 100_000 && asked.length === before && code === undefined; i++) await setImmediate();
    for (let i = 0; i < 4000 && code === undefined; i++) {
      await setImmediate();
      await world.clock.advance(1000);
    }
    return { code: await ends, ...said };
  };
  return { ...world, run, asked, network, lost };
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

  const gateway = (): Response => new Response('{"message":"Endpoint request timed out"}', { status: 504 });
  const brokenOff = (): Response => new Response(new ReadableStream({ start: (at) => at.error(new Error('reset')) }));
  test.each([
    ['lost', undefined, 'ECONNRESET'],
    ['a gateway’s, which gave up first', gateway, 'status 504: Endpoint request timed out'],
    ['a proxy’s', () => new Response('<html>', { status: 200 }), 'what is no answer of dispatch'],
    ['broken off', brokenOff, 'broke off: reset'],
  ])('when the answer is %s it says how to repeat it, exit 3, and the repeat is the same job', async (_, instead, says) => {
    const { run, network, lost, memory } = await cli();
    network.push(instead ?? lost);
    const said = await run(['submit', '-']);
    expect(said).toMatchObject({ code: 3, out: '', warned: expect.stringContaining(says) });
    const key = /repeat it with --key (\S+),/.exec(said.warned)?.[1];
    expect((await run(['submit', '-', '--key', String(key)])).code).toBe(0);
    expect(memory.dump().jobs.size).toBe(1);
  });

  test('an outage while a job is watched is not its end', async () => {
    const { run, network, lost } = await cli();
    const [submitted] = [(answer: Response) => answer];
    network.push(submitted, submitted, lost, gateway, () => new Response('{"code":"request/too_many_watches"}', { status: 429 }));
    const { code, out, warned } = await run(['submit', '-', '--watch']);
    expect(code).toBe(0);
    expect(out).toMatch(/\n\nSucceeded[^\n]*\n/);
    expect(warned.match(/; again in \d s\n/g)).toEqual(['; again in 1 s\n', '; again in 2 s\n', '; again in 4 s\n']);
  });

  test('what cannot be asked at all is told at once, exit 3', async () => {
    const { run, network, lost, asked } = await cli();
    network.push(lost);
    expect(await run(['watch', '0000000000000000'])).toMatchObject({
      code: 3,
      warned: 'http://dispatch.test cannot be asked: ECONNRESET\n',
    });
    expect(asked).toHaveLength(1);
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
    expect([code, warned.join('')]).toEqual([3, 'http://127.0.0.1:8080 answered 200 with what is no answer of dispatch\n']);
  });

  test('an answer without end is read up to a bound', async () => {
    const { run, network } = await cli();
    let pulled = 0;
    const endless = new ReadableStream({
      pull: (at) => {
        pulled += 1;
        at.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    network.push(() => new Response(endless));
    expect(await run(['jobs'])).toMatchObject({ code: 3, warned: expect.stringContaining('no answer of dispatch') });
    expect(pulled).toBeLessThan(20);
  });
});

describe('how it is called', () => {
  test.each([
    [['nonsense'], 'unknown command'],
    [['collect', 'x'], "required option '--keep"],
    [['collect', 'x', '--keep', '1'], 'a whole number from 2 to 1000'],
    [['plan', '/nowhere/spec.json'], '/nowhere/spec.json: cannot be read (ENOENT)'],
    [['--url', 'ftp://x', 'jobs'], 'must be an http or https address'],
    [['--url', 'http://me:hunter2@x', 'jobs'], '--url: must not hold a name or password; give a token by --token-file\n'],
  ])('%j is a mistake, exit 2, and asks nothing', async (args, says) => {
    const { run, asked } = await cli();
    const said = await run(args);
    expect(said.code).toBe(2);
    expect(said.warned).toContain(says);
    expect(said.warned).not.toContain('hunter2');
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

describe('questions', () => {
  test('about a cluster are listed under its id, and answered by it', async () => {
    const { run, world, clock, ask } = await cli();
    world.unreachable(true);
    for (let hour = 0; hour < 7; hour++) await clock.advance(3_600_000);
    expect((await run(['questions'])).out).toMatch(/^here {2}q1 {2}wait,block_submissions /);
    const op = await file('op-token', 'op');
    await chmod(op, 0o600);
    expect(await run(['answer', 'here', 'q1', 'stop'], op)).toMatchObject({ code: 1, warned: expect.stringContaining('answer') });
    expect(await run(['answer', 'here', 'q1', 'block_submissions'], op)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^[^\n]*block[^\n]*\n$/),
    });
    expect((await ask('GET', '/clusters/here')).body['blocked']).toBeDefined();
    expect(await run(['answer', 'nowhere', 'q1', 'wait'], op)).toMatchObject({ code: 1, warned: expect.stringContaining('nowhere') });
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

  test('followed over a relaunch, nothing of either attempt is lost', async () => {
    const { run, submit, until } = await cli();
    const job = await submit({
      ...scripted([{ program: { runsSeconds: 100, ends: 'preempted' } }, { program: { runsSeconds: 200 } }]),
      policy: {
        rules: [{ on: ['preempted'], do: { relaunch: { max: 3, from: 'scratch', backoff: { initial: '1s' } } } }],
        unmatched: 'stop',
        limits: { attempts: 2 },
      },
    });
    await until(job, (status) => status['state'] === 'running');
    const { code, out } = await run(['output', job, '--follow']);
    expect(code).toBe(0);
    const whole = await Promise.all([1, 2].map((n) => run(['output', job, '--attempt', String(n)])));
    expect(whole.every((one) => one.out.length > 50)).toBe(true);
    expect(out).toBe(whole.map((one) => one.out).join(''));
  });

  test('lists go on behind short and empty pages, and say where they stop', async () => {
    const { run, network, asked } = await cli();
    const page = (ids: readonly string[], nextCursor?: string) => () =>
      new Response(JSON.stringify({ items: ids.map((id) => ({ id })), nextCursor }));
    network.push(page([], 'a'), page(['x'], 'b'), page(['y', 'z'], 'c'));
    expect((await run(['jobs', '--state', 'failed', '--limit', '3'])).out).toMatch(/^x\ny\nz\nthere are more: .*\n$/);
    expect(asked).toEqual(['limit=3', 'limit=3&cursor=a', 'limit=2&cursor=b'].map((query) => `GET /jobs?state=failed&${query}`));
  });

  test('words of others steer no terminal, as JSON neither', async () => {
    const { run, network } = await cli();
    const hostile = { id: '\x9b2J\u202e\u{e0041}\x7f', name: 'line\nline' };
    const answer = (): Response => new Response(JSON.stringify({ items: [hostile] }));
    network.push(answer, answer);
    const shown = [await run(['jobs']), await run(['jobs', '--json'])].map(({ out }) => out);
    for (const out of shown) expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(String(shown[1]))).toEqual({ items: [hostile] });
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
