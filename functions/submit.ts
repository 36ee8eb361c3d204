/** Door: POST /jobs, POST /observed-jobs. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door('submit');
