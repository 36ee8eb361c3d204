/** The OpenAPI document: valid by a public validator, as reviewed, true of the answers, and enough to make a client from. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { makeDocument } from '../../lib/api/document.ts';
import { PROBLEMS } from '../../lib/api/problem.ts';
import { problemsOf } from '../../lib/api/route.ts';
import { ROUTES } from '../../lib/api/routes.ts';
import { writtenSpecSchema } from '../../lib/api/schema/spec.ts';
import { parseSpec } from '../../lib/job/parse-spec.ts';
import { AT_ONCE, given, SPEC, scripted } from './given.ts';

const document = () => JSON.parse(JSON.stringify(makeDocument()));

test('a public validator takes it as OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(document());
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

test('it is the one that was reviewed: a change of the API shows as a change of the snapshot', async () => {
  await expect(`${JSON.stringify(document(), null, 1)}\n`).toMatchFileSnapshot('../fixtures/openapi.json');
});

test('it is served as it is made', async () => {
  const { ask } = await given();
  const { status, body } = await ask('GET', '/openapi.json', { as: '' });
  expect([status, body]).toEqual([200, document()]);
});

describe('the table', () => {
  test('names each operation once, each path and method once, and problems by known codes', () => {
    expect(new Set(ROUTES.map((one) => one.id)).size).toBe(ROUTES.length);
    expect(new Set(ROUTES.map((one) => `${one.method} ${one.path}`)).size).toBe(ROUTES.length);
    for (const one of ROUTES) for (const code of problemsOf(one)) expect(PROBLEMS[code], `${one.id}: ${code}`).toBeDefined();
  });
  test('every property of a path’s template is described, and nothing else is', () => {
    for (const { id, path, params } of ROUTES)
      expect([id, Object.keys(params?.shape ?? {}).sort()]).toEqual([id, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort()]);
  });
});

describe('the documented spec', () => {
  const full = {
    ...SPEC,
    project: 'vision',
    login: 'default',
    resources: { nodes: 2, tasksPerNode: 8, gpusPerNode: 8, gpuType: 'a100', cpusPerTask: 4, memoryPerNode: '16Gi' },
    program: { command: ['python', 'train.py'], image: 'img:1', workdir: '/w', env: { A: 'b' }, secrets: { T: { ref: 'token' } } },
    timeLimit: 'PT1H30M',
    deadline: '2031-01-31T18:00:00Z',
    patience: '7d',
    checkpoint: { root: '/data/ck', completionMarker: 'torch-dcp', required: true },
    labels: { team: 'x' },
    extensions: { slurm: { partition: 'p', account: 'a', exclude: ['n1'] } },
    policy: {
      unmatched: 'escalate',
      limits: { attempts: 10, wallClock: '3d', attemptsWithoutProgress: 3, stalledAfter: '1h' },
      rules: [
        { on: ['preempted', 'node_lost'], do: { relaunch: { max: 5, backoff: AT_ONCE, from: 'checkpoint', excludeNodes: { max: 4 } } } },
        {
          on: ['out_of_memory'],
          when: { scope: 'step' },
          do: { relaunch: { max: 2, from: 'scratch', scale: { memoryPerNode: { by: 2, upTo: '1Ti' } } } },
        },
        {
          on: ['exited'],
          when: { exitCode: [3, 4], message: 'NCCL' },
          do: { escalate: { options: ['stop', 'wait'], expiresAfter: '2d', onExpiry: 'stop' } },
        },
        { on: ['time_limit'], do: { requeue: { max: 3, by: 'supervisor' } } },
        { on: ['any'], do: { stop: {} } },
      ],
    },
  };
  // One change each: of the document's schema and of the reader, both must take it or both refuse it.
  const CHANGES: readonly (readonly [string, unknown])[] = [
    ['as it is', full],
    ['the smallest', SPEC],
    ['scripted', { ...SPEC, program: { script: 'true' } }],
    ['for the memory cluster', scripted([{ program: {} }])],
    ['without a name', { ...full, name: undefined }],
    ['an unknown key', { ...full, timelimit: '1h' }],
    ['a number as duration', { ...full, timeLimit: 3600 }],
    ['no unit', { ...full, timeLimit: '3600' }],
    ['0 nodes', { ...full, resources: { nodes: 0 } }],
    ['half a node', { ...full, resources: { nodes: 0.5 } }],
    ['memory in GB', { ...full, resources: { nodes: 1, memoryPerNode: '16GB' } }],
    ['no unmatched', { ...full, policy: { limits: { attempts: 1 } } }],
    ['an unknown cause', { ...full, policy: { ...full.policy, rules: [{ on: ['preempt'], do: { stop: {} } }] } }],
    ['on as text', { ...full, policy: { ...full.policy, rules: [{ on: 'any', do: { stop: {} } }] } }],
    [
      'two actions',
      { ...full, policy: { ...full.policy, rules: [{ on: ['any'], do: { stop: {}, requeue: { max: 1, by: 'scheduler' } } }] } },
    ],
    ['no action', { ...full, policy: { ...full.policy, rules: [{ on: ['any'], do: {} }] } }],
    ['33 rules', { ...full, policy: { ...full.policy, rules: Array.from({ length: 33 }, () => ({ on: ['any'], do: { stop: {} } })) } }],
    ['an env value that is a number', { ...full, program: { command: ['t'], env: { A: 1 } } }],
    ['a label too long', { ...full, labels: { a: 'x'.repeat(64) } }],
  ];
  test.each(CHANGES)('and the reader of specs agree: %s', (_, spec) => {
    const said = parseSpec(spec);
    expect([writtenSpecSchema.safeParse(spec).success, said.ok ? [] : said.refusals]).toEqual([said.ok, said.ok ? [] : said.refusals]);
  });
});
