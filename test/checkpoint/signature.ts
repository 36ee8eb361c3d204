/**
 * What S3 does with the signature of a request (AWS Signature Version 4, by its published rules), for a local server that does not: so that
 * whatever signs here would be understood there. As strict as S3: every `x-amz-` header is signed, the hash of the body is among them.
 */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** What is wrong with it, as S3's code; undefined: it is right. */
export const wrongSignature = (request: IncomingMessage, key: { accessKeyId: string; secretAccessKey: string }): string | undefined => {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (!parts) return 'AccessDenied';
  const [, id, day, region, names, signature] = parts as unknown as string[];
  if (id !== key.accessKeyId) return 'InvalidAccessKeyId';
  const signed = names!.split(';');
  const { headers } = request;
  const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !signed.includes(name));
  const body = headers['x-amz-content-sha256'];
  if (unsigned.length > 0 || !signed.includes('host') || typeof body !== 'string') return 'AccessDenied';
  const [path = '', query = ''] = request.url!.split('?', 2);
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('=', 2).map((part) => encoded(decodeURIComponent(part))));
  const canonical = [
    request.method,
    path
      .split('/')
      .map((part) => encoded(decodeURIComponent(part)))
      .join('/'),
    pairs
      .map(([name, value = '']) => `${name}=${value}`)
      .sort()
      .join('&'),
    ...signed.map(
      (name) =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    names,
    body,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const signing = [region!, 's3', 'aws4_request'].reduce((from, part) => hmac(from, part), hmac(`AWS4${key.secretAccessKey}`, day!));
  return hmac(signing, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
};
