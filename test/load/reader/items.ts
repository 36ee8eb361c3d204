/**
 * Items: the table as it lies there, sorted into what belongs together. The reader knows the layout from its description alone
 * (docs: the record) and shares no code with dispatch: what it believes, it read from the items themselves.
 */

/** An attribute as DynamoDB writes it. */
export type RawItem = Readonly<Record<string, { readonly S?: string; readonly N?: string }>>;

export interface Point {
  readonly epoch: number;
  /** −1: nothing. */
  readonly step: number;
  readonly path: string;
}

export interface Outcome {
  readonly state: string;
  readonly cause: string;
  readonly class: string;
  readonly ran: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly evidence: readonly { readonly message?: string; readonly reason?: string }[];
}

export interface Relaunch {
  readonly max: number;
  readonly scale?: { readonly memoryPerNode?: { readonly upToMi: number } };
}

export interface Rule {
  readonly on: readonly string[];
  readonly when?: {
    readonly exitCode?: readonly number[];
    readonly signal?: readonly number[];
    readonly scope?: readonly string[];
    readonly message?: string;
  };
  readonly do: {
    readonly relaunch?: Relaunch;
    readonly requeue?: { readonly max: number; readonly by: string };
    readonly escalate?: object;
    readonly stop?: object;
  };
}

export interface Spec {
  readonly name: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: { readonly memoryPerNodeMi?: number };
  readonly deadline?: number;
  readonly policy: {
    readonly rules: readonly Rule[];
    readonly unmatched: string;
    readonly limits: { readonly attempts: number; readonly wallClockSeconds?: number };
  };
}

/** Every field that some event has; which one has which is what the rules ask. */
export interface RawEvent {
  readonly type: string;
  readonly n?: number;
  readonly try?: number;
  readonly spec?: Spec;
  readonly principal?: string;
  readonly project?: string;
  readonly idempotencyKey?: string;
  readonly identity?: string;
  readonly receipt?: { readonly cluster: string; readonly schedulerId: string; readonly identity: string };
  readonly resume?: Point;
  readonly resources?: { readonly memoryPerNodeMi?: number };
  readonly outcome?: Outcome;
  readonly runs?: readonly { readonly run: number; readonly base: Point; readonly latest?: Point; readonly publications: number }[];
  readonly run?: number;
  readonly state?: string;
  readonly finding?: { readonly kind: string };
  readonly by?: { readonly kind: string; readonly rule?: number; readonly question?: string; readonly answer?: string } | string;
  readonly action?: {
    readonly kind: string;
    readonly from?: string;
    readonly counts?: boolean;
    readonly resources?: { readonly memoryPerNodeMi?: number };
  };
  readonly notBefore?: number;
  readonly id?: string;
  readonly kind?: string;
  readonly episode?: number;
  readonly blocks?: boolean;
  readonly options?: readonly string[];
  readonly onExpiry?: string;
  readonly expiresAt?: number;
  readonly answer?: string;
  readonly epoch?: number;
  readonly step?: number;
  readonly path?: string;
  readonly late?: boolean;
  readonly because?: { readonly kind: string; readonly rule?: number; readonly question?: string; readonly answer?: string };
}

export interface RawCommit {
  readonly version: number;
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly events: readonly RawEvent[];
}

export interface RawJob {
  readonly job: string;
  /** In the order of their keys. */
  readonly commits: readonly RawCommit[];
  readonly head: RawItem | undefined;
  /** Tokens of questions, and what is not yet a fact: everything else under this job. */
  readonly others: readonly RawItem[];
}

export interface RawTable {
  readonly jobs: readonly RawJob[];
  /** Clusters keep logs by the same rules. */
  readonly clusters: readonly { readonly cluster: string; readonly versions: readonly number[] }[];
  /** Partition and sort key. */
  readonly labels: readonly { readonly label: string; readonly job: string }[];
  readonly keys: readonly RawItem[];
  readonly items: readonly RawItem[];
}

export const text = (item: RawItem | undefined, name: string): string => item?.[name]?.S ?? '';
export const count = (item: RawItem | undefined, name: string): number => Number(item?.[name]?.N ?? Number.NaN);

const commitOf = (item: RawItem): RawCommit => ({
  version: Number(text(item, 'sk').slice('E#'.length)),
  id: text(item, 'id'),
  at: count(item, 'at'),
  actor: text(item, 'actor'),
  events: JSON.parse(text(item, 'events')) as readonly RawEvent[],
});

export const tableOf = (items: readonly RawItem[]): RawTable => {
  const byJob = new Map<string, RawItem[]>();
  for (const item of items) {
    const pk = text(item, 'pk');
    if (pk.startsWith('JOB#')) byJob.set(pk.slice('JOB#'.length), [...(byJob.get(pk.slice('JOB#'.length)) ?? []), item]);
  }
  const jobs = [...byJob].map(([job, own]): RawJob => {
    const sorted = own.toSorted((a, b) => (text(a, 'sk') < text(b, 'sk') ? -1 : 1));
    return {
      job,
      commits: sorted.filter((item) => text(item, 'sk').startsWith('E#')).map(commitOf),
      head: sorted.find((item) => text(item, 'sk') === 'HEAD'),
      others: sorted.filter((item) => !/^(E#|HEAD$)/.test(text(item, 'sk'))),
    };
  });
  const ofClusters = items.filter((item) => text(item, 'pk').startsWith('CLUSTER#') && text(item, 'sk').startsWith('E#'));
  const clusters = [...Map.groupBy(ofClusters, (item) => text(item, 'pk').slice('CLUSTER#'.length))].map(([cluster, own]) => ({
    cluster,
    versions: own.map((item) => Number(text(item, 'sk').slice('E#'.length))).sort((a, b) => a - b),
  }));
  const labels = items
    .filter((item) => text(item, 'pk').startsWith('LABEL#'))
    .map((item) => ({ label: text(item, 'pk').slice('LABEL#'.length), job: text(item, 'sk') }));
  return { jobs, clusters, labels, keys: items.filter((item) => text(item, 'pk').startsWith('KEY#')), items };
};
