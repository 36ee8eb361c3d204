/**
 * A lossy line: forwards requests to an endpoint, and on demand lets one happen and drops its answer, as a network does to a write that
 * succeeded.
 */
import { type ClientRequest, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LossyLine {
  readonly endpoint: string;
  /** Drops the answers to the next `count` requests for that operation (`PutItem`, …). */
  drop(operation: string, count: number): void;
  /** How many requests for that operation went through, dropped answers included. */
  forwarded(operation: string): number;
  close(): Promise<void>;
}

export const openLossyLine = async (to: string): Promise<LossyLine> => {
  const target = new URL(to);
  const drops = new Map<string, number>();
  const seen = new Map<string, number>();
  const server = createServer((asked, answer: ServerResponse) => {
    const operation = String(asked.headers['x-amz-target']).split('.').at(-1)!;
    seen.set(operation, (seen.get(operation) ?? 0) + 1);
    const options = { host: target.hostname, port: target.port, method: asked.method, path: asked.url, headers: asked.headers };
    const forward: ClientRequest = request(options, (came) => {
      const left = drops.get(operation) ?? 0;
      if (left === 0) {
        answer.writeHead(came.statusCode ?? 502, came.headers);
        came.pipe(answer);
        return;
      }
      drops.set(operation, left - 1);
      // Only once the whole answer is here is it certain that the request was carried out.
      came.resume().once('end', () => answer.destroy());
    });
    forward.once('error', () => answer.destroy());
    asked.pipe(forward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drop: (operation, count) => void drops.set(operation, count),
    forwarded: (operation) => seen.get(operation) ?? 0,
    close: () =>
      new Promise<void>((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
};
