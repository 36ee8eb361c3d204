/**
 * quiet poll: a poll of ten thousand running attempts about which there is nothing to say: what it asks of the scheduler and of
 * the record, how much it reads per job, and what it takes of the processor and of memory. This process only prepares.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Measure, tell } from './measure.ts';
import { headItems } from './quiet-heads.ts';
import { startTable } from './table.ts';

const LIMIT_MS = 40_000;

const table = await startTable();
try {
  await table.seed(await headItems());
  const polling = fork(new URL('./poll-process.ts', import.meta.url), [table.endpoint, table.table], { timeout: LIMIT_MS });
  const ended = once(polling, 'exit');
  const said = await Promise.race([once(polling, 'message') as Promise<[Measure[]]>, ended]);
  if (!Array.isArray(said[0])) throw new Error(`the polling process ended with ${said.join(' ')} and said nothing`);
  tell(said[0]);
  await ended;
} finally {
  table.close();
}
