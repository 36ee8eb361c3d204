/**
 * The deployed code runs: the bundles of the synthesised template, each in processes of its own with the template's environment alone,
 * tell the recovery story over SSH, and every request to AWS is held against the role of the function that makes it. So a module that a
 * bundle cannot load, a variable that is not set, a wrong handler, an event of another shape or a missing permission fails here and not in
 * an account.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FUNCTION_NAMES } from '../../lib/aws/doors.ts';
import type { Running } from './cloud.ts';
import { openSite, PEOPLE, SECRET_TEXTS, type Site } from './site.ts';
import type { Cloud } from './template.ts';

/** Ten seconds pass in one: a poll a minute is one every six seconds. */
const RATE = 10;
/** Of a quiet machine, for limits: a slow one may take four times as long. */
const SLOW = 4;
const SECONDS = SLOW * 1000;

let site: Site;
beforeAll(async () => {
  site = await openSite(RATE);
}, 120 * SECONDS);
afterAll(() => site?.close(), 30 * SECONDS);

const PROGRAM = `#!/bin/bash
set -eu
save=$DISPATCH_EXEC_DIR/step-5
printf 'attempt %s resumes at %s\\n' "$DISPATCH_ATTEMPT" "\${DISPATCH_RESUME_STEP:--}"
if [ -n "\${DISPATCH_RESUME_FROM:-}" ]; then [ "$(cat "$DISPATCH_RESUME_FROM/weights")" = five ]; exit 0; fi
mkdir "$save"
echo five > "$save/weights"
( cd "$save" && sha256sum weights > MANIFEST && sync weights MANIFEST )
dispatch-publish --manifest "$save/MANIFEST" 5 "$save"
sleep 600
`;

const spec = (name: string, script: string) => ({
  ...{ name, cluster: 'lab', resources: { nodes: 1 }, program: { script }, timeLimit: '2h', checkpoint: {} },
  policy: {
    rules: [{ on: ['preempted'], do: { relaunch: { max: 2, backoff: { initial: '0s', factor: 1, max: '1s' }, from: 'checkpoint' } } }],
    ...{ unmatched: 'escalate', limits: { attempts: 3 } },
  },
});

interface Told {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly items?: readonly Record<string, unknown>[] };
}

const SESSION = `${PEOPLE.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/ada`;
const ask = async (running: Running, method: string, path: string, body?: unknown): Promise<Told> => {
  const answer = await fetch(`${running.url}${path}`, {
    method,
    headers: { 'x-caller': SESSION, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Told['body'] };
};

/** Looks again and again, and says what it saw when nothing comes of it. */
const until = async <T>(what: string, look: () => Promise<T | undefined> | T | undefined, running: Running, seconds = 60): Promise<T> => {
  for (let i = 0; i < seconds * SLOW * 4; i++) {
    const seen = await look();
    if (seen !== undefined) return seen;
    // Code that cannot be loaded will not be loaded later either.
    if (running.failures.some((failure) => failure.includes('Runtime.ExitError'))) break;
    await delay(250);
  }
  const said = [...running.functions].map(
    ([name, one]) =>
      `${name}: ${one.lines
        .filter((line) => !line.includes('"_aws"'))
        .slice(-4)
        .join('\n  ')}`,
  );
  throw new Error(
    `${what} did not come; refused: ${JSON.stringify(running.refusals)}; failed: ${running.failures.join()}\n${said.join('\n')}`,
  );
};

const jobAs = async (running: Running, job: string, state: string): Promise<Told['body']> =>
  until(
    `${job} ${state}`,
    async () => {
      const { body } = await ask(running, 'GET', `/jobs/${job}`);
      return body['state'] === state ? body : undefined;
    },
    running,
  );

describe('the recovery story, through the bundles', () => {
  let running: Running;
  let job = '';
  beforeAll(async () => {
    running = await site.run();
  });

  test(
    'given a job, then it is planned, submitted over SSH, released, and seen running by the schedule’s poll',
    async () => {
      const planned = await ask(running, 'POST', '/plans', spec('story', PROGRAM));
      expect(planned.status).toBe(200);
      const submitted = await ask(running, 'POST', '/jobs', spec('story', PROGRAM));
      expect(submitted.status).toBe(202);
      job = String(submitted.body['id']);
      await jobAs(running, job, 'running');
    },
    90 * SECONDS,
  );

  test(
    'given a save, then the run reports it by the token that Advance signed and publish checks',
    async () => {
      const published = await until(
        'the report',
        async () =>
          (await ask(running, 'GET', `/jobs/${job}/events`)).body.items?.find(
            (one) => (one['event'] as { type: string }).type === 'checkpoint_published',
          ),
        running,
      );
      expect(published).toMatchObject({ actor: 'attempt:1', event: { step: 5, path: 'exec/1-0/step-5' } });
    },
    60 * SECONDS,
  );

  test(
    'given a preemption, then the next attempt resumes from that save and completes',
    async () => {
      site.slurm.preempt(site.slurm.jobs.at(-1)!.id);
      const ended = await jobAs(running, job, 'succeeded');
      expect(ended['attempts']).toMatchObject([
        { n: 1, outcome: 'preempted' },
        { n: 2, outcome: 'completed' },
      ]);
      const output = await ask(running, 'GET', `/jobs/${job}/attempts/2/output`);
      expect(output.body).toMatchObject({ text: 'attempt 2-0 resumes at 5\n' });
      expect((await ask(running, 'GET', `/jobs/${job}/checkpoints?refresh=true`)).body.items).toHaveLength(1);
    },
    120 * SECONDS,
  );

  test(
    'given an end that no rule covers, then people are asked, and an answer through the API ends the job',
    async () => {
      const { body } = await ask(running, 'POST', '/jobs', { ...spec('asks', '#!/bin/bash\nexit 3\n'), labels: { team: 'vision' } });
      const asks = String(body['id']);
      const { question } = await jobAs(running, asks, 'awaiting');
      const { id } = question as { id: string };
      expect((await ask(running, 'GET', '/escalations')).body.items).toMatchObject([{ job: asks, id }]);
      const token = await until(
        'the token',
        async () => {
          const answer = await ask(running, 'GET', `/jobs/${asks}/escalations/${id}/token`);
          return answer.status === 200 ? answer.body : undefined;
        },
        running,
      );
      expect(token).toMatchObject({ question: id });
      expect((await ask(running, 'POST', `/jobs/${asks}/escalations/${id}/answer`, { answer: 'stop' })).status).toBe(200);
      await jobAs(running, asks, 'failed');
    },
    90 * SECONDS,
  );

  test(
    'given a job of somebody else, then it is watched to its end',
    async () => {
      const schedulerId = String(site.slurm.foreign('#!/bin/bash\nsleep 2\n'));
      const { status, body } = await ask(running, 'POST', '/observed-jobs', { cluster: 'lab', schedulerId });
      expect([status, body]).toMatchObject([202, {}]);
      await jobAs(running, String(body['id']), 'succeeded');
    },
    60 * SECONDS,
  );

  test(
    'given every list and every reading, then each is answered',
    async () => {
      const paths = [
        '/jobs',
        '/jobs?state=succeeded',
        '/jobs?cluster=lab',
        '/jobs?project=default',
        '/jobs?cause=completed',
        '/jobs?label=team%3Dvision',
      ];
      const about = [
        '',
        '/events',
        '/checkpoints',
        '/checkpoints/latest',
        '/checkpoints/latest?refresh=true',
        '/attempts/1/output?stream=stderr',
      ];
      const others = ['/clusters', '/clusters/lab', '/clusters/lab/events', '/escalations', '/escalations?blocking=false'];
      for (const path of [...paths, ...about.map((rest) => `/jobs/${job}${rest}`), ...others]) {
        const { status, body } = await ask(running, 'GET', path);
        expect([path, status, status === 200 ? {} : body]).toEqual([path, 200, {}]);
      }
      expect((await ask(running, 'GET', '/jobs?label=team%3Dvision')).body.items).toHaveLength(1);
    },
    60 * SECONDS,
  );

  test(
    'given a supervisor that is aborted while it waits, then the rule tells reconcile, and the next generation waits in its place',
    async () => {
      const { body } = await ask(running, 'POST', '/jobs', spec('left', '#!/bin/bash\nsleep 600\n'));
      const left = String(body['id']);
      await jobAs(running, left, 'running');
      await until(
        'a parked token',
        () => (running.engine.history(`${left}-1`).at(-1)?.type === 'TaskSubmitted' ? true : undefined),
        running,
      );
      running.engine.stopExecution(`${left}-1`, 'ByHand', 'to see who comes');
      await until('the next generation', () => running.engine.listExecutions().find((one) => one.name === `${left}-2`), running);
      expect((await ask(running, 'POST', `/jobs/${left}/cancel`, {})).status).toBe(202);
      await jobAs(running, left, 'cancelled');
      expect(site.slurm.jobs.at(-1)?.state).toBe('CANCELLED');
    },
    120 * SECONDS,
  );

  test(
    'given a preflight by hand, then an event of our bus has another function do it, whose answer is the cluster’s record',
    async () => {
      const asked = await ask(running, 'POST', '/clusters/lab/preflight', {});
      expect(asked.status).toBe(202);
      const probed = await until(
        'the probe',
        async () =>
          (await ask(running, 'GET', `/clusters/lab/events?after=${asked.body['after']}`)).body.items?.find(
            (one) => (one['event'] as { type: string }).type === 'cluster_probed',
          ),
        running,
      );
      expect(probed).toMatchObject({ event: { by: 'hand', login: 'ml' } });
    },
    60 * SECONDS,
  );

  test('given somebody whom the gateway does not know, or a route of nobody, then the doors keep them apart', async () => {
    expect((await fetch(`${running.url}/jobs`)).status).toBe(403);
    const stranger = await fetch(`${running.url}/jobs`, { headers: { 'x-caller': 'arn:aws:iam::000000000000:role/strangers' } });
    expect([stranger.status, stranger.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
    expect((await fetch(`${running.url}/health`)).status).toBe(200);
    const document = (await (await fetch(`${running.url}/openapi.json`)).json()) as { openapi: string };
    expect(document.openapi).toMatch(/^3\.1/);
  });

  test('then domain events were sent, every function has run, and none asked for what its role does not allow', async () => {
    const types = new Set(running.events.map((event) => event['detail-type']));
    for (const type of ['dispatch.job.state_changed', 'dispatch.attempt.ended', 'dispatch.checkpoint.published'])
      expect(types).toContain(type);
    const idle = [...running.functions.values()].filter((one) => one.loadedMs.length === 0).map((one) => one.deployed.name);
    expect(idle).toEqual([]);
    expect([...running.functions.keys()].sort()).toEqual([...FUNCTION_NAMES].sort());
    expect(running.refusals).toEqual([]);
    expect(running.failures).toEqual([]);
  });

  test('P2.6: then no line of any log holds a secret, a token, or a part of one', () => {
    const written = [...running.functions.values()].flatMap((one) => one.lines);
    expect(written.length).toBeGreaterThan(10);
    for (const line of written) {
      expect(() => JSON.parse(line), line).not.toThrow();
      for (const secret of SECRET_TEXTS) expect(line).not.toContain(secret);
      expect(line).not.toMatch(/dispatch1\.|PRIVATE KEY|Bearer /);
    }
  });
});

describe('the role check bites', () => {
  const without =
    (name: string, action: string) =>
    (cloud: Cloud): Cloud => ({
      ...cloud,
      functions: cloud.functions.map((one) =>
        one.name === name
          ? {
              ...one,
              role: one.role.map((statement) => ({ ...statement, actions: statement.actions.filter((other) => other !== action) })),
            }
          : one,
      ),
    });

  test.each([
    ['park', 'dynamodb:UpdateItem'],
    ['advance', 'secretsmanager:GetSecretValue'],
    ['submit', 'states:StartExecution'],
  ])(
    'given a role of %s without %s, then the story is refused, and names both',
    async (name, action) => {
      const running = await site.run(without(name, action));
      await ask(running, 'POST', '/jobs', spec(`without-${name}`, '#!/bin/bash\nexit 0\n'));
      const refused = await until('a refusal', () => running.refusals[0], running, 30);
      expect(refused).toMatchObject({ caller: name, action });
    },
    60 * SECONDS,
  );
});
