/** Logs of jobs and clusters, and a job's blobs, in DynamoDB (P1.1, P1.2): one conditional Put per commit, read consistently. */
import type { Commit, Event } from '../../job/event.ts';
import { checkBatch } from '../head.ts';
import {
  blobKey,
  clusterCommitKey,
  clusterPk,
  commitKey,
  commitSk,
  type ItemKey,
  jobOfPk,
  jobPk,
  LAST_COMMIT_SK,
  VERSION_DIGITS,
  watchKey,
} from '../keys.ts';
import { checkText, clusterLog, commitText, digestOf, gapFree, jobLog } from '../log.ts';
import { type ClusterCommit, LOG_COMMITS, type RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { count, type Item, text } from './item.ts';

export type LogCalls = Pick<
  RecordStore,
  'read' | 'readAt' | 'goingOn' | 'append' | 'readCluster' | 'appendCluster' | 'putBlob' | 'getBlob' | 'readWatch' | 'writeWatch'
>;

/** The events are one text: as attributes of their own they would weigh more than the JSON that COMMIT_BYTES counts. */
const commitFields = (commit: Commit | ClusterCommit) => ({
  id: commit.commitId,
  at: commit.at,
  actor: commit.actor,
  schema: commit.schema,
  events: JSON.stringify(commit.events),
});

/** All but whose it is. What an event says is for its reader to check: an old or a newer schema is no business of the store. */
const commitOf = <E>(item: Item) => ({
  version: Number(text(item, 'sk').slice(-VERSION_DIGITS)),
  commitId: text(item, 'id'),
  at: count(item, 'at'),
  actor: text(item, 'actor'),
  schema: count(item, 'schema'),
  events: JSON.parse(text(item, 'events')) as readonly E[],
});

const textOf = (item: Item | undefined): string | undefined => item && text(item, 'text');

/** All pages of a log after a version, in order. */
const readLog = async (calls: TableCalls, pk: string, afterVersion: number, pageItems: number | undefined): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let after: Item | undefined;
  do {
    const page = await calls.query({
      when: '#pk = :pk AND #sk BETWEEN :from AND :to',
      values: { pk, from: commitSk(afterVersion + 1), to: LAST_COMMIT_SK },
      ...(pageItems !== undefined && { limit: pageItems }),
      ...(after && { after }),
    });
    items.push(...page.items);
    after = page.next;
    // gapFree refuses a log that is too long; here it only must not be read without end.
  } while (after && items.length <= LOG_COMMITS);
  return items;
};

const appendTo = async (calls: TableCalls, key: ItemKey, commit: Commit | ClusterCommit): Promise<'appended' | 'conflict'> => {
  // P1.1: a version is written once. Whoever comes second decided from a log that is no longer the whole log.
  if (await calls.put({ ...key, ...commitFields(commit) }, { when: 'attribute_not_exists(#pk)' })) return 'appended';
  // P1.2: the SDK repeats a Put whose answer was lost, and then meets its own item.
  const there = await calls.get(key);
  return there?.['id'] === commit.commitId ? 'appended' : 'conflict';
};

export const dynamoLog = (calls: TableCalls, pageItems: number | undefined): LogCalls => ({
  async read(job, afterVersion = 0) {
    const items = await readLog(calls, jobPk(job), afterVersion, pageItems);
    return gapFree(
      jobLog(job),
      afterVersion,
      items.map((item) => ({ job, ...commitOf<Event>(item) })),
    );
  },
  async readAt(job, version) {
    const item = await calls.get(commitKey(job, version));
    return item && { job, ...commitOf<Event>(item) };
  },
  async goingOn(places) {
    checkBatch(places.length);
    const keys = places.map(({ job, version }) => commitKey(job, version + 1));
    const items = await calls.getEach(keys, { attributes: ['pk'], consistent: true });
    return new Set(items.map((item) => jobOfPk(text(item, 'pk'))));
  },
  async append(commit) {
    commitText(jobLog(commit.job), commit);
    return appendTo(calls, commitKey(commit.job, commit.version), commit);
  },
  async readCluster<E>(cluster: string, afterVersion = 0) {
    const items = await readLog(calls, clusterPk(cluster), afterVersion, pageItems);
    return gapFree(
      clusterLog(cluster),
      afterVersion,
      items.map((item) => ({ cluster, ...commitOf<E>(item) })),
    );
  },
  async appendCluster(commit) {
    commitText(clusterLog(commit.cluster), commit);
    return appendTo(calls, clusterCommitKey(commit.cluster, commit.version), commit);
  },
  async putBlob(job, blob) {
    checkText(jobLog(job), blob);
    const digest = digestOf(blob);
    // The name is the content's: if it is there, it is this text, and writing it again would only cost.
    await calls.put({ ...blobKey(job, digest), text: blob }, { when: 'attribute_not_exists(#pk)' });
    return digest;
  },
  async getBlob(job, digest) {
    return textOf(await calls.get(blobKey(job, digest)));
  },
  async readWatch(job) {
    return textOf(await calls.get(watchKey(job)));
  },
  async writeWatch(job, watch) {
    if (watch === undefined) {
      await calls.remove(watchKey(job));
      return;
    }
    checkText(jobLog(job), watch);
    // No fact and no version, so no condition: the last writer wins, and a lost watch only lengthens a wait (P5.6).
    await calls.put({ ...watchKey(job), text: watch });
  },
});
