/**
 * The memory store: the record in one process, for the simulator, tests and the use cases' own development.
 * Same answers as the DynamoDB store, to the letter (test/contract/store proves both). Every method does its whole effect before it
 * returns its promise, so a caller that is interrupted between two calls leaves exactly what a crash between two requests would.
 */
import { LIST_LIMIT } from './head.ts';
import { memoryBirth } from './memory/birth.ts';
import { memoryHead } from './memory/head.ts';
import { memoryJobList } from './memory/job-list.ts';
import { memoryLists } from './memory/lists.ts';
import { memoryLog } from './memory/log.ts';
import { memoryNotices } from './memory/notices.ts';
import { memoryPlan } from './memory/plan.ts';
import { memorySlots } from './memory/slots.ts';
import { createState, type JobState, type State } from './memory/state.ts';
import { memoryWake } from './memory/wake.ts';
import type { RecordStore } from './port.ts';

/** Everything stored, live and without a copy: for checks of invariants, to be read and not kept. */
export interface Dump {
  readonly jobs: ReadonlyMap<string, Readonly<JobState>>;
  readonly keys: State['keys'];
  readonly leases: State['leases'];
  readonly clusters: State['clusters'];
  readonly slots: State['slots'];
}

export type MemoryStore = RecordStore & { dump(): Dump };

export const createMemoryStore = ({ pageItems = LIST_LIMIT }: { readonly pageItems?: number } = {}): MemoryStore => {
  const state = createState();
  return {
    ...memoryLog(state),
    ...memoryBirth(state),
    ...memoryHead(state),
    ...memoryWake(state),
    ...memoryLists(state, pageItems),
    ...memoryJobList(state),
    ...memoryPlan(state),
    ...memoryNotices(state),
    ...memorySlots(state),
    dump: () => ({ jobs: state.jobs, keys: state.keys, leases: state.leases, clusters: state.clusters, slots: state.slots }),
  };
};
