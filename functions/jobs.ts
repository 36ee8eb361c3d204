/** Door: everything that reads, cancels and answers. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door([
  'listJobs',
  'readJob',
  'cancelJob',
  'watchEvents',
  'listCheckpoints',
  'readLatestCheckpoint',
  'listEscalations',
  'readToken',
  'answerEscalation',
  'readHealth',
]);
