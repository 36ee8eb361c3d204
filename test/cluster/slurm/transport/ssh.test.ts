import { once } from 'node:events';
import net from 'node:net';
import ssh2 from 'ssh2';
import { afterEach, describe, expect, test } from 'vitest';
import type { Session } from '../../../../lib/cluster/slurm/transport/port.ts';
import { type SshOptions, sshTransport } from '../../../../lib/cluster/slurm/transport/ssh.ts';
import { ANSWERS, command, FAILURES, failureOf, fixedSources } from './answers.ts';
import { type Behaviour, ed25519, startServer, type TestServer } from './ssh-server.ts';

const HOST = ed25519('host');
const OTHER_HOST = ed25519('other host');
const ECDSA_HOST = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
const USER = ed25519('user');
const STRANGER = ed25519('stranger');

const openings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of openings.splice(0).toReversed()) await close();
});

async function serve(behaviour: Partial<Behaviour> = {}): Promise<TestServer> {
  const server = await startServer({ hostKeys: [HOST], authorized: () => [USER.public], ...behaviour });
  openings.push(() => server.close());
  return server;
}

/** A TCP server that does not speak SSH: what a half-open or broken host looks like. */
async function serveTcp(onConnection: (socket: net.Socket) => void): Promise<{ port: number }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    // The client hangs up on us in these tests.
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  openings.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as net.AddressInfo).port };
}

const to = (server: { port: number }, options: Partial<SshOptions> = {}): SshOptions => ({
  host: '127.0.0.1',
  port: server.port,
  user: 'alice',
  hostKeys: [HOST.public],
  privateKey: async () => USER.private,
  totalSeconds: 15,
  ...options,
});

async function connect(options: SshOptions): Promise<Session> {
  const session = await sshTransport(options, fixedSources()).connect();
  openings.push(() => session.close());
  return session;
}

describe('ssh: commands', () => {
  test.each(ANSWERS)('answers: $name', async ({ script, answer }) => {
    expect(await (await connect(to(await serve()))).run(command(script))).toEqual(answer);
  });

  test.each(FAILURES)('fails: $name', async ({ command, failure }) => {
    expect(await failureOf((await connect(to(await serve()))).run(command))).toMatchObject({ name: 'ClusterFailure', ...failure });
  });

  test('C045 a banner, also one that looks like rows, is not read', async () => {
    const server = await serve({ banner: `${'Welcome to the cluster\n'.repeat(14)}700145|COMPLETED|0:0\n` });
    expect(await (await connect(to(server))).run(command("echo '1|RUNNING|0:0'"))).toMatchObject({
      stdout: '1|RUNNING|0:0\n',
      exitCode: 0,
    });
  });

  test('two commands in turn and four at the same time, on one connection', async () => {
    const server = await serve();
    const session = await connect(to(server));
    expect((await session.run(command('echo a'))).stdout).toBe('a\n');
    expect((await session.run(command('echo b'))).stdout).toBe('b\n');
    const answers = await Promise.all([1, 2, 3, 4].map((n) => session.run(command(`echo ${n}`))));
    expect(answers.map((answer) => answer.stdout)).toEqual(['1\n', '2\n', '3\n', '4\n']);
    expect(server.connections()).toBe(1);
  });

  test('any number of commands at the same time: what the server does not allow at once waits', async () => {
    const server = await serve();
    const session = await connect(to(server));
    const numbers = Array.from({ length: 60 }, (_, n) => `${n}\n`);
    const answers = await Promise.all(numbers.map((n) => session.run(command(`printf '${n}'`))));
    expect(answers.map((answer) => answer.stdout)).toEqual(numbers);
  });

  test('what waits is given up in its own time, unsent, and never starts', async () => {
    const server = await serve();
    const session = await connect(to(server));
    const busy = Array.from({ length: 8 }, () => session.run(command('sleep 0.6')));
    const failure = await failureOf(session.run(command('echo late', { timeoutSeconds: 0.2 })));
    expect(failure).toMatchObject({ reason: 'command_timed_out', sent: 'no' });
    await Promise.all(busy);
    expect((await session.run(command('echo next'))).stdout).toBe('next\n');
    expect(server.execRequests).toHaveLength(9);
  });

  test('P3.4 what waits when the session ends fails unsent', async () => {
    const session = await connect(to(await serve()));
    const all = Array.from({ length: 12 }, () => failureOf(session.run(command('sleep 20'))));
    await session.close();
    expect((await Promise.all(all)).slice(8)).toMatchObject(Array.from({ length: 4 }, () => ({ reason: 'closed', sent: 'no' })));
  });

  test('C046 the login shell gets two plain words to parse, whatever the program holds', async () => {
    const server = await serve();
    await (await connect(to(server))).run(command("echo 2>&1 'it''s' $HOME; set -- *"));
    expect(server.execRequests).toEqual(['sh -s']);
  });

  test('C046 a restricted bash as login shell gives the same answer', async () => {
    const server = await serve({ loginShell: ['bash', '--restricted', '-c'] });
    expect(await (await connect(to(server))).run(command('cd /; echo ok >&2; exit 5'))).toMatchObject({ exitCode: 5, stderr: 'ok\n' });
  });

  test('C046 a login shell that refuses is quoted in the failure', async () => {
    const server = await serve({ loginShell: ['/bin/sh', '-c', 'echo This account is not available.; exit 1'] });
    const failure = await failureOf((await connect(to(server))).run(command('echo')));
    expect(failure).toMatchObject({ code: 'cluster/command_failed', reason: 'no_shell', sent: 'maybe' });
    expect(failure.message).toContain('"This account is not available." (exit code 1)');
  });

  test('a program that was given up is told to end, and the connection serves on', async () => {
    const server = await serve();
    const session = await connect(to(server));
    expect((await failureOf(session.run(command('sleep 20', { timeoutSeconds: 0.4 })))).reason).toBe('command_timed_out');
    expect((await session.run(command('echo next'))).stdout).toBe('next\n');
    expect(server.signals).toEqual(['TERM']);
  });
});

describe('ssh: what was sent when a command fails', () => {
  const cases: { name: string; behaviour: Partial<Behaviour>; failure: object; limits?: object }[] = [
    {
      name: 'the connection drops in the middle of the program',
      behaviour: { onExec: (channel, connection) => void channel.once('data', () => connection.end()) },
      failure: { code: 'cluster/unreachable', reason: 'dropped', sent: 'maybe' },
    },
    {
      name: 'the connection drops before the channel is opened',
      behaviour: { onSession: (connection) => void connection.end() },
      failure: { code: 'cluster/unreachable', reason: 'dropped', sent: 'no' },
    },
    {
      name: 'the channel is never opened',
      behaviour: { onSession: () => undefined },
      limits: { timeoutSeconds: 0.4 },
      failure: { code: 'cluster/unreachable', reason: 'command_timed_out', sent: 'no' },
    },
    {
      name: 'the request to start a shell is refused',
      behaviour: { onExec: undefined },
      failure: { code: 'cluster/unreachable', reason: 'channel_refused', sent: 'no' },
    },
    {
      name: 'C049 the server takes the program and never answers',
      behaviour: { onExec: () => undefined },
      limits: { timeoutSeconds: 2 },
      failure: { code: 'cluster/unreachable', reason: 'command_timed_out', sent: 'maybe' },
    },
    {
      name: 'the channel closes without an exit code',
      behaviour: { onExec: (channel) => void channel.once('data', () => channel.end('half a r')) },
      failure: { code: 'cluster/command_failed', reason: 'no_shell', sent: 'maybe' },
    },
  ];
  test.each(cases)('P3.4 $name: $failure.sent', async ({ behaviour, limits, failure }) => {
    const session = await connect(to(await serve(behaviour)));
    expect(await failureOf(session.run(command('echo', limits)))).toMatchObject(failure);
  });

  test('P3.4 a command after the connection was lost: no', async () => {
    const session = await connect(to(await serve({ onSession: (connection) => void connection.end() })));
    await failureOf(session.run(command('echo')));
    expect(await failureOf(session.run(command('echo')))).toMatchObject({ code: 'cluster/unreachable', reason: 'dropped', sent: 'no' });
  });

  test('P3.4 the session runs out of time: maybe for what runs, no for what comes later', async () => {
    const session = await connect(to(await serve(), { totalSeconds: 4 }));
    expect(await failureOf(session.run(command('sleep 20')))).toMatchObject({
      reason: 'session_timed_out',
      sent: 'maybe',
      retryable: true,
    });
    expect(await failureOf(session.run(command('echo')))).toMatchObject({ reason: 'session_timed_out', sent: 'no' });
  });

  test('C049 a host that falls silent is given up by the keepalive', async () => {
    // A relay that stops passing bytes on, as a dropped NAT entry does.
    const server = await serve();
    let silent = false;
    const relay = await serveTcp((socket) => {
      const onward = net.connect(server.port, '127.0.0.1');
      onward.on('error', () => onward.destroy());
      socket.on('data', (chunk) => silent || onward.write(chunk));
      onward.on('data', (chunk) => silent || socket.write(chunk));
      socket.on('close', () => onward.destroy());
    });
    const session = await connect(to(relay, { keepaliveSeconds: 0.5, keepaliveCount: 3 }));
    expect((await session.run(command('echo a'))).stdout).toBe('a\n');
    silent = true;
    expect(await failureOf(session.run(command('echo b')))).toMatchObject({ code: 'cluster/unreachable', reason: 'dropped' });
  });
});

describe('ssh: connecting', () => {
  test('C048 a changed host key is refused, both fingerprints are shown, and no login is tried', async () => {
    const server = await serve({ hostKeys: [OTHER_HOST] });
    const failure = await failureOf(connect(to(server)));
    expect(failure).toMatchObject({ code: 'cluster/host_key_changed', retryable: false, sent: 'no' });
    expect(failure.message.match(/SHA256:[A-Za-z0-9+/]{43} \(ssh-ed25519\)/g)).toHaveLength(2);
    expect(server.authTries()).toBe(0);
  });

  test('C048 a key of another type in place of the pinned one is a changed key too', async () => {
    const server = await serve({ hostKeys: [ECDSA_HOST] });
    const failure = await failureOf(connect(to(server)));
    expect(failure.code).toBe('cluster/host_key_changed');
    expect(failure.message).toContain('(ecdsa-sha2-nistp256), but pinned is SHA256:');
  });

  test('of a host with several keys the pinned one is asked for; any pinned key may match', async () => {
    const server = await serve({ hostKeys: [HOST, ECDSA_HOST] });
    for (const hostKeys of [[ECDSA_HOST.public], [OTHER_HOST.public, `${HOST.public} a comment`]]) {
      expect((await (await connect(to(server, { hostKeys }))).run(command('echo ok'))).stdout).toBe('ok\n');
    }
  });

  test('a configuration without a host key, or with a malformed one, is refused at once', () => {
    for (const hostKeys of [[], ['ssh-ed25519 AAAA'], ['ssh-dss AAAAB3NzaC1kc3M='], [HOST.public.replace('ssh-ed25519', 'ssh-rsa')]]) {
      expect(() => sshTransport(to({ port: 1 }, { hostKeys }), fixedSources())).toThrow('host key');
    }
  });

  test('C047 a refused key is tried once', async () => {
    const server = await serve();
    const failure = await failureOf(connect(to(server, { privateKey: async () => STRANGER.private })));
    expect(failure).toMatchObject({ code: 'cluster/auth_refused', reason: 'key_refused', retryable: false, sent: 'no' });
    expect([server.connections(), server.authTries()]).toEqual([1, 1]);
  });

  test('a key that was rotated is read again and works', async () => {
    const keys = [STRANGER.private, USER.private];
    const server = await serve();
    const session = await connect(to(server, { privateKey: async () => keys.shift() ?? 'read too often' }));
    expect((await session.run(command('echo ok'))).stdout).toBe('ok\n');
    expect(server.connections()).toBe(2);
  });

  test('interactive MFA is named', async () => {
    const failure = await failureOf(connect(to(await serve({ alsoAsks: 'keyboard-interactive' }))));
    expect(failure).toMatchObject({ code: 'cluster/auth_refused', reason: 'second_factor' });
    expect(failure.message).toContain('(keyboard-interactive): interactive MFA is not supported');
  });

  const locked = () => ssh2.utils.generateKeyPairSync('ed25519', { passphrase: 'p', cipher: 'aes256-cbc', rounds: 1 }).private;
  test.each([
    { name: 'protected by a passphrase', key: locked, code: 'cluster/auth_refused', says: 'passphrase' },
    { name: 'not a key', key: () => 'swordfish', code: 'cluster/auth_refused', says: 'format' },
    { name: 'empty', key: () => '', code: 'cluster/auth_refused', says: 'format' },
    { name: 'a public key', key: () => USER.public, code: 'cluster/auth_refused', says: 'public key' },
    {
      name: 'not readable',
      key: () => {
        throw new Error('swordfish');
      },
      code: 'cluster/unreachable',
      says: 'could not be read',
    },
  ])('a private key that is $name: $code, and no connection', async ({ key, code, says }) => {
    const server = await serve();
    const failure = await failureOf(connect(to(server, { privateKey: async () => key() })));
    expect(failure).toMatchObject({ code, sent: 'no' });
    expect(failure.message).toContain(says);
    expect(failure.message).not.toContain('swordfish');
    expect(server.connections()).toBe(0);
  });

  test('a secret store that never answers is given up', async () => {
    const privateKey = () => new Promise<string>(() => undefined);
    const failure = await failureOf(connect(to({ port: 1 }, { privateKey, readyTimeoutSeconds: 0.1 })));
    expect(failure).toMatchObject({ code: 'cluster/unreachable', reason: 'key_unreadable', retryable: true });
  });

  test('nobody listens', async () => {
    const free = await serveTcp(() => undefined);
    await openings.pop()?.();
    const failure = await failureOf(connect(to(free)));
    expect(failure).toMatchObject({ code: 'cluster/unreachable', reason: 'refused', retryable: true, sent: 'no' });
    expect(failure.message).toContain('ECONNREFUSED');
  });

  test('a name that does not exist', async () => {
    // Reserved never to exist (RFC 6761); a machine without any resolver answers with EAI_AGAIN, which means the same here.
    const failure = await failureOf(connect(to({ port: 22 }, { host: 'login.invalid' })));
    expect(failure).toMatchObject({ code: 'cluster/unreachable', reason: 'dns', sent: 'no' });
  });

  test.each([
    { name: 'C049 accepts and never answers', onConnection: () => undefined, reason: 'handshake_timed_out' },
    { name: 'hangs up at once', onConnection: (socket: net.Socket) => void socket.end(), reason: /dropped|handshake/ },
    {
      name: 'speaks another protocol',
      onConnection: (socket: net.Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      reason: /dropped|handshake/,
    },
  ])('a server that $name', async ({ onConnection, reason }) => {
    const failure = await failureOf(connect(to(await serveTcp(onConnection), { readyTimeoutSeconds: 0.3 })));
    expect(failure).toMatchObject({ code: 'cluster/unreachable', reason: expect.stringMatching(reason), retryable: true, sent: 'no' });
  });

  test('the limit of the session also ends a connect', async () => {
    const silent = await serveTcp(() => undefined);
    const failure = await failureOf(connect(to(silent, { totalSeconds: 0.15 })));
    expect(failure).toMatchObject({ code: 'cluster/unreachable', reason: 'session_timed_out', sent: 'no' });
  });
});

describe('ssh: jump hosts', () => {
  const JUMP_HOST = ed25519('jump host');
  const JUMP_USER = ed25519('jump user');
  const serveJump = () => serve({ hostKeys: [JUMP_HOST], authorized: () => [JUMP_USER.public] });
  const jump = (server: TestServer) => {
    const { host, port, user, hostKeys, privateKey } = to(server, {
      user: 'jumper',
      hostKeys: [JUMP_HOST.public],
      privateKey: async () => JUMP_USER.private,
    });
    return { host, port, user, hostKeys, privateKey };
  };

  test('each hop has its own pinned key, user and key; the command runs on the last', async () => {
    const [gate, inner, target] = [await serveJump(), await serveJump(), await serve()];
    const session = await connect(to(target, { jump: [jump(gate), jump(inner)] }));
    expect((await session.run(command('echo ok'))).stdout).toBe('ok\n');
    expect(gate.forwards).toEqual([`127.0.0.1:${inner.port}`]);
    expect(inner.forwards).toEqual([`127.0.0.1:${target.port}`]);
    expect(gate.execRequests).toEqual([]);
  });

  test('C048 the key of the host behind is checked through the jump', async () => {
    const [gate, target] = [await serveJump(), await serve({ hostKeys: [OTHER_HOST] })];
    expect((await failureOf(connect(to(target, { jump: [jump(gate)] })))).code).toBe('cluster/host_key_changed');
  });

  test('a jump host that cannot reach the login node', async () => {
    const gate = await serveJump();
    const free = await serveTcp(() => undefined);
    await openings.pop()?.();
    const failure = await failureOf(connect(to(free, { jump: [jump(gate)] })));
    expect(failure).toMatchObject({ code: 'cluster/unreachable', reason: 'jump_refused', sent: 'no' });
  });

  test('a jump host that goes away takes the session with it', async () => {
    const [gate, target] = [await serveJump(), await serve()];
    const session = await connect(to(target, { jump: [jump(gate)] }));
    const work = failureOf(session.run(command('sleep 20')));
    await expect.poll(() => target.execRequests.length, { timeout: 10_000 }).toBe(1);
    await gate.close();
    expect(await work).toMatchObject({ code: 'cluster/unreachable', reason: 'dropped' });
  });
});
