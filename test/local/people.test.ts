/**
 * People and their answers, over the wire of Step Functions with the real SDK client, across restarts (protocols §2.5, §9). Dispatch
 * lives in virtual time; only the sockets take real time. Each process has an endpoint of its own, as after a restart of the real one.
 */
import { SendTaskSuccessCommand, SFNClient } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test } from 'vitest';
import type { Notice } from '../../lib/app/notices.ts';
import { readToken } from '../../lib/app/read-token.ts';
import { type Endpoint, startEndpoint } from '../../lib/local/endpoint/endpoint.ts';
import { type Given, type Life, life } from '../contract/core/life.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Asked {
  readonly one: Life;
  readonly notices: readonly Notice[];
  /** What a person who may answer reads at GET …/token. */
  token(): Promise<string>;
  /** Over the endpoint of the process that lives now: `sent`, or the name that AWS gives the refusal. */
  send(token: string, output: string): Promise<string>;
  restart(): Promise<void>;
  closed(): readonly Notice[];
  reissues(): number;
}

const GIVEN: Given = {
  unmatched: 'escalate',
  script: [
    { queueSeconds: 1, program: { runsSeconds: 5, ends: { exit: 1 } } },
    { queueSeconds: 1, program: { runsSeconds: 5, ends: 'completed' } },
  ],
  pollEverySeconds: 30,
};

/** A job whose first attempt has failed, and that waits for a person. */
const asked = async (): Promise<Asked> => {
  const notices: Notice[] = [];
  const one = await life({ ...GIVEN, bus: { put: async (told) => void notices.push(...told) } });
  await one.until((status) => status.state === 'awaiting');
  await one.advance(1);
  let endpoint: Endpoint;
  let client: SFNClient;
  const open = async (): Promise<void> => {
    endpoint = await startEndpoint({ engine: one.system().engine });
    client = new SFNClient({ endpoint: endpoint.url, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    const [served, asks] = [endpoint, client];
    closing.push(served.close, () => asks.destroy());
  };
  await open();
  return {
    one,
    notices,
    async token() {
      const said = await readToken(one.ports(), one.view(), one.question().id);
      if (said.kind !== 'token') throw new Error(said.kind);
      return said.token;
    },
    async send(taskToken, output) {
      const answer = await client.send(new SendTaskSuccessCommand({ taskToken, output })).then(
        () => 'sent',
        (error: Error) => error.name,
      );
      await one.advance(1);
      return answer;
    },
    async restart() {
      await one.restartProcess(5);
      await one.advance(1);
      await open();
    },
    closed: () => notices.filter(({ type }) => type === 'dispatch.escalation.closed'),
    reissues: () => notices.filter(({ type }) => type === 'dispatch.escalation.reissued').length,
  };
};

const RELAUNCH = '{"answer":"relaunch"}';

describe('by task token', () => {
  test('a valid answer counts once it is in the record: closed by `token`, and the job goes on (P2.5)', async () => {
    const { one, token, send, closed, reissues } = await asked();
    expect(await send(await token(), RELAUNCH)).toBe('sent');
    expect(closed()).toMatchObject([{ how: 'answered', answer: 'relaunch', by: 'token' }]);
    expect((await one.ended()).state).toBe('succeeded');
    expect(reissues()).toBe(0);
  });

  test.each([['{"answer":"dance"}'], ['{"answer":7}'], ['{"other":1}'], ['"relaunch"'], ['null']])(
    'an invalid one (%s) changes nothing: the question is reissued, and its new token takes a valid one (P2.5)',
    async (output) => {
      const { one, token, send, closed, reissues, notices } = await asked();
      const first = await token();
      const { version } = one.view();
      expect(await send(first, output)).toBe('sent');
      expect(one.view().version).toBe(version);
      expect(closed()).toEqual([]);
      expect(reissues()).toBe(1);
      expect(notices.at(-1)).toMatchObject({
        escalation: { id: one.question().id, kind: 'unmatched_outcome', attempt: 1 },
        link: `/jobs/${one.job()}/escalations/${one.question().id}/token`,
      });
      const second = await token();
      expect(second).not.toBe(first);
      expect(await send(first, RELAUNCH)).toBe('TaskTimedOut');
      expect(await send(second, RELAUNCH)).toBe('sent');
      expect((await one.ended()).state).toBe('succeeded');
      expect(JSON.stringify(notices)).not.toMatch(new RegExp(`${first}|${second}`));
    },
  );

  test('the same token twice: the second is told so, and one answer is recorded (S11)', async () => {
    const { one, token, send, closed } = await asked();
    const first = await token();
    expect([await send(first, RELAUNCH), await send(first, '{"answer":"stop"}')]).toEqual(['sent', 'TaskTimedOut']);
    await one.ended();
    expect(one.count('escalation_answered')).toBe(1);
    expect(closed()).toHaveLength(1);
  });

  test('after an answer by the API it is late, and nothing comes of it (S11)', async () => {
    const { one, token, send, closed } = await asked();
    const first = await token();
    await one.answer('relaunch');
    expect(await send(first, '{"answer":"stop"}')).toBe('TaskTimedOut');
    expect(closed()).toMatchObject([{ by: 'ada', answer: 'relaunch' }]);
    expect((await one.ended()).state).toBe('succeeded');
  });

  test('what is no token is refused as such', async () => {
    const { send } = await asked();
    expect(await send('nonsense', RELAUNCH)).toBe('InvalidToken');
  });

  test('nobody answers: the default counts, and the token is dead (P9)', async () => {
    const { one, token, send, closed } = await asked();
    const first = await token();
    await one.ended(80 * 3600);
    expect(closed()).toMatchObject([{ how: 'expired', answer: 'stop' }]);
    expect(await send(first, RELAUNCH)).toBe('TaskTimedOut');
    expect(await readToken(one.ports(), one.view(), 'q1')).toEqual({ kind: 'closed' });
    expect(await readToken(one.ports(), one.view(), 'q9')).toEqual({ kind: 'unknown' });
  });
});

describe('across a restart', () => {
  test('the question stays, its token is reissued, the old one is dead, the new one answers (P2.5, P2.8)', async () => {
    const { one, token, send, restart, closed, reissues } = await asked();
    const first = await token();
    const { id, expiresAt } = one.question();
    await restart();
    expect(reissues()).toBe(1);
    const second = await token();
    expect(second).not.toBe(first);
    expect(one.question()).toMatchObject({ id, expiresAt });
    expect(await send(first, RELAUNCH)).toBe('TaskTimedOut');
    expect(await send(second, RELAUNCH)).toBe('sent');
    expect(closed()).toMatchObject([{ by: 'token' }]);
    expect((await one.ended()).state).toBe('succeeded');
  });

  test('an answer by the API right after it counts, and every restart reissues once', async () => {
    const { one, restart, closed, reissues } = await asked();
    await restart();
    await restart();
    expect(reissues()).toBe(2);
    await one.answer('relaunch');
    expect((await one.ended()).state).toBe('succeeded');
    expect(closed()).toMatchObject([{ by: 'ada' }]);
  });

  test('an expiry that came due while nobody ran is acted upon by the next process', async () => {
    const { one, closed } = await asked();
    await one.restartProcess(100 * 3600);
    await one.ended(60);
    expect(closed()).toMatchObject([{ how: 'expired', answer: 'stop' }]);
  });

  test('an answer committed by a process that died before it told anybody is acted upon, and told (P2.7)', async () => {
    const notices: Notice[] = [];
    const death = { call: 'escalation_answered', when: 'after' } as const;
    const one = await life({ ...GIVEN, death, bus: { put: async (told) => void notices.push(...told) } });
    await one.until((status) => status.state === 'awaiting');
    const dying = one.process();
    void one.answer('relaunch');
    while (dying.alive()) await one.clock.settle();
    await one.restartProcess(1);
    expect((await one.ended()).state).toBe('succeeded');
    expect(notices.filter(({ type }) => type === 'dispatch.escalation.closed')).toMatchObject([{ answer: 'relaunch', by: 'ada' }]);
  });
});
