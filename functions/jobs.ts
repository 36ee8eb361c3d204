/** Door: everything that reads, cancels and answers from the record alone. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door('jobs');
