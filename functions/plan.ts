/** Door: POST /plans. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door('plan');
