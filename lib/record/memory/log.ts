/** The log and its blobs in memory (P1.1, P1.2). */
import { checkText, commitText, digestOf, gapFree } from '../log.ts';
import type { RecordStore } from '../port.ts';
import { fromJson, jobOf, type State } from './state.ts';

export type LogCalls = Pick<RecordStore, 'read' | 'readAt' | 'append' | 'putBlob' | 'getBlob' | 'readWatch' | 'writeWatch'>;

export const memoryLog = (state: State): LogCalls => ({
  async read(job, afterVersion = 0) {
    // Holes are dropped here and found by gapFree, as they would be in a query.
    const commits = (state.jobs.get(job)?.commits ?? []).slice(afterVersion).filter((commit) => commit !== undefined);
    return gapFree(job, afterVersion, commits);
  },
  async readAt(job, version) {
    return state.jobs.get(job)?.commits[version - 1];
  },
  async append(commit) {
    const text = commitText(commit);
    const { commits } = jobOf(state, commit.job);
    const there = commits[commit.version - 1];
    // P1.2: our own commitId means that an earlier Put of this very commit had succeeded.
    if (there) return there.commitId === commit.commitId ? 'appended' : 'conflict';
    commits[commit.version - 1] = fromJson(text);
    return 'appended';
  },
  async putBlob(job, text) {
    checkText(job, text);
    const digest = digestOf(text);
    jobOf(state, job).blobs.set(digest, text);
    return digest;
  },
  async getBlob(job, digest) {
    return state.jobs.get(job)?.blobs.get(digest);
  },
  async readWatch(job) {
    return state.jobs.get(job)?.watch;
  },
  async writeWatch(job, watch) {
    const holder = jobOf(state, job);
    if (watch === undefined) delete holder.watch;
    else {
      checkText(job, watch);
      holder.watch = watch;
    }
  },
});
