/** One command over a wire that breaks at every possible byte: an answer is whole or it is none. */
import { expect, test } from 'vitest';
import { exchange, type Listener } from '../../../../lib/cluster/slurm/transport/exchange.ts';
import { command, failureOf, fixedSources } from './answers.ts';

const nonce = '01'.repeat(16);
const OUT = `Welcome!\n700145|COMPLETED|0:0\ndispatch-begin:${nonce}\nrow 1\nrow 2\ndispatch-end:${nonce} 0\n`;
const ERR = `dispatch-begin:${nonce}\noops\ndispatch-end:${nonce} 0\n`;

const over = (out: string, err: string) =>
  exchange(command('x'), 'c1', fixedSources(), (listener: Listener) => {
    listener.opened({ write: () => undefined, release: () => undefined, kill: () => undefined });
    listener.output('stdout', Buffer.from(out));
    listener.output('stderr', Buffer.from(err));
    listener.ended({ how: 'closed' });
  });

test('C049 P3.4 a connection that drops after any byte of the answer: none of it counts, and it may have been sent', async () => {
  for (let at = 0; at < OUT.length; at++) expect(await failureOf(over(OUT.slice(0, at), ERR)), `${at}`).toMatchObject({ sent: 'maybe' });
  for (let at = 0; at < ERR.length; at++) expect(await failureOf(over(OUT, ERR.slice(0, at))), `${at}`).toMatchObject({ sent: 'maybe' });
  expect(await over(OUT, ERR)).toMatchObject({ stdout: 'row 1\nrow 2\n', stderr: 'oops\n', exitCode: 0 });
});

test('P3.4 a wire that throws before it was written to has sent nothing', async () => {
  const failed = exchange(command('x'), 'c1', fixedSources(), (listener) =>
    listener.failed((sent) => Object.assign(new Error(sent), { code: 'x', sent }) as never),
  );
  expect(await failureOf(failed)).toMatchObject({ sent: 'no' });
});
