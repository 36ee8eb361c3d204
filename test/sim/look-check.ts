/** Looks (protocols §5.1, §5.2): of polls that overlap one commits, the order of fences is that of looks, and nothing older than what is known. */
import type { Event } from '../../lib/job/event.ts';
import type { View } from '../../lib/job/view.ts';
import { holds } from './verdict.ts';

export interface LookCheck {
  /** A process, by its id, looked at everything on the cluster. */
  observes(process: number, nowMs: number): void;
  /** It committed these events. */
  commits(before: View, events: readonly Event[], process: number): void;
}

export const createLookCheck = (): LookCheck => {
  /** By login, and by the fence of its poll's lease: which process holds it. */
  const byLogin = new Map<string, Map<number, number>>();
  const observed = new Map<number, number>();
  const lookedAt = (process: number): number => observed.get(process) ?? 0;
  return {
    observes: (process, nowMs) => void observed.set(process, nowMs),
    commits(before, events, process) {
      for (const event of events) {
        if ((event.type !== 'attempt_observed' && event.type !== 'attempt_ended') || !event.look) continue;
        const { fence, clusterStartedAt } = event.look;
        const where = (): string => `${event.type} of ${before.job} under the fence ${fence}`;
        const login = before.attempts[event.n - 1]?.login ?? '';
        const owners = byLogin.get(login) ?? new Map<number, number>();
        byLogin.set(login, owners);
        const owner = owners.get(fence) ?? process;
        owners.set(fence, owner);
        holds(owner === process, 'S8', () => `${where()}, which two polls hold`);
        const overtaken = [...owners].find(([other, by]) => other < fence && lookedAt(by) > lookedAt(process));
        holds(!overtaken, 'S8', () => `${where()}, and the poll of ${overtaken?.[0]} had looked later`);
        const known = before.attempts[event.n - 1]?.look;
        const older = known && (known.fence > fence || known.clusterStartedAt > clusterStartedAt);
        holds(!older, 'S8', () => `${where()} is of a look that is older than what was known`);
      }
    },
  };
};
