/**
 * The ground truth of a memory cluster: what really happened, whatever dispatch was told. The simulator's invariants judge this.
 */
import type { Cause } from '../../job/cause.ts';
import type { Point } from '../../job/event.ts';
import type { Publication } from '../port.ts';

import type { ClusterObject, Execution } from './object.ts';
import { type Act, isKnown, type State } from './state.ts';

export interface TrueObject {
  readonly id: string;
  readonly name: string;
  readonly login: string;
  readonly tag?: string;
  readonly job?: string;
  readonly n?: number;
  readonly state: ClusterObject['state'];
  readonly run: number;
  readonly open: boolean;
  readonly held: boolean;
  readonly landedAtMs: number;
  readonly endedAtMs?: number;
  readonly cause?: Cause;
  /** Some source still knows it. */
  readonly known: boolean;
}

/** One execution of a job's program. `endedAtMs` absent: it runs. A survivor's object ended before it. */
export interface TrueExecution {
  readonly job: string;
  readonly tag: string;
  readonly n: number;
  readonly run: number;
  readonly schedulerId: string;
  readonly base: Point;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly how?: string;
  readonly survivor: boolean;
  readonly environment: Readonly<Record<string, string>>;
}

export interface TruePublication extends Publication {
  readonly job: string;
  readonly schedulerId: string;
  readonly atMs: number;
}

export interface TrueControl {
  readonly tag: string;
  readonly job: string;
  readonly marks: readonly { readonly n: number; readonly schedulerId: string; readonly writtenAtMs: number }[];
  readonly stoppedAtMs?: number;
  readonly claims: readonly { readonly n: number; readonly run: number; readonly text: string; readonly atMs: number }[];
  readonly refused: readonly { readonly schedulerId: string; readonly run: number; readonly why: string; readonly atMs: number }[];
}

export interface Truth {
  readonly nowMs: number;
  readonly objects: readonly TrueObject[];
  readonly executions: readonly TrueExecution[];
  readonly publications: readonly TruePublication[];
  readonly controls: readonly TrueControl[];
  /** In order; submissions with what became of them, also those that landed later than their sender knew. */
  readonly acts: readonly Act[];
}

export const truthOf = (state: State): Truth => ({
  nowMs: state.agenda.nowMs,
  objects: state.objects.map((object) => trueObject(state, object)),
  executions: state.executions.map(trueExecution),
  publications: [...state.controls].flatMap(([key, { pub }]) =>
    [...pub.values()].map((publication) => ({ job: splitKey(key).job, ...publication })),
  ),
  controls: [...state.controls].map(([key, control]) => ({
    ...splitKey(key),
    marks: [...control.marks.values()].map(({ n, schedulerId, writtenAtMs }) => ({ n, schedulerId, writtenAtMs })),
    ...(control.stop ? { stoppedAtMs: control.stop.writtenAtMs } : {}),
    claims: [...control.claims.values()],
    refused: [...control.refused],
  })),
  acts: [...state.acts],
});

const splitKey = (key: string): { tag: string; job: string } => ({ tag: key.slice(0, 4), job: key.slice(5) });

const trueObject = (state: State, object: ClusterObject): TrueObject => {
  const { id, name, login, tag, job, n, run, open, landedAtMs, endedAtMs } = object;
  return {
    ...{ id, name, login, run, open, landedAtMs, state: object.state, held: object.held !== undefined, known: isKnown(state, object) },
    ...(tag && job && n ? { tag, job, n } : {}),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(object.ending ? { cause: object.ending.cause } : {}),
  };
};

const trueExecution = ({
  job,
  tag,
  n,
  run,
  schedulerId,
  base,
  startedAtMs,
  endedAtMs,
  how,
  survivor,
  environment,
}: Execution): TrueExecution => ({
  ...{ job, tag, n, run, schedulerId, base, startedAtMs, survivor, environment },
  ...(endedAtMs === undefined ? {} : { endedAtMs }),
  ...(how === undefined ? {} : { how }),
});
