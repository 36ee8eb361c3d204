/** Door: POST /jobs/{job}/checkpoints, with the token of an attempt. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door('publish');
