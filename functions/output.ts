/** Door: what may need a connection to a cluster while the caller waits: a run's output, and a listing of checkpoints. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door('output');
