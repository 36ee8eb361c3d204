import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Session } from '../../../../lib/cluster/slurm/transport/port.ts';
import { quote } from '../../../../lib/cluster/slurm/transport/quote.ts';
import { type ShellOptions, shellTransport } from '../../../../lib/cluster/slurm/transport/shell.ts';
import { ANSWERS, command, FAILURES, failureOf, fixedSources } from './answers.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const sessions: Session[] = [];
const open = async (options: Partial<ShellOptions> = {}): Promise<Session> => {
  const session = await shellTransport({ env: { PATH }, ...options }, fixedSources()).connect();
  sessions.push(session);
  return session;
};
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});

describe('the local shell', () => {
  test.each(ANSWERS)('answers: $name', async ({ script, answer }) => {
    expect(await (await open()).run(command(script))).toEqual(answer);
  });

  test.each(FAILURES)('fails: $name', async ({ command, failure }) => {
    expect(await failureOf((await open()).run(command))).toMatchObject({ name: 'ClusterFailure', ...failure });
  });

  test('commands see the environment that was given and no other', async () => {
    process.env['DISPATCH_TEST_LEAK'] = 'leaked';
    const answer = await (await open({ env: { PATH, GIVEN: 'yes' } })).run(command('echo "$GIVEN-$DISPATCH_TEST_LEAK"'));
    delete process.env['DISPATCH_TEST_LEAK'];
    expect(answer.stdout).toBe('yes-\n');
  });

  test('several commands in one session, also at the same time, each gets its own answer', async () => {
    const session = await open();
    const answers = await Promise.all([1, 2, 3, 4].map((n) => session.run(command(`echo ${n}`))));
    expect(answers.map((answer) => answer.stdout)).toEqual(['1\n', '2\n', '3\n', '4\n']);
  });

  test('a command that is given up leaves no process of its group behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shell-'));
    const file = join(folder, 'pid');
    // Given up for its output and not for its time, so that the child has surely started: its pid appears by renaming, whole.
    const child = `sh -c ${quote(`echo $$ >${file}.new && mv ${file}.new ${file} && exec sleep 30`)} &`;
    const script = `${child}\nwhile [ ! -e ${file} ]; do sleep 0.01; done; while :; do echo more; done`;
    const failure = await failureOf((await open()).run(command(script, { maxBytes: 100 })));
    expect(failure.reason).toBe('too_long');
    const pid = Number(readFileSync(file, 'utf8'));
    // A killed orphan stays a zombie until its new parent looks; either way it runs no more.
    await expect.poll(() => running(pid), { timeout: 5000 }).toBe(false);
    rmSync(folder, { recursive: true });
  });

  test('a shell that cannot be started: nothing was sent', async () => {
    const session = await open({ shell: '/nonexistent/sh' });
    expect(await failureOf(session.run(command('echo')))).toMatchObject({ code: 'cluster/command_failed', reason: 'no_shell', sent: 'no' });
  });

  test('a shell that refuses says why', async () => {
    const session = await open({ shell: '/bin/false' });
    expect(await failureOf(session.run(command('echo')))).toMatchObject({
      code: 'cluster/command_failed',
      reason: 'no_shell',
      sent: 'maybe',
    });
  });

  test('closing ends what runs, and nothing runs afterwards', async () => {
    const session = await open();
    const work = failureOf(session.run(command('sleep 30')));
    await session.close();
    expect(await work).toMatchObject({ code: 'cluster/unreachable', reason: 'closed', sent: 'maybe' });
    expect(await failureOf(session.run(command('echo')))).toMatchObject({ code: 'cluster/unreachable', reason: 'closed', sent: 'no' });
  });
});

function running(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
