/** Door: the machine's Advance state. See lib/app/advance.ts. */
import { advance, type Directive } from '../lib/app/advance.ts';
import { advanceInputSchema } from '../lib/app/machine-input.ts';
import type { Ports } from '../lib/app/ports.ts';
import { worker } from '../lib/aws/worker.ts';

export const advanceHandler =
  (ports: () => Promise<Ports>) =>
  async (event: unknown): Promise<Directive> =>
    advance(await ports(), advanceInputSchema.parse(event) as Parameters<typeof advance>[1]);

export const handler = worker('advance', {
  handler: advanceHandler,
  tell: ({ log }, { next, version, seconds, question }) => log('info', 'directive', { next, version, seconds, question }),
});
