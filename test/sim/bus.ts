/** The bus as one process of a world sees it: what is put may not arrive, or arrive unheard. */
import { type Bus, BusFailure } from '../../lib/app/ports.ts';
import type { Failing, Kernel, Process } from './kernel.ts';
import type { NoticeCheck } from './notice-check.ts';

export const busFor = (kernel: Kernel, process: Process, check: NoticeCheck): Bus => ({
  put: (notices) =>
    kernel.call(
      process,
      `put notices: ${notices.length}`,
      async () => check.kept(notices),
      () => failing(kernel),
    ),
});

const failing = (kernel: Kernel): Failing | undefined => {
  const error = (): BusFailure => new BusFailure('the bus did not answer');
  if (kernel.meets('bus_request_lost')) return { when: 'before', error };
  return kernel.meets('bus_reply_lost') ? { when: 'after', error } : undefined;
};
