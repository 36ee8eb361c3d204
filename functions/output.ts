/** Door: GET /jobs/{job}/attempts/{attempt}/output, which needs a connection of its own. See lib/api. */
import { door } from '../lib/aws/http.ts';

export const handler = door(['readOutput']);
