/**
 * An SSH server in this process, speaking the real protocol, for the tests of the transport. By default it starts what it is asked
 * to start under a real `/bin/sh -c`, as sshd does with a login shell; a test may put its own behaviour in place of that.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';

export interface KeyPair {
  readonly private: string;
  readonly public: string;
}

/** A key of its own for every name, the same in every run. */
export function ed25519(name: string): KeyPair {
  const seed = createHash('sha256').update(name).digest();
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const spki = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })).export({ format: 'der', type: 'spki' });
  const publicKey = spki.subarray(-32);
  const blob = Buffer.concat([field('ssh-ed25519'), field(publicKey)]);
  // The file format of OpenSSH (PROTOCOL.key): no cipher, no key derivation, one key; two equal check numbers; padded to 8 bytes.
  const secret = Buffer.concat([
    Buffer.alloc(8),
    field('ssh-ed25519'),
    field(publicKey),
    field(Buffer.concat([seed, publicKey])),
    field(''),
  ]);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (secret.length % 8)) % 8));
  const head = [Buffer.from('openssh-key-v1\0'), field('none'), field('none'), field(''), Buffer.from([0, 0, 0, 1])];
  const file = Buffer.concat([...head, field(blob), field(Buffer.concat([secret, padding]))]).toString('base64');
  return {
    private: `-----BEGIN OPENSSH PRIVATE KEY-----\n${file}\n-----END OPENSSH PRIVATE KEY-----\n`,
    public: `ssh-ed25519 ${blob.toString('base64')}`,
  };
}

/** An SSH string: its length, then its bytes. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

export interface Behaviour {
  readonly hostKeys: readonly KeyPair[];
  /** Public key lines that may log in; read at each try. */
  readonly authorized: () => readonly string[];
  /** After the key: ask for more, as a server with a second factor does. */
  readonly alsoAsks?: 'keyboard-interactive';
  /** In place of running the command. `undefined` refuses the exec request. */
  readonly onExec?: ((channel: ServerChannel, connection: Connection) => void) | undefined;
  readonly onSession?: (connection: Connection) => void;
  /** Sessions of one connection at a time, as sshd counts them; more are refused. */
  readonly maxSessions?: number;
  readonly loginShell?: readonly string[];
  /** Printed before the command's own output, as start-up files do. */
  readonly banner?: string;
}

export interface TestServer {
  readonly port: number;
  readonly execRequests: string[];
  readonly signals: string[];
  readonly authTries: () => number;
  readonly connections: () => number;
  /** Of all moments: the most that were open at one. */
  readonly mostOpen: () => number;
  readonly forwards: string[];
  close(): Promise<void>;
}

export async function startServer(behaviour: Behaviour): Promise<TestServer> {
  const execRequests: string[] = [];
  const signals: string[] = [];
  const forwards: string[] = [];
  const open = new Set<Connection>();
  const children = new Set<ChildProcess>();
  let authTries = 0;
  let connections = 0;
  let mostOpen = 0;

  const runCommand = (channel: ServerChannel, text: string): void => {
    const [file = '/bin/sh', ...args] = behaviour.loginShell ?? ['/bin/sh', '-c'];
    const child = spawn(file, [...args, text], { env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/' } });
    children.add(child);
    if (behaviour.banner !== undefined) channel.write(behaviour.banner);
    channel.pipe(child.stdin);
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdout.on('data', (chunk) => channel.write(chunk));
    child.stderr.on('data', (chunk) => channel.stderr.write(chunk));
    child.on('close', (code, signal) => {
      children.delete(child);
      channel.exit((code ?? signal) as number);
      channel.end();
    });
  };

  const server = new ssh2.Server({ hostKeys: behaviour.hostKeys.map((key) => key.private) }, (connection) => {
    connections += 1;
    open.add(connection);
    mostOpen = Math.max(mostOpen, open.size);
    // As sshd does; otherwise every exchange waits 40 ms for a delayed acknowledgement.
    (connection as Connection & { setNoDelay(on: boolean): void }).setNoDelay(true);
    connection.on('close', () => open.delete(connection));
    // A client that refuses our key hangs up in the middle of the handshake: what these tests are about.
    connection.on('error', () => connection.end());
    connection.on('authentication', (request) => {
      if (request.method !== 'publickey') return request.reject(['publickey']);
      const blob = request.key.data.toString('base64');
      const known = behaviour.authorized().some((line) => line.split(' ')[1] === blob);
      if (request.signature === undefined) return known ? request.accept() : reject();
      const key = ssh2.utils.parseKey(`${request.key.algo} ${blob}`);
      const proven = !(key instanceof Error) && key.verify(request.blob!, request.signature, request.hashAlgo) === true;
      if (!known || !proven) return reject();
      return behaviour.alsoAsks === undefined ? request.accept() : request.reject([behaviour.alsoAsks], true);

      function reject(): void {
        authTries += 1;
        request.reject(['publickey']);
      }
    });
    let sessions = 0;
    connection.on('session', (accept, reject) => {
      if (behaviour.onSession !== undefined) return behaviour.onSession(connection);
      if (sessions >= (behaviour.maxSessions ?? 10)) return reject();
      sessions += 1;
      const session = accept();
      session.on('close', () => {
        sessions -= 1;
      });
      session.on('signal', (acceptSignal, _reject, info) => {
        signals.push(info.name);
        acceptSignal?.();
      });
      session.on('exec', (acceptExec, rejectExec, info) => {
        execRequests.push(info.command);
        if ('onExec' in behaviour && behaviour.onExec === undefined) return rejectExec();
        const channel = acceptExec();
        if (behaviour.onExec === undefined) runCommand(channel, info.command);
        else behaviour.onExec(channel, connection);
      });
    });
    connection.on('tcpip', (accept, reject, info) => {
      forwards.push(`${info.destIP}:${info.destPort}`);
      const socket = net.connect(info.destPort, info.destIP, () => {
        const channel = accept();
        channel.pipe(socket).pipe(channel);
      });
      socket.setNoDelay(true);
      socket.on('error', () => reject());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    execRequests,
    signals,
    forwards,
    authTries: () => authTries,
    connections: () => connections,
    mostOpen: () => mostOpen,
    async close() {
      for (const child of children) child.kill('SIGKILL');
      for (const connection of open) connection.end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
