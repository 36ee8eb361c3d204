/** How a local process starts, refuses to start, and ends, as its caller sees it. */
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newFolder, refused, start } from './child.ts';

/** Every file with its content, but for the table of a running process, which writes it all the time. */
const contents = async (folder: string): Promise<Record<string, string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.endsWith('table'));
  const read = files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return [
      path,
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(read));
};

const oneLine = /^[^\n]+\n$/;

test('it says where it listens, is healthy, serves its document, and ends in order with 0 when it is told to', async () => {
  const data = join(await newFolder(), 'made', 'here');
  const child = await start(['--data', data]);
  expect(await child.get('/health')).toEqual({ status: 200, body: { status: 'ok' } });
  expect(await child.get('/openapi.json')).toMatchObject({ status: 200, body: { openapi: '3.1.0' } });
  expect(await child.get('/notices')).toEqual({ status: 200, body: { items: [], next: 0 } });
  expect(await child.get('/notices?after=x&limit=0')).toMatchObject({
    status: 400,
    body: {
      code: 'request/invalid',
      errors: [
        { in: 'query', path: 'after' },
        { in: 'query', path: 'limit' },
      ],
    },
  });
  const tag = await readFile(join(data, 'tag'), 'utf8');
  expect(await child.kill('SIGTERM')).toBe(0);
  expect(await readdir(data)).not.toContain('lock');
  expect(await readdir(data)).toContain('clean');
  const again = await start(['--data', data]);
  expect(await readFile(join(data, 'tag'), 'utf8')).toBe(tag);
  expect(await again.kill('SIGINT')).toBe(0);
});

test('told to end, it finishes what is in flight', async () => {
  const child = await start(['--data', await newFolder()]);
  const born = await child.post('/jobs', storyOf('waits', [{ queueSeconds: 'never' }]));
  const id = (born.body as { id: string }).id;
  const { version } = (await child.get(`/jobs/${id}`)).body as { version: number };
  const watching = child.get(`/jobs/${id}/events?after=${version + 50}&wait=2`);
  await child.get('/health');
  const ended = child.kill('SIGTERM');
  expect((await watching).status).toBe(200);
  expect(await ended).toBe(0);
});

const storyOf = (name: string, script: readonly unknown[]) => ({
  name,
  cluster: 'demo',
  resources: { nodes: 1, tasksPerNode: 1 },
  program: { command: ['train'] },
  timeLimit: '1h',
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
  extensions: { memory: { script } },
});

describe('a start that cannot be is refused with one line and 2, and changes nothing', () => {
  test('a second process on the same folder, which goes on undisturbed; a dead one’s folder is taken over', async () => {
    const data = await newFolder();
    const child = await start(['--data', data]);
    const before = await contents(data);
    const second = await refused(['--port', '0', '--data', data]);
    expect(second).toMatchObject({ code: 2, out: '', err: expect.stringMatching(oneLine) });
    expect(second.err).toContain('uses this data folder');
    expect(await contents(data)).toEqual(before);
    expect((await child.get('/health')).status).toBe(200);
    expect(await child.kill('SIGKILL')).toBe('SIGKILL');
    expect(await readdir(data)).toContain('lock');
    const next = await start(['--data', data]);
    expect(await next.kill('SIGTERM')).toBe(0);
  });

  test('a taken port, a bad file, a bad option: the folder is not even made', async () => {
    const folder = await newFolder();
    const data = join(folder, 'data');
    const file = async (name: string, text: string, mode = 0o600): Promise<string> => {
      await writeFile(join(folder, name), text);
      await chmod(join(folder, name), mode);
      return join(folder, name);
    };
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const typo = await file('typo.json', '{"clusters":[{"id":"a","kind":"memory","shpe":"slurm"}]}');
    const rows: readonly (readonly [readonly string[], string])[] = [
      [['--port', String(port)], 'something else listens there'],
      [['--config', typo], `clusters[0].shpe: unknown key; did you mean 'shape'?`],
      [['--config', await file('half.json', '{"clusters":')], 'not JSON'],
      [['--config', join(folder, 'none.json')], 'cannot be read (ENOENT)'],
      [['--port', '65536'], 'from 0 (any free port) to 65535'],
      [['--prot', '1'], 'Did you mean --port?'],
      [['--host', '0.0.0.0'], '--token-file'],
      [['--host', 'example.org'], 'must be an IP address'],
      [['--host', '0.0.0.0', '--token-file', await file('open', 'a-token-of-some-length', 0o644)], 'chmod 600'],
      [['--host', '0.0.0.0', '--token-file', await file('short', 'short')], '16 to 512 characters'],
      [['--host', '0.0.0.0', '--token-file', join(folder, 'no-token')], 'cannot be read (ENOENT)'],
    ];
    const said = await Promise.all(rows.map(([args]) => refused(['--port', '0', '--data', data, ...args])));
    taken.close();
    for (const [i, [, says]] of rows.entries()) {
      expect(said[i]).toMatchObject({ code: 2, out: '', err: expect.stringMatching(oneLine) });
      expect(said[i]?.err).toContain(says);
    }
    expect(await readdir(folder)).not.toContain('data');
  });
});

describe('who may speak to it', () => {
  test('reachable from elsewhere it wants the token of its file, for everything but its health', async () => {
    const folder = await newFolder();
    const token = 'correct-horse-battery';
    await writeFile(join(folder, 'token'), `${token}\n`, { mode: 0o600 });
    const child = await start(['--data', join(folder, 'd'), '--host', '0.0.0.0', '--token-file', join(folder, 'token')]);
    expect((await child.get('/health')).status).toBe(200);
    for (const authorization of ['', 'Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`]) {
      expect(await child.get('/jobs', authorization ? { authorization } : {})).toMatchObject({
        status: 401,
        body: { code: 'local/token' },
      });
      expect((await child.get('/notices', authorization ? { authorization } : {})).status).toBe(401);
    }
    expect((await child.get('/jobs', { authorization: `Bearer ${token}` })).status).toBe(200);
    // Who reports a checkpoint has a token of its own: it is asked for that one.
    expect(await child.post('/jobs/0000000000000000/checkpoints', {})).toMatchObject({
      body: { code: expect.not.stringContaining('local/') },
    });
  });

  test('every address of 127.0.0.0/8 is loopback: no token, and no page from elsewhere', async () => {
    const child = await start(['--data', await newFolder(), '--host', '127.0.0.2']);
    expect((await child.get('/jobs')).status).toBe(200);
    expect(await child.get('/jobs', { origin: 'http://evil.example' })).toMatchObject({ status: 403, body: { code: 'local/origin' } });
    expect((await child.get('/jobs', { origin: child.url })).status).toBe(200);
  });
});
