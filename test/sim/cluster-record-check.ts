/**
 * The record of a cluster, by the rules of a job's (contract §8, §10), judged from its raw events: versions without gaps and written once,
 * a key asked once, a question closed once and by nobody's word after its time. S10, S11.
 */
import type { ClusterCommit, ClusterEvent, ClusterEventOf } from '../../lib/job/cluster-event.ts';
import { SKEW_MS } from './climate.ts';
import { holds } from './verdict.ts';

export interface ClusterRecordCheck {
  /** The whole log, whenever something was written. */
  written(log: readonly Pick<ClusterCommit, 'version' | 'commitId'>[]): void;
  /** One commit more. `at`: true time. */
  commits(commit: ClusterCommit, at: number): void;
}

interface Asked {
  readonly event: ClusterEventOf<'escalation_raised'>;
  closedIn?: number;
}

export const createClusterRecordCheck = (): ClusterRecordCheck => {
  const commitIds: string[] = [];
  const questions = new Map<string, Asked>();

  const judge = (event: ClusterEvent, version: number, at: number): void => {
    const where = `${event.type} in version ${version} of a cluster`;
    switch (event.type) {
      case 'escalation_raised': {
        const { id, kind, episode } = event;
        holds(!questions.has(id), 'S11', () => `${where}: question ${id} was raised before`);
        const twice = [...questions.values()].find((one) => one.event.kind === kind && one.event.episode === episode);
        holds(!twice, 'S11', () => `${where}: ${kind}, episode ${episode}, was asked as ${twice?.event.id}`);
        questions.set(id, { event });
        return;
      }
      case 'escalation_answered':
      case 'escalation_expired':
      case 'escalation_withdrawn': {
        const question = questions.get(event.id);
        holds(question, 'S11', () => `${where}: question ${event.id} was never raised`);
        holds(!question.closedIn, 'S11', () => `${where}: question ${event.id} was closed in version ${question.closedIn}`);
        const lateMs = at - question.event.expiresAt;
        if (event.type === 'escalation_answered')
          holds(lateMs <= SKEW_MS, 'S11', () => `${where}: question ${event.id} had expired ${lateMs} ms ago`);
        if (event.type === 'escalation_expired')
          holds(lateMs >= -SKEW_MS, 'S11', () => `${where}: question ${event.id} expires in ${-lateMs} ms`);
        question.closedIn = version;
        return;
      }
      default:
    }
  };

  return {
    written(log) {
      for (const [i, commitId] of commitIds.entries())
        holds(log[i]?.commitId === commitId, 'S10', () => `version ${i + 1} of a cluster was written twice`);
      for (const [i, { version }] of log.entries())
        holds(version === i + 1, 'S10', () => `the record of a cluster has version ${version} where version ${i + 1} belongs`);
    },
    commits({ commitId, version, events }, at) {
      holds(version === commitIds.length + 1, 'S10', () => `version ${version} of a cluster follows ${commitIds.length}`);
      commitIds.push(commitId);
      for (const event of events) judge(event, version, at);
    },
  };
};
