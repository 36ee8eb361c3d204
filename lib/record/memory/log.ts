/** Logs of jobs and clusters, and a job's blobs, in memory (P1.1, P1.2). */
import type { Commit } from '../../job/event.ts';
import { checkBatch } from '../head.ts';
import { checkText, clusterLog, commitText, digestOf, gapFree, jobLog } from '../log.ts';
import type { ClusterCommit, RecordStore } from '../port.ts';
import { fromJson, jobOf, type State } from './state.ts';

export type LogCalls = Pick<
  RecordStore,
  'read' | 'readAt' | 'goingOn' | 'append' | 'readCluster' | 'appendCluster' | 'putBlob' | 'getBlob' | 'readWatch' | 'writeWatch'
>;

const appendTo = <T extends Commit | ClusterCommit>(commits: T[], commit: T, text: string): 'appended' | 'conflict' => {
  const there = commits[commit.version - 1];
  // P1.2: our own commitId means that an earlier Put of this very commit had succeeded.
  if (there) return there.commitId === commit.commitId ? 'appended' : 'conflict';
  commits[commit.version - 1] = fromJson(text);
  return 'appended';
};

export const memoryLog = (state: State): LogCalls => ({
  async read(job, afterVersion = 0) {
    // Holes are dropped here and found by gapFree, as they would be in a query.
    const commits = (state.jobs.get(job)?.commits ?? []).slice(afterVersion).filter((commit) => commit !== undefined);
    return gapFree(jobLog(job), afterVersion, commits);
  },
  async readAt(job, version) {
    return state.jobs.get(job)?.commits[version - 1];
  },
  async goingOn(places) {
    checkBatch(places.length);
    return new Set(places.filter(({ job, version }) => state.jobs.get(job)?.commits[version]).map(({ job }) => job));
  },
  async append(commit) {
    return appendTo(jobOf(state, commit.job).commits, commit, commitText(jobLog(commit.job), commit));
  },
  async readCluster<E>(cluster: string, afterVersion = 0) {
    const commits = (state.clusters.get(cluster) ?? []).slice(afterVersion).filter((commit) => commit !== undefined);
    return gapFree(clusterLog(cluster), afterVersion, commits as readonly ClusterCommit<E>[]);
  },
  async appendCluster(commit) {
    const text = commitText(clusterLog(commit.cluster), commit);
    const commits = state.clusters.get(commit.cluster) ?? [];
    state.clusters.set(commit.cluster, commits);
    return appendTo(commits, commit, text);
  },
  async putBlob(job, text) {
    checkText(jobLog(job), text);
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
      checkText(jobLog(job), watch);
      holder.watch = watch;
    }
  },
});
