/**
 * Poll period: what one invocation by a schedule polls: once, or, where a cluster is polled more often than a schedule can tick, again and
 * again until the period is over. Guards the idle bill: where nothing is active it ends at once; and the function's own limit: no poll is
 * begun that may be cut off.
 */
import { type Polled, poll } from '../app/poll.ts';
import type { Ports } from '../app/ports.ts';
import { type PollAsked, pollAsked, pollRateMinutes } from './invocations.ts';

export type PollDone = Polled & Pick<PollAsked, 'cluster' | 'login'> & { readonly tookMs: number };

const MINUTE_MS = 60_000;
/** Less is never left to a poll. */
const LEAST_MS = 5_000;
/** Of what the longest poll of this period took. */
const MARGIN = 3;

/** `remainingMs`: until the platform ends this invocation; without it there is one poll. */
export const pollPeriod = async (ports: Ports, event: unknown, remainingMs?: () => number): Promise<readonly PollDone[]> => {
  const everySeconds = (cluster: string): number => ports.clusters.get(cluster)?.pollEverySeconds ?? MINUTE_MS / 1000;
  const asked = pollAsked(event, (cluster) => pollRateMinutes(everySeconds(cluster)));
  const everyMs = everySeconds(asked.cluster) * 1000;
  const began = ports.now();
  const done: PollDone[] = [];
  let sweep = asked.sweep;
  for (let i = 1; ; i++) {
    const from = ports.now();
    const polled = await poll(ports, { cluster: asked.cluster, login: asked.login, sweep });
    done.push({ ...polled, cluster: asked.cluster, login: asked.login, tookMs: ports.now() - from });
    sweep = false;
    const next = Math.max(began + i * everyMs, ports.now());
    if (polled.kind !== 'looked' || everyMs >= MINUTE_MS || next >= began + MINUTE_MS) return done;
    const longest = Math.max(LEAST_MS, MARGIN * Math.max(...done.map((one) => one.tookMs)));
    if (remainingMs === undefined || remainingMs() - (next - ports.now()) < longest) return done;
    await ports.sleep(next - ports.now());
  }
};
