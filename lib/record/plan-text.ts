/**
 * A plan's text as it is stored: compressed, since a plan shows the whole submission, whose quoting may make it far larger than the
 * spec that it came from, and it must still be one item (contract §6). Pure; both stores refuse what does not fit.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { assert } from '../job/assertion.ts';

/** DynamoDB's items end at 400 KB, keys and names included. */
export const PLAN_BYTES = 380 * 1024;
/** Before it is compressed: what a reader may have to hold. */
export const PLAN_TEXT_BYTES = 2 * 1024 * 1024;

export const packPlan = (digest: string, text: string): string => {
  const bytes = Buffer.byteLength(text);
  assert(bytes <= PLAN_TEXT_BYTES, `plan ${digest}: a text of ${bytes} bytes is larger than ${PLAN_TEXT_BYTES}`);
  const packed = gzipSync(text).toString('base64');
  assert(packed.length <= PLAN_BYTES, `plan ${digest}: a text of ${packed.length} bytes, compressed, is larger than ${PLAN_BYTES}`);
  return packed;
};

export const unpackPlan = (packed: string): string =>
  gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: PLAN_TEXT_BYTES }).toString();
