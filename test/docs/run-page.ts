/**
 * Run a page: its blocks one after the other in one shell, against its own server, and what each of them printed.
 * A page without a `sh server` block is one that says "with dispatch running": it gets one that runs already.
 */
import type { Block } from './page.ts';
import { type Server, startServer } from './server.ts';
import { openShell, type Shell } from './shell.ts';

export interface Outcome {
  readonly printed: string;
  /** Why it counts as not run; a command that failed, or a block that could not be run at all. */
  readonly wrong?: string;
}

/** By the line of each block that was run. Never throws: what goes wrong belongs to a block. */
export const runPage = async (blocks: readonly Block[], tell: (line: number, outcome: Outcome) => void): Promise<void> => {
  let shell: Shell | undefined;
  let server: Server | undefined;
  const serve = async (command: string): Promise<string> => {
    const stopped = await server?.stop();
    server = undefined;
    if (stopped === false) throw new Error('the server before it did not end in order');
    server = await startServer(command, shell!.folder);
    await shell!.leads(server.leads);
    return server.printed;
  };
  const does = async (block: Block): Promise<Outcome> => {
    if (block.kind === 'server') return { printed: await serve(block.text) };
    const ran = await shell!.run(block.text);
    const printed = server?.shown(ran.printed) ?? ran.printed;
    return { printed, ...(ran.failed.length > 0 ? { wrong: `${ran.failed.join('\n')}\nprinted: ${printed}` } : {}) };
  };
  let broken: string | undefined;
  try {
    shell = await openShell();
    if (!blocks.some((block) => block.kind === 'server')) await serve('npm start');
  } catch (error) {
    broken = String(error);
  }
  for (const block of blocks) {
    if (block.kind !== 'run' && block.kind !== 'server') continue;
    // What follows a block that broke would only repeat it.
    const outcome: Outcome = broken === undefined ? await does(block).catch(failed) : { printed: '', wrong: broken };
    if (outcome.wrong !== undefined) broken ??= `not run: the block in line ${block.line} went wrong`;
    tell(block.line, outcome);
  }
  await server?.stop();
  await shell?.close();
};

const failed = (error: unknown): Outcome => ({ printed: '', wrong: error instanceof Error ? error.message : String(error) });
