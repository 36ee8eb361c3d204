/** The words of the command line: `dispatch <command>`. What each does is in verbs.ts; here is how it is called. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { ANSWERS } from '../job/event.ts';
import type { Verbs } from './verbs.ts';

/** Of every command. */
export interface Everywhere {
  readonly url: string;
  readonly tokenFile?: string;
  readonly json: boolean;
}

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`a whole number from ${least} to ${most}.`);
    return value;
  };

export const DEFAULT_URL = 'http://127.0.0.1:8080';

export interface Printing {
  readonly out: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** `verbs`: made when a command runs, from the options that stand before or behind it. */
export const commandLine = (verbs: (options: Everywhere) => Promise<Verbs>, { out, warn }: Printing): Command => {
  const root = new Command('dispatch')
    .description('Submits, explains and supervises training jobs: a client of the API.')
    .addOption(new Option('--url <address>', 'of the API').env('DISPATCH_URL').default(DEFAULT_URL))
    .addOption(new Option('--token-file <file>', 'file with the bearer token to send').env('DISPATCH_CLIENT_TOKEN_FILE'))
    .option('--json', 'print what the API answered', false)
    .configureOutput({ writeOut: out, writeErr: warn })
    .exitOverride();
  const add = (usage: string, says: string): Command => root.command(usage).description(says);
  const does =
    <A extends unknown[]>(act: (verbs: Verbs, ...given: A) => Promise<void>) =>
    async (...given: unknown[]): Promise<void> => {
      const command = given.at(-1) as Command;
      await act(await verbs(command.optsWithGlobals()), ...(given.slice(0, -1) as A));
    };

  add('plan <spec>', 'what would happen to a spec (a JSON file, - for standard input), before anything starts').action(
    does((to, spec: string) => to.plan(spec)),
  );
  add('submit <spec>', 'submits a job')
    .option('--key <text>', 'idempotency key: the same key carries the same job on')
    .option('--plan <digest>', 'of the plan that you have read: refused if it would be another one now')
    .option('--watch', 'then watch it', false)
    .action(does((to, spec: string, options: { key?: string; plan?: string; watch: boolean }) => to.submit(spec, options)));
  add('jobs', 'lists jobs, newest first')
    .option('--state <word>', 'only of this state')
    .option('--cluster <id>', 'only on this cluster')
    .option('--limit <n>', 'rows', whole(1, 100), 20)
    .action(does((to, options: { state?: string; cluster?: string; limit: number }) => to.jobs(options)));
  add('show <job>', 'how a job is, and why').action(does((to, job: string) => to.show(job)));
  add('watch <job>', 'tells what happens to a job until it has ended; exit code 0 only if it succeeded').action(
    does((to, job: string) => to.watch(job)),
  );
  add('cancel <job>', 'asks for its end')
    .option('--reason <text>', 'kept in the record')
    .action(does((to, job: string, options: { reason?: string }) => to.cancel(job, options)));
  add('questions', 'open questions').action(does((to) => to.questions()));
  add('answer <about> <question> <answer>', `answers a question about a job or a cluster: ${ANSWERS.join(', ')}`).action(
    does((to, about: string, question: string, answer: string) => to.answer(about, question, answer)),
  );
  add('output <job>', 'what a run wrote')
    .option('--attempt <n>', 'default: the last', whole(1, 99_999))
    .option('--run <n>', 'default: the newest', whole(0, 999_999))
    .addOption(new Option('--stream <name>', 'which').choices(['stdout', 'stderr']).default('stdout'))
    .option('--follow', 'go on until the job has ended', false)
    .action(
      does((to, job: string, options: { attempt?: number; run?: number; stream: 'stdout' | 'stderr'; follow: boolean }) =>
        to.output(job, options),
      ),
    );
  add('checkpoints <job>', 'what was published')
    .option('--refresh', 'list on the cluster now', false)
    .action(does((to, job: string, options: { refresh: boolean }) => to.checkpoints(job, options)));
  add('collect <job>', 'tells which old saves may go; with --remove removes them, for good')
    .requiredOption('--keep <n>', 'how many of those that could be resumed from stay', whole(2, 1000))
    .option('--remove', 'do it', false)
    .action(does((to, job: string, options: { keep: number; remove: boolean }) => to.collect(job, options)));
  return root;
};
