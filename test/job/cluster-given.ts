/** Given: a cluster's record told as rows of (seconds, what happened), and what it says then. */
import { CAPABILITY_NAMES, type Capabilities, type CapabilityName, type Probe } from '../../lib/job/capability.ts';
import { answerCluster, blocked, due, probed, type Refusal, reachable, unreachable } from '../../lib/job/cluster-command.ts';
import { type ClusterCommit, type ClusterEvent, clusterEventSchema, type ProbedBy } from '../../lib/job/cluster-event.ts';
import { type ClusterView, emptyCluster, foldCluster } from '../../lib/job/cluster-view.ts';

export const T0 = Date.UTC(2030, 0, 1);
export const HOUR = 3600;
export const LAB = 'lab';

/** Everything `yes` but what is named. */
export const probeAt = (
  seconds: number,
  supports: Partial<Record<CapabilityName, Capabilities[CapabilityName]['support']>> = {},
): Probe => {
  const probedAt = T0 + seconds * 1000;
  const capabilities = Object.fromEntries(
    CAPABILITY_NAMES.map((name) => [name, { support: supports[name] ?? 'yes', evidence: `asked at ${seconds}`, probedAt }]),
  ) as Capabilities;
  const facts = {
    scheduler: 'slurm 22.05',
    credentialLifeSeconds: 300,
    clockOffsetMs: seconds,
    partitions: [],
    requeueExitCodes: [],
    user: 'ada',
  };
  return { capabilities, facts, probedAt };
};

export const REFUSED: Refusal = { why: 'auth_refused', says: 'ada@lab:22 refused the key', configuration: 'c1', secret: 's1' };
export const HOST_KEY: Refusal = {
  ...{ why: 'host_key_changed', says: 'the host key of lab:22 is SHA256:B, but pinned is SHA256:A', configuration: 'c1', secret: 's1' },
  ...{ presented: 'SHA256:B', pinned: ['SHA256:A'] },
};

type What =
  | { readonly do: 'unreachable' | 'reachable'; readonly login?: string }
  | { readonly do: 'blocked'; readonly login?: string; readonly refusal: Refusal }
  | { readonly do: 'tend' }
  | { readonly do: 'answer'; readonly question: string; readonly answer: string }
  | {
      readonly do: 'probed';
      readonly login?: string;
      readonly by?: ProbedBy;
      readonly configuration?: string;
      readonly without?: Parameters<typeof probeAt>[1];
      readonly relied?: readonly CapabilityName[];
    };
export type Row = readonly [seconds: number, what: What];

const eventsOf = (view: ClusterView, seconds: number, what: What): readonly ClusterEvent[] => {
  const now = T0 + seconds * 1000;
  switch (what.do) {
    case 'unreachable':
      return unreachable(view, what.login ?? 'a', 'connection refused', now);
    case 'reachable':
      return reachable(view, what.login ?? 'a', now);
    case 'blocked':
      return blocked(view, what.login ?? 'a', what.refusal, now);
    case 'tend':
      return due(view, now);
    case 'answer': {
      const said = answerCluster(view, { ...what, by: 'ada' }, now);
      return said.kind === 'events' ? said.events : [];
    }
    case 'probed': {
      const { login = 'a', by = 'age', configuration = 'c1', without = {}, relied = [] } = what;
      return probed(view, { login, by, configuration, probe: probeAt(seconds, without), relied }, now);
    }
  }
};

export interface Told {
  readonly view: ClusterView;
  /** Per row, what it committed: types, with the login or the question's id. */
  readonly said: readonly (readonly string[])[];
}

const brief = (event: ClusterEvent): string => `${event.type} ${'login' in event ? event.login : event.id}`;

export const tell = (rows: readonly Row[]): Told => {
  let view = emptyCluster(LAB);
  const said = rows.map(([seconds, what]) => {
    const events = eventsOf(view, seconds, what).map((event) => clusterEventSchema.parse(event));
    if (events.length > 0) view = foldCluster([commitOf(view, seconds, events)], view);
    return events.map(brief);
  });
  return { view, said };
};

export const commitOf = (view: Pick<ClusterView, 'version'>, seconds: number, events: readonly ClusterEvent[]): ClusterCommit => ({
  ...{ cluster: LAB, version: view.version + 1, commitId: `c${view.version}`, at: T0 + seconds * 1000, actor: 'poller:lab', schema: 1 },
  events,
});
