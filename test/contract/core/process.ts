/**
 * Process: one operating system process of dispatch, as a test can kill it: at once, or before or after any one of its calls to
 * the record or to the cluster. From then on nothing of it moves: no call, no timer; what it had in hand is lost.
 */
import type { Bus } from '../../../lib/app/ports.ts';
import type { Adapter } from '../../../lib/cluster/port.ts';
import type { Commit, EventType } from '../../../lib/job/event.ts';
import type { Clock } from '../../../lib/local/clock.ts';
import type { System } from '../../../lib/local/system.ts';
import type { RecordStore } from '../../../lib/record/port.ts';

export interface Death {
  /** Of all calls of this process, from 1; or the first commit that carries an event of this type. */
  readonly call: number | EventType;
  /** `before`: the call has no effect. `after`: it has, and nobody hears the answer. */
  readonly when: 'before' | 'after';
}

export interface Process {
  readonly store: RecordStore;
  readonly adapter: Adapter;
  readonly bus?: Bus;
  readonly clock: Clock;
  /** Names of the calls it made so far. */
  readonly calls: readonly string[];
  alive(): boolean;
  /** A call is on its way. */
  busy(): boolean;
  kill(): void;
  runs(system: System): void;
  system(): System;
}

interface Parts {
  readonly clock: Clock;
  readonly store: RecordStore;
  readonly adapter: Adapter;
  readonly bus?: Bus;
  readonly death?: Death;
}

/** More calls than any life here needs: an endless loop that takes no virtual time would otherwise never come back. */
const MOST_CALLS = 200_000;

/** What a dead process waits for. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

export const spawn = ({ clock, store, adapter, bus, death }: Parts): Process => {
  const calls: string[] = [];
  let alive = true;
  let underway = 0;
  let system: System | undefined;
  const kill = (): void => {
    alive = false;
    system?.stop();
  };
  const isLast = (name: string, given: readonly unknown[]): boolean =>
    typeof death?.call === 'string'
      ? name === 'append' && (given[0] as Commit).events.some((event) => event.type === death.call)
      : death?.call === calls.length;
  const call = async <T>(name: string, given: readonly unknown[], effect: () => Promise<T>): Promise<T> => {
    if (!alive) return never();
    calls.push(name);
    if (calls.length > MOST_CALLS) {
      kill();
      throw new Error(`${MOST_CALLS} calls, the last of them ${calls.slice(-12).join(', ')}`);
    }
    const mine = isLast(name, given) ? death?.when : undefined;
    if (mine === 'before') {
      kill();
      return never();
    }
    underway += 1;
    const answer = await effect().finally(() => {
      underway -= 1;
    });
    if (mine === 'after') kill();
    return alive ? answer : never();
  };
  const watched = <T extends object>(of: T, pure: readonly string[] = []): T => {
    const made: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(of)) {
      made[name] =
        typeof value === 'function' && !pure.includes(name)
          ? (...given: unknown[]) => call(name, given, () => (value as (...given: unknown[]) => Promise<unknown>).apply(of, given))
          : value;
    }
    return made as T;
  };
  return {
    calls,
    kill,
    store: watched(store),
    ...(bus ? { bus: watched(bus) } : {}),
    adapter: { ...adapter, connect: (login) => call('connect', [login], async () => watched(await adapter.connect(login), ['gateFor'])) },
    clock: {
      now: () => clock.now(),
      after: (ms, fn) =>
        clock.after(ms, () => {
          if (alive) fn();
        }),
    },
    alive: () => alive,
    busy: () => alive && underway > 0,
    runs(made) {
      system = made;
    },
    system() {
      if (!system) throw new Error('this process runs nothing');
      return system;
    },
  };
};
