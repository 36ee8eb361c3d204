/**
 * `npm run test:api`: a property-based tester, schemathesis, against the API as it is served, with a memory record and a memory cluster:
 * no 5xx, no undocumented status, no answer that its schema does not know, no bad request that is taken. Not part of `npm test`, since
 * it needs Python and its package registry; its dependency lives in a folder of its own below the system's temporary one.
 *
 *   npm run test:api -- [--seconds 120] [--seed 1] [--examples 60]
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createAdaptorServer } from '@hono/node-server';
import { createApi } from '../../lib/api/api.ts';
import { makeDocument } from '../../lib/api/document.ts';
import { SCOPES } from '../../lib/app/principal.ts';
import { issueToken, type TokenKeys } from '../../lib/checkpoint/token.ts';
import { adapter } from '../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import { realClock } from '../../lib/local/clock.ts';
import { createSystem } from '../../lib/local/system.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';

const VERSION = '4.32.5';
const TOKEN = 'schemathesis';
/** Each of these is a promise of docs/api.md. */
const CHECKS = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance'],
  ...['response_schema_conformance', 'negative_data_rejection', 'unsupported_method', 'allow_header_conformance', 'ignored_auth'],
];

const options = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    examples: { type: 'string', default: '60' },
  },
}).values;

const run = (command: string, args: readonly string[], seconds: number, cwd = tmpdir()): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', timeout: seconds * 1000, cwd });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });

/** Newest first: before 3.12 Python itself breaks on schemas as deep as a spec's. `PYTHON` names another one. */
const PYTHONS = [...(process.env['PYTHON'] ? [process.env['PYTHON']] : []), 'python3.14', 'python3.13', 'python3.12', 'python3'];

/** The tester in a virtual environment, made at the first run. */
const installed = async (): Promise<string> => {
  const recent = 'import sys; sys.exit(sys.version_info < (3, 12))';
  const python = PYTHONS.find((name) => spawnSync(name, ['-c', recent]).status === 0);
  if (!python) throw new Error(`Python is needed, 3.12 or later, as one of: ${PYTHONS.join(', ')}; the variable PYTHON names another one`);
  const folder = join(tmpdir(), `dispatch-schemathesis-${VERSION}-${basename(python)}`);
  const tester = join(folder, 'bin', 'schemathesis');
  if (existsSync(tester)) return tester;
  if ((await run(python, ['-m', 'venv', folder], 120)) !== 0) throw new Error(`${python} -m venv failed`);
  if ((await run(join(folder, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`], 600)) !== 0)
    throw new Error('schemathesis could not be installed');
  return tester;
};

interface Served {
  readonly url: string;
  /** What a tester could not guess: by the name of a path's parameter. */
  readonly known: Readonly<Record<string, readonly (string | number)[]>>;
  readonly attemptToken: string;
  readonly close: () => void;
}

const SPEC = {
  name: 'train',
  cluster: 'here',
  resources: { nodes: 1 },
  program: { command: ['train'] },
  timeLimit: '1h',
  checkpoint: {},
  policy: { rules: [], unmatched: 'escalate', limits: { attempts: 3 } },
};
const SCRIPTS = [
  [{ program: { runsSeconds: 2, publishes: [{ atSeconds: 1, step: 5 }] } }],
  [{ program: { runsSeconds: 1, ends: { exit: 3 } } }],
  [{ program: { runsSeconds: 3000 } }],
];

/** The API of a dispatch in which jobs have ended, ask and run, so that what is read and commanded is there. */
const served = async (): Promise<Served> => {
  const keys: TokenKeys = [{ id: 'k', secret: randomBytes(32) }];
  const world = createMemoryCluster({ shape: 'slurm', clock: realClock, random: Math.random });
  const stranger = world.foreign.submit({ name: 'nightly', login: 'default', script: [{ program: { runsSeconds: 3000 } }] });
  const log = (level: string, message: string, fields: object): void => {
    if (level === 'error') process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  };
  const here = {
    id: 'here',
    adapter: adapter(world, { tag: '5ch3', cluster: 'here' }),
    pollEverySeconds: 1,
    landingBoundSeconds: 90,
    readOnly: false,
    logins: [{ id: 'default', user: 'demo' }],
  };
  const system = createSystem({ store: createMemoryStore(), clusters: [here], tag: '5ch3', clock: realClock, random: Math.random, log });
  await system.start();
  const api = createApi({
    ports: async () => system.ports,
    principalOf: (request) =>
      request.headers.get('authorization') === `Bearer ${TOKEN}` ? { id: 'tester', groups: [], scopes: SCOPES } : undefined,
    document: async () => documentForTests(stranger ?? ''),
    tokenKeys: async () => keys,
    limits: { maxActiveJobs: 500 },
  });
  const server = createAdaptorServer({ fetch: api.fetch }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const jobs: string[] = [];
  for (const script of SCRIPTS) {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ ...SPEC, extensions: { memory: { script } } });
    const accepted = (await (await api.request('/jobs', { method: 'POST', headers, body })).json()) as { id: string };
    jobs.push(accepted.id);
  }
  await setTimeout(8000);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    known: { job: jobs, escalation: ['q1'], attempt: [1], cluster: ['here'] },
    attemptToken: issueToken(keys, jobs[2]!, 1),
    close: () => {
      system.stop();
      server.closeAllConnections();
      server.close();
    },
  };
};

/** As it is served, but that a cluster's name is one that is there: nobody guesses it. */
const documentForTests = (stranger: string): unknown => {
  const document = JSON.parse(JSON.stringify(makeDocument()));
  document.components.schemas.Spec.properties.cluster = { type: 'string', enum: ['here'] };
  const observed = document.paths['/observed-jobs'].post.requestBody.content['application/json'].schema.properties;
  observed.cluster = { type: 'string', enum: ['here'] };
  observed.schedulerId = { type: 'string', enum: [stranger, '1', '9999'] };
  return document;
};

/** Its own language, written by hand: two tables of texts need no library. */
const configuration = ({ known, attemptToken }: Served): string =>
  [
    `[auth.openapi.caller]\nbearer = "${TOKEN}"`,
    `[auth.openapi.attempt]\nbearer = "${attemptToken}"`,
    ...Object.entries(known).map(([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}`),
    `[parameters]\n${['job', 'escalation', 'attempt', 'cluster'].map((name) => `"path.${name}" = { dictionary = "${name}", probability = 0.8 }`).join('\n')}`,
  ].join('\n');

const tester = await installed();
const server = await served();
const folder = mkdtempSync(join(tmpdir(), 'dispatch-api-'));
const file = join(folder, 'schemathesis.toml');
writeFileSync(file, configuration(server));
const code = await run(
  tester,
  [
    ...['--config-file', file, 'run', `${server.url}/openapi.json`],
    ...['--checks', CHECKS.join(','), '--max-examples', options.examples, '--seed', options.seed, '--max-time', options.seconds],
    // A long poll waits for as long as it was asked to.
    ...['--workers', '2', '--request-timeout', '40', '--continue-on-failure'],
  ],
  Number(options.seconds) + 300,
  // It keeps notes of its own where it runs.
  folder,
);
server.close();
rmSync(folder, { recursive: true, force: true });
process.exitCode = code;
