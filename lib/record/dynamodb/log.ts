/** The log and its blobs in DynamoDB (P1.1, P1.2): one conditional Put per commit, read consistently. */
import type { Commit } from '../../job/event.ts';
import { blobKey, commitKey, commitSk, jobOfPk, jobPk, LAST_COMMIT_SK, VERSION_DIGITS, watchKey } from '../keys.ts';
import { checkText, commitText, digestOf, gapFree } from '../log.ts';
import { LOG_COMMITS, type RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { count, type Item, text } from './item.ts';

export type LogCalls = Pick<RecordStore, 'read' | 'readAt' | 'append' | 'putBlob' | 'getBlob' | 'readWatch' | 'writeWatch'>;

/** The events are one text: as attributes of their own they would weigh more than the JSON that COMMIT_BYTES counts. */
const commitItem = (commit: Commit) => ({
  ...commitKey(commit.job, commit.version),
  id: commit.commitId,
  at: commit.at,
  actor: commit.actor,
  schema: commit.schema,
  events: JSON.stringify(commit.events),
});

const commitOf = (item: Item): Commit => ({
  job: jobOfPk(text(item, 'pk')),
  version: Number(text(item, 'sk').slice(-VERSION_DIGITS)),
  commitId: text(item, 'id'),
  at: count(item, 'at'),
  actor: text(item, 'actor'),
  schema: count(item, 'schema'),
  events: JSON.parse(text(item, 'events')) as Commit['events'],
});

const textOf = (item: Item | undefined): string | undefined => item && text(item, 'text');

export const dynamoLog = (calls: TableCalls, pageItems: number | undefined): LogCalls => ({
  async read(job, afterVersion = 0) {
    const commits: Commit[] = [];
    let after: Item | undefined;
    do {
      const page = await calls.query({
        when: '#pk = :pk AND #sk BETWEEN :from AND :to',
        values: { pk: jobPk(job), from: commitSk(afterVersion + 1), to: LAST_COMMIT_SK },
        ...(pageItems !== undefined && { limit: pageItems }),
        ...(after && { after }),
      });
      commits.push(...page.items.map(commitOf));
      after = page.next;
      // gapFree refuses a log that is too long; here it only must not be read without end.
    } while (after && commits.length <= LOG_COMMITS);
    return gapFree(job, afterVersion, commits);
  },
  async readAt(job, version) {
    const item = await calls.get(commitKey(job, version));
    return item && commitOf(item);
  },
  async append(commit) {
    commitText(commit);
    // P1.1: a version is written once. Whoever comes second decided from a log that is no longer the whole log.
    if (await calls.put(commitItem(commit), { when: 'attribute_not_exists(#pk)' })) return 'appended';
    // P1.2: the SDK repeats a Put whose answer was lost, and then meets its own item.
    const there = await calls.get(commitKey(commit.job, commit.version));
    return there?.['id'] === commit.commitId ? 'appended' : 'conflict';
  },
  async putBlob(job, blob) {
    checkText(job, blob);
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
    checkText(job, watch);
    // No fact and no version, so no condition: the last writer wins, and a lost watch only lengthens a wait (P5.6).
    await calls.put({ ...watchKey(job), text: watch });
  },
});
