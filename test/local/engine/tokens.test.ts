import { describe, expect, test } from 'vitest';
import { isToken, mintToken } from '../../../lib/local/engine/token.ts';
import { named, outputOf, wait, world } from './world.ts';

const refused = (name: string): unknown => expect.objectContaining({ name, code: name, retryable: false });

describe('tokens', () => {
  test('a signal ends the wait with its output; the answer of the function is dropped', async () => {
    const w = world({ A: wait({ Output: { got: '{% $states.result %}' } }) }, () => ({ dropped: true }));
    await w.start();
    expect(w.ended).toEqual([]);
    w.engine.sendTaskSuccess(w.token(), '{"a":[null]}');
    await w.clock.settle();
    expect(outputOf(w)).toEqual({ got: { a: [null] } });
    expect(w.clock.pending()).toBe(0);
  });

  test('a signal may come before the function has returned, and what the function does then is of no matter', async () => {
    for (const last of ['return', 'throw'] as const) {
      let finish: () => void = () => {};
      const w = world({ A: wait() }, async () => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        if (last === 'throw') throw named('StaleDecision');
      });
      await w.start();
      w.engine.sendTaskSuccess(w.token(), '{}');
      finish();
      await w.clock.settle();
      expect(outputOf(w)).toEqual({});
    }
  });

  test('a second signal, in the same breath or later, is too late', async () => {
    const w = world({ A: wait() });
    await w.start();
    w.engine.sendTaskSuccess(w.token(), '{}');
    for (const again of [w.engine.sendTaskSuccess, w.engine.sendTaskFailure])
      expect(() => again(w.token(), '{}')).toThrow(refused('TaskTimedOut'));
    expect(() => w.engine.sendTaskHeartbeat(w.token())).toThrow(refused('TaskTimedOut'));
    await w.clock.settle();
    expect(() => w.engine.sendTaskSuccess(w.token(), '{}')).toThrow(refused('TaskTimedOut'));
  });

  test('so is a signal after the time limit, a stop, or a kill', async () => {
    for (const how of ['limit', 'stop', 'kill'] as const) {
      const w = world({ A: wait() });
      const name = await w.start();
      if (how === 'limit') await w.clock.advance(3_600_000);
      if (how === 'stop') w.engine.stopExecution(name);
      if (how === 'kill') w.engine.kill(name);
      expect(() => w.engine.sendTaskSuccess(w.token(), '{}')).toThrow(refused('TaskTimedOut'));
    }
  });

  test('a token that an earlier process made is too late, not invalid', async () => {
    const w = world({ A: wait() });
    const before = world({ A: wait() }, undefined, { random: () => 0.25 });
    await before.start();
    expect(() => w.engine.sendTaskSuccess(before.token(), '{}')).toThrow(refused('TaskTimedOut'));
  });

  test.each(['', 'abc', '0'.repeat(40)])('what is no token is invalid: %j', (text) => {
    const { engine } = world({ A: wait() });
    for (const call of [engine.sendTaskSuccess, engine.sendTaskFailure]) expect(() => call(text, '{}')).toThrow(refused('InvalidToken'));
    expect(() => engine.sendTaskHeartbeat(text)).toThrow(refused('InvalidToken'));
  });

  test('P2.6 no message shows a token', async () => {
    const w = world({ A: wait() });
    const name = await w.start();
    w.engine.kill(name);
    for (const token of [w.token(), `${w.token()}0`]) {
      expect(() => w.engine.sendTaskSuccess(token, '{}')).not.toThrow(token);
      expect(() => w.engine.sendTaskSuccess(token, '{}')).toThrow();
    }
  });

  test.each(['', '{', 'undefined', JSON.stringify('x'.repeat(262_144))])(
    'an output that is no JSON or too large leaves the wait as it was',
    async (text) => {
      const w = world({ A: wait() });
      await w.start();
      expect(() => w.engine.sendTaskSuccess(w.token(), text)).toThrow(refused('InvalidOutput'));
      w.engine.sendTaskSuccess(w.token(), 'null');
      await w.clock.settle();
      expect(outputOf(w)).toBeNull();
    },
  );

  test('an error of the function fails the task at once, and the next attempt has a new token', async () => {
    let call = 0;
    let drawn = 0;
    const w = world(
      { A: wait({ Retry: [{ ErrorEquals: ['X'] }] }) },
      () => {
        if (call++ === 0) throw named('X');
      },
      { random: () => (drawn++ % 97) / 97 },
    );
    await w.start();
    await w.clock.advance(1000);
    expect(w.token(0)).not.toBe(w.token(1));
    expect(() => w.engine.sendTaskSuccess(w.token(0), '{}')).toThrow(refused('TaskTimedOut'));
    w.engine.sendTaskSuccess(w.token(1), '{}');
    await w.clock.settle();
    expect(outputOf(w)).toEqual({});
  });

  test('a changed token is no token', () => {
    const token = mintToken(() => 0.123);
    expect(isToken(token)).toBe(true);
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === '0' ? '1' : '0';
      expect(isToken(token.slice(0, at) + other + token.slice(at + 1))).toBe(false);
    }
  });
});

describe('heartbeats', () => {
  const beating = { A: wait({ TimeoutSeconds: 100, HeartbeatSeconds: 30 }) };

  test('silence for that long fails the task, under the name of a time-out', async () => {
    const w = world(beating);
    await w.start();
    await w.clock.advance(29_999);
    expect(w.ended).toEqual([]);
    await w.clock.advance(1);
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect(w.engine.history('e').map(({ type }) => type)).toContain('TaskTimedOut');
  });

  test('a heartbeat starts the silence anew but does not move the time limit', async () => {
    const w = world(beating);
    await w.start();
    for (let beat = 0; beat < 4; beat++) {
      await w.clock.advance(24_000);
      w.engine.sendTaskHeartbeat(w.token());
    }
    await w.clock.advance(3999);
    expect(w.ended).toEqual([]);
    await w.clock.advance(1);
    expect(w.end()).toMatchObject({ error: 'States.Timeout', cause: 'A took longer than 100 s' });
    expect(w.clock.pending()).toBe(0);
  });

  test('it can be caught under its own name', async () => {
    const w = world({
      A: wait({ HeartbeatSeconds: 30, Catch: [{ ErrorEquals: ['States.HeartbeatTimeout'], Next: 'B' }] }),
      B: { Type: 'Succeed' },
    });
    await w.start();
    await w.clock.advance(30_000);
    expect(outputOf(w)).toMatchObject({ Error: 'States.Timeout' });
  });

  test('a heartbeat to a task without that limit changes nothing', async () => {
    const w = world({ A: wait() });
    await w.start();
    w.engine.sendTaskHeartbeat(w.token());
    expect(w.clock.pending()).toBe(1);
  });
});
