/**
 * A local server that speaks the S3 protocol (s3rver), with what it lacks: signatures that are checked, and writes on the condition that
 * nothing is there yet, decided one at a time, with S3's own answers.
 */
import crypto from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { wrongSignature } from './signature.ts';

export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  /** From now on every request is answered with this status. */
  answer(status: number | undefined): void;
  close(): Promise<void>;
}

export const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

// s3rver hides its continuation tokens with single DES, which today's OpenSSL no longer has: with three equal keys, triple DES is the same.
const { createCipheriv, createDecipheriv } = crypto;
const thrice = (key: crypto.CipherKey): Buffer => Buffer.concat([key, key, key] as Buffer[]);
crypto.createCipheriv = ((name: string, key: crypto.CipherKey, iv: Buffer) =>
  name === 'des' ? createCipheriv('des-ede3-cbc', thrice(key), iv) : createCipheriv(name, key, iv)) as typeof createCipheriv;
crypto.createDecipheriv = ((name: string, key: crypto.CipherKey, iv: Buffer) =>
  name === 'des' ? createDecipheriv('des-ede3-cbc', thrice(key), iv) : createDecipheriv(name, key, iv)) as typeof createDecipheriv;

export const startS3 = async (): Promise<S3Server> => {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const bucket = 'saves';
  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets: [{ name: bucket }] });
  await s3.configureBuckets();
  const serve = s3.callback();
  let status: number | undefined;
  let turn: Promise<void> = Promise.resolve();
  const server: Server = createServer((request, response) => {
    if (status !== undefined) return void response.writeHead(status).end();
    const wrong = wrongSignature(request, CREDENTIALS);
    if (wrong !== undefined)
      return void response
        .writeHead(403, { 'content-type': 'application/xml' })
        .end(`<?xml version="1.0"?><Error><Code>${wrong}</Code></Error>`);
    if (request.method !== 'PUT' || request.headers['if-none-match'] !== '*') return void serve(request, response);
    const [, ofBucket, ...key] = decodeURIComponent(request.url!.split('?')[0]!).split('/');
    const done = new Promise<void>((resolve) => response.once('close', resolve));
    turn = turn.then(async () => {
      if (!(await s3.store.existsObject(ofBucket!, key.join('/')))) serve(request, response);
      else
        response
          .writeHead(412, { 'content-type': 'application/xml' })
          .end(
            '<?xml version="1.0"?><Error><Code>PreconditionFailed</Code><Message>At least one of the pre-conditions did not hold</Message></Error>',
          );
      await done;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket,
    answer: (always) => {
      status = always;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
