/**
 * The body of a request, kept up to a limit.
 *
 * Guards: memory. What comes after the limit is dropped as it arrives, so that the client, which is still writing, can read why.
 */

import type { IncomingMessage } from 'node:http';

/** cut_off: the client hung up, or the time limit ended the connection; nobody is left to answer. */
export type Body = { readonly kind: 'whole'; readonly bytes: Buffer } | { readonly kind: 'too_long' } | { readonly kind: 'cut_off' };

export function readBody(request: IncomingMessage, limitBytes: number): Promise<Body> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      resolve({ kind: 'too_long' });
    });
    request.on('end', () => resolve({ kind: 'whole', bytes: Buffer.concat(chunks) }));
    // After a whole body it comes too, and changes nothing.
    request.on('close', () => resolve({ kind: 'cut_off' }));
  });
}
