/** Door: the routes about clusters. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door('clusters');
