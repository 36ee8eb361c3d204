/** Items as a bare client would write them: what a commit weighs on the wire, with nothing of dispatch in between. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Commit } from '../../lib/job/event.ts';

export type WireItem = Record<string, AttributeValue>;

export const commitItem = (commit: Commit): WireItem => ({
  pk: { S: `JOB#${commit.job}` },
  sk: { S: `E#${String(commit.version).padStart(10, '0')}` },
  id: { S: commit.commitId },
  at: { N: String(commit.at) },
  actor: { S: commit.actor },
  schema: { N: String(commit.schema) },
  events: { S: JSON.stringify(commit.events) },
});
