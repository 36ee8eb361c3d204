/**
 * Cut: text that a site, a node or a program chose, made fit for the record: bounded in bytes, whole characters, no control characters.
 *
 * Invariant: what was cut says so, and what a terminal would obey never gets any further than this.
 */

/** C0, DEL and C1 but for tab and line feed; lone halves of a pair of surrogates, too, become the replacement character. */
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const MARK = '…';

const clean = (text: string): string => text.toWellFormed().replace(CONTROL, '�');

/** The beginning of the text, at most so many bytes of UTF-8 with the mark of the cut. */
export const cut = (text: string, mostBytes: number): string => {
  // Nothing beyond as many characters can be within as many bytes: hostile text is not cleaned to its end.
  const whole = clean(text.slice(0, mostBytes + 1));
  if (text.length <= mostBytes && Buffer.byteLength(whole) <= mostBytes) return whole;
  return `${bytes(whole, 0, mostBytes - Buffer.byteLength(MARK))}${MARK}`;
};

/** The end of the text, where what matters comes last. */
export const cutStart = (text: string, mostBytes: number): string => {
  const whole = clean(text.slice(-mostBytes - 1));
  if (text.length <= mostBytes && Buffer.byteLength(whole) <= mostBytes) return whole;
  const size = Buffer.byteLength(whole);
  return `${MARK}${bytes(whole, Math.max(0, size - mostBytes + Buffer.byteLength(MARK)), size)}`;
};

/** Whole characters only: of one that was cut a decoder makes replacement characters. */
const bytes = (text: string, from: number, to: number): string =>
  Buffer.from(text)
    .subarray(from, to)
    .toString('utf8')
    .replace(/^�+|�+$/g, '');
