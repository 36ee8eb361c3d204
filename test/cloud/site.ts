/**
 * Site: one login node with a small Slurm behind it, a deployment that is configured for it, and that deployment running. Its folders are
 * made anew and removed.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519, startServer } from '../cluster/slurm/transport/ssh-server.ts';
import { type Running, runCloud } from './cloud.ts';
import { type SmallSlurm, startSmallSlurm } from './small-slurm.ts';
import { type Cloud, synthesise } from './template.ts';
import type { Pace } from './time.ts';

export const TAG = 'c10d';
export const PEOPLE = 'arn:aws:iam::000000000000:role/people';
const LOGIN_KEY = ed25519('login');
const HOST_KEY = ed25519('host');
const TOKEN_KEY = Buffer.alloc(32, 11).toString('base64');
/** By their names; the values, and nothing like them, may appear nowhere else. */
export const SECRETS: ReadonlyMap<string, string> = new Map([
  ['lab/ml', LOGIN_KEY.private],
  ['dispatch/token-keys', JSON.stringify({ keys: [{ id: 'k1', secret: TOKEN_KEY }] })],
]);
export const SECRET_TEXTS = [LOGIN_KEY.private.split('\n')[1]!, TOKEN_KEY];

export interface Site {
  readonly cloud: Cloud;
  readonly slurm: SmallSlurm;
  /** As the cluster sees it. */
  readonly root: string;
  readonly pace: Pace;
  /** `changed`: the template as somebody deployed it. */
  run(changed?: (cloud: Cloud) => Cloud): Promise<Running>;
  close(): Promise<void>;
}

export const openSite = async (rate: number): Promise<Site> => {
  const pace = { from: Date.now(), rate };
  const base = mkdtempSync(join(tmpdir(), 'dispatch-cloud-'));
  const root = join(base, 'root');
  mkdirSync(root);
  const slurm = await startSmallSlurm(join(base, 'node'), pace);
  const ssh = await startServer({
    hostKeys: [HOST_KEY],
    authorized: () => [LOGIN_KEY.public],
    loginShell: ['/usr/bin/env', '-i', ...Object.entries(slurm.environment).map(([name, value]) => `${name}=${value}`), '/bin/sh', '-c'],
  });
  const port = await freePort();
  const cloud = synthesise(deployment(root, ssh.port, port), join(base, 'cdk.out'));
  let running: Running | undefined;
  return {
    ...{ cloud, slurm, root, pace },
    run: async (changed = (same) => same) => {
      await running?.close();
      running = await runCloud({ cloud: changed(cloud), secrets: SECRETS, pace, port });
      return running;
    },
    close: async () => {
      await running?.close();
      await slurm.close();
      await ssh.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
};

const deployment = (root: string, sshPort: number, apiPort: number): string =>
  JSON.stringify({
    tag: TAG,
    tokenKeysSecret: 'dispatch/token-keys',
    people: [{ arn: PEOPLE, scopes: ['read', 'submit', 'cancel', 'answer', 'operate'] }],
    clusters: [
      {
        ...{ id: 'lab', kind: 'slurm', root, landingBoundSeconds: 900 },
        apiUrl: `http://127.0.0.1:${apiPort}`,
        transport: { type: 'ssh', host: '127.0.0.1', port: sshPort, hostKeys: [HOST_KEY.public] },
        logins: [{ id: 'ml', user: 'ml', privateKeySecret: 'lab/ml' }],
      },
    ],
  });

/** One that nobody listens on now: runs are told of the API before it is there. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
