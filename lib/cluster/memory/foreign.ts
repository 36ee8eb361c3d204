/**
 * What strangers do to the memory cluster, with other means than an adapter: the account's owner, an administrator, another tool.
 */
import { assert } from '../../job/assertion.ts';
import { edit } from './disturb.ts';
import type { Canceller } from './ending.ts';
import { cancel, hold, land, release, requeue, unhold } from './lifecycle.ts';
import type { ClusterObject } from './object.ts';
import { jobScriptSchema } from './script.ts';
import { isKnown, isPurged, type State } from './state.ts';

export interface ForeignSubmission {
  readonly name: string;
  readonly login: string;
  /** The second object of an identity: the same submission sent once more, by whomever. Else a program outside dispatch. */
  readonly copyOf?: string;
  /** Of a program outside dispatch: its first attempt, checked like any script. */
  readonly script?: unknown;
}

/** What strangers do. Each returns whether it had any effect; ids that nobody knows have none. */
export interface Foreign {
  submit(made: ForeignSubmission): string | undefined;
  cancel(id: string, by?: Canceller): boolean;
  hold(id: string): boolean;
  unhold(id: string): boolean;
  release(id: string): boolean;
  requeue(id: string): boolean;
  edit(id: string, change: { timeLimitSeconds: number }): boolean;
}

export const foreignOf = (
  state: State,
  catchUp: () => number,
  on: (id: string, act: (object: ClusterObject) => boolean) => boolean,
): Foreign => ({
  submit({ name, login, copyOf, script = [] }) {
    catchUp();
    const original = copyOf === undefined ? undefined : state.byId.get(copyOf);
    assert(copyOf === undefined || original?.submission, `no submission to copy: ${copyOf}`);
    // On Kubernetes a name is one object.
    if (state.settings.shape === 'kubernetes' && state.objects.some((object) => object.name === name && isKnown(state, object)))
      return undefined;
    const runs = original ? original.runs : [jobScriptSchema.parse(script)[0] ?? []].flat().filter((item) => 'program' in item);
    const object = land(state, {
      name,
      login,
      runs,
      hash: original?.hash ?? '',
      ...(original?.submission ? { submission: original.submission } : {}),
    });
    return object.id;
  },
  cancel: (id, by = 'login') => on(id, (object) => cancel(state, object, by)),
  hold: (id) => on(id, (object) => hold(state, object)),
  unhold: (id) =>
    on(id, (object) => {
      if (!object.held) return false;
      unhold(state, object);
      return true;
    }),
  release: (id) => on(id, (object) => !object.open && release(state, object)),
  requeue: (id) =>
    on(id, (object) => {
      if (state.settings.shape === 'kubernetes' || isPurged(state, object)) return false;
      if (object.state === 'gated' || object.state === 'queued') return false;
      requeue(state, object);
      return true;
    }),
  edit: (id, { timeLimitSeconds }) =>
    on(id, (object) => {
      if (object.state === 'ended') return false;
      edit(state, object, timeLimitSeconds);
      return true;
    }),
});
