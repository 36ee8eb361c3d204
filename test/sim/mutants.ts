/**
 * Mutants: dispatch with one rule taken away. Those here are made at a port, for rules that a store or an adapter keeps; those of
 * mutants-source.ts change a line of dispatch itself. A mutant that no world catches is a missing invariant or a missing fault.
 */
import type { Ports } from '../../lib/app/ports.ts';
import type { World as Cluster } from '../../lib/cluster/memory/world.ts';
import type { Adapter, Session } from '../../lib/cluster/port.ts';
import type { Commit } from '../../lib/job/event.ts';
import type { MemoryStore } from '../../lib/record/memory-store.ts';
import type { Head, RecordStore } from '../../lib/record/port.ts';
import { SOURCE_MUTANTS } from './mutants-source.ts';
import type { SourceChange } from './mutate.ts';

export interface Mutant {
  readonly name: string;
  /** The rule that is missing. */
  readonly without: string;
  /** A line of dispatch itself is changed while it is loaded: in a process of its own (mutate.ts). */
  readonly source?: SourceChange;
  readonly store?: (store: MemoryStore) => RecordStore;
  readonly adapter?: (adapter: Adapter, cluster: Cluster) => Adapter;
  readonly ports?: (ports: Ports) => Ports;
}

const parkedOn = (head: Head | undefined): string | undefined => (head?.wake?.state === 'parked' ? head.wake.token : undefined);

const withSession =
  (change: (session: Session, cluster: Cluster) => Partial<Session>) =>
  (adapter: Adapter, cluster: Cluster): Adapter => ({
    ...adapter,
    connect: async (login) => {
      const session = await adapter.connect(login);
      return { ...session, ...change(session, cluster) };
    },
  });

/** Writes over what is there, as a Put without its condition does. */
const overwrite = (store: MemoryStore, commit: Commit): void => {
  const commits = store.dump().jobs.get(commit.job)!.commits as Commit[];
  commits[commit.version - 1] = structuredClone(commit);
};

const STORES: readonly Mutant[] = [
  {
    name: 'park-without-condition',
    without: 'P2.2: a token is stored only for the version that was decided from',
    store: (store) => ({
      ...store,
      park: async (job, slot, wake) => {
        const version = slot === '' ? ((await store.readHead(job))?.version ?? 0) : wake.version;
        return store.park(job, slot, { ...wake, version });
      },
    }),
  },
  {
    name: 'park-out-of-order',
    without: 'P2.2: a late Park never overwrites the living token',
    store: (store) => {
      let latest = 0;
      return {
        ...store,
        park: (job, slot, wake) => {
          latest = Math.max(latest, wake.order.enteredAt) + 1;
          return store.park(job, slot, { ...wake, order: { ...wake.order, enteredAt: latest } });
        },
      };
    },
  },
  {
    name: 'token-ignored',
    without: 'P2.3: the head moves only if the token is the one that was judged',
    store: (store) => ({
      ...store,
      moveHead: async (job, move) => {
        const token = parkedOn(await store.readHead(job));
        return store.moveHead(job, { ...move, token, take: move.take && token === move.token });
      },
    }),
  },
  {
    name: 'head-not-monotone',
    without: 'P1.4: the head only moves forward',
    store: (store) => ({
      ...store,
      moveHead: async (job, move) => {
        const answer = await store.moveHead(job, move);
        const holder = store.dump().jobs.get(job) as { head?: Head } | undefined;
        if (answer === 'behind' && holder?.head) holder.head = { ...holder.head, version: move.version, summary: move.summary };
        return answer === 'behind' ? 'moved' : answer;
      },
    }),
  },
  {
    name: 'commit-unconditional',
    without: 'P1.1: a version is written once',
    store: (store) => ({
      ...store,
      append: async (commit) => {
        if ((await store.append(commit)) === 'conflict') overwrite(store, commit);
        return 'appended';
      },
    }),
  },
  {
    name: 'second-sender',
    without: 'P3.1: only the committer of the latest attempt_planned sends',
    store: (store) => ({
      ...store,
      append: async (commit) => {
        const answer = await store.append(commit);
        const there = answer === 'conflict' ? await store.readAt(commit.job, commit.version) : undefined;
        const both = [there, commit].every((one) => one?.events.some((event) => event.type === 'attempt_planned'));
        return both ? 'appended' : answer;
      },
    }),
  },
  {
    name: 'answer-without-condition',
    without: 'P9: an answer is committed only while the question is open',
    store: (store) => ({
      ...store,
      append: async (commit) => {
        const answers = commit.events.some((event) => event.type === 'escalation_answered');
        const version = answers ? (await store.read(commit.job)).length + 1 : commit.version;
        return store.append({ ...commit, version });
      },
    }),
  },
  {
    name: 'owed-wake-forgotten',
    without: 'P2.4: what is owed is signalled again',
    store: (store) => ({ ...store, listOwed: async () => [] }),
  },
  {
    name: 'dead-writer-unseen',
    without: 'P2.4: reconcile reads the item after the head (W6)',
    store: (store) => ({ ...store, goingOn: async () => new Set<string>() }),
  },
  {
    name: 'owed-cleared-blindly',
    without: 'P2.3: `owed` is removed only while it still holds that token',
    store: (store) => ({
      ...store,
      clearWake: async (job, slot) => {
        const wake = await store.readWake(job, slot);
        if (!wake) return;
        if (wake.state === 'parked') await store.takeWake(job, slot, wake.token, 0, Number.MAX_SAFE_INTEGER);
        await store.clearWake(job, slot, wake.token);
      },
    }),
  },
  {
    name: 'token-not-kept-owed',
    without: 'P2.3: a token that was taken stays owed until its signal arrived',
    store: (store) => ({
      ...store,
      moveHead: async (job, move) => {
        const answer = await store.moveHead(job, move);
        if (answer === 'moved' && move.take && move.token !== undefined) await store.clearWake(job, '', move.token);
        return answer;
      },
    }),
  },
  {
    name: 'older-generation-parks',
    without: 'P2.8: a supervisor of an older generation leaves',
    store: (store) => ({
      ...store,
      seen: async (job, generation, machine, at) => {
        const head = await store.readHead(job);
        return store.seen(job, Math.max(generation, head?.supervisor.generation ?? 0), machine, at);
      },
      park: async (job, slot, wake) => {
        const generation = (await store.readHead(job))?.supervisor.generation ?? 0;
        return store.park(job, slot, { ...wake, order: { ...wake.order, generation: Math.max(generation, wake.order.generation) } });
      },
    }),
  },
  {
    name: 'key-forgotten',
    without: 'P1.5: an idempotency key belongs to one job',
    store: (store) => ({ ...store, claimKey: async (key) => key, readKey: async () => undefined }),
  },
  {
    name: 'lease-ignored',
    without: 'P5.1: of two polls that overlap one may commit what it saw',
    store: (store) => ({
      ...store,
      renewLease: async (cluster, login, renew) => {
        const answer = await store.renewLease(cluster, login, renew);
        return answer.kind === 'lost' ? { kind: 'renewed', fence: renew.fence + 1 } : answer;
      },
    }),
  },
];

const CLUSTERS: readonly Mutant[] = [
  {
    name: 'no-landing-bound',
    without: 'P3.3: the submitter refuses after B, by the cluster’s clock',
    adapter: withSession((session) => ({
      submit: (submission) => session.submit({ ...submission, clusterBoundAt: submission.clusterBoundAt + 3_600_000 }),
    })),
  },
  {
    name: 'absence-believed',
    without: 'P3.6: an absence needs positive evidence',
    adapter: withSession((session, cluster) => ({
      find: async (job) => {
        const found = await session.find(job);
        const clusterNow = cluster.catchUp() + cluster.state.clockOffsetMs;
        return found.kind === 'unreachable' ? { kind: 'absent', clusterNow } : found;
      },
    })),
  },
  {
    name: 'partial-look-believed',
    without: 'P5.6: only looks in which every source answered count towards an absence',
    adapter: withSession((session) => ({
      observe: async (targets) => {
        const observed = await session.observe(targets);
        return observed.kind === 'observed' ? { ...observed, complete: true } : observed;
      },
    })),
  },
  {
    name: 'mark-without-id',
    without: 'P4.2: the release mark names its own object',
    adapter: withSession((session, cluster) => ({
      fence: async (job, mark) => {
        const answer = await session.fence(job, mark);
        if (mark !== 'stop') acceptAnyone(cluster, job);
        return answer;
      },
    })),
  },
  {
    name: 'outage-believed',
    without: 'P5.4: not being able to look is no outcome',
    adapter: withSession((session, cluster) => ({
      observe: async (targets) => {
        const observed = await session.observe(targets);
        if (observed.kind !== 'unreachable') return observed;
        const clusterStartedAt = cluster.catchUp() + cluster.state.clockOffsetMs;
        return { kind: 'observed', clusterStartedAt, complete: true, changed: [], absent: targets, unexplained: [] };
      },
    })),
  },
];

/** Whoever asks for the mark of an attempt finds its own id in it: the object of that attempt that begins right now. */
const acceptAnyone = (cluster: Cluster, job: string): void => {
  for (const [key, control] of cluster.state.controls) {
    if (!key.endsWith(job)) continue;
    const marks = control.marks;
    const real = Map.prototype.get.bind(marks) as typeof marks.get;
    marks.get = (n) => {
      const mark = real(n);
      const asking = cluster.state.byJob.get(key)?.find((one) => one.n === n && one.state === 'running' && !one.execution);
      return mark && asking ? { ...mark, schedulerId: asking.id } : mark;
    };
  }
};

export const MUTANTS: readonly Mutant[] = [...STORES, ...CLUSTERS, ...SOURCE_MUTANTS];
