/** Cancel a job and answer a question: a person's word committed to the record, and whom it wakes (protocols §7, §9). */
import { type Already, answer, cancel, type Refused } from '../job/command.ts';
import type { View } from '../job/view.ts';
import { commit } from './commit.ts';
import { loadView } from './load.ts';
import type { Ports } from './ports.ts';

export type Commanded =
  | { readonly kind: 'committed'; readonly view: View }
  | (Already & { readonly view: View })
  | (Refused & { readonly view: View })
  /** The version that the caller decided from is no longer the job's. */
  | { readonly kind: 'changed'; readonly view: View }
  | { readonly kind: 'unknown_job' };

const command = async (
  ports: Ports,
  job: string,
  principal: string,
  decide: (view: View) => ReturnType<typeof cancel>,
  ifVersion?: number,
): Promise<Commanded> => {
  const view = await loadView(ports.store, job);
  if (!view) return { kind: 'unknown_job' };
  const changed = (newest: View): boolean => ifVersion !== undefined && newest.version !== ifVersion;
  const committed = await commit(ports, view, `user:${principal}`, (newest) => {
    // Asked again after every conflict: the version is compared with the one that would be committed upon.
    if (changed(newest)) return undefined;
    const said = decide(newest);
    return said.kind === 'events' ? said.events : undefined;
  });
  if (committed.commitId) return { kind: 'committed', view: committed.view };
  if (changed(committed.view)) return { kind: 'changed', view: committed.view };
  const last = decide(committed.view);
  return last.kind === 'events' ? { kind: 'already', says: 'nothing changed', view: committed.view } : { ...last, view: committed.view };
};

export const cancelJob = (
  ports: Ports,
  job: string,
  by: { readonly principal: string; readonly reason: string; readonly ifVersion?: number },
): Promise<Commanded> => command(ports, job, by.principal, (view) => cancel(view, by), by.ifVersion);

export const answerQuestion = (
  ports: Ports,
  job: string,
  given: { readonly question: string; readonly answer: string; readonly by: string },
): Promise<Commanded> => command(ports, job, given.by, (view) => answer(view, given));
