/** Door: GET /openapi.json. Apart from the others, since the document's generator weighs more than all of them. */
import { door } from '../lib/aws/http.ts';

export const handler = door('document', async () => (await import('../lib/api/document.ts')).makeDocument());
