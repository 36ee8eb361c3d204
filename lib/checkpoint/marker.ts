/**
 * Marker names in `pub/` (protocols §8.1): one empty file per complete save, `<epoch>-<training step>-<path>`.
 * Guards promise 5: a name is all there is of a publication, so whoever lists the folder knows every one of them, in resolve's
 * order, without opening a file. Numbers have 20 digits so that byte order is numeric order; the path is RFC 4648 base32 in
 * lower case without padding, so that any path is a plain file name.
 */
export interface Marker {
  readonly epoch: number;
  readonly step: number;
  /** Relative to the job's checkpoint root, UTF-8. */
  readonly path: string;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const NAME = /^(\d{20})-(\d{20})-([a-z2-7]+)$/;

/** Bytes of a path: 130 become 208 characters, which with both numbers stay below the 255 that file systems allow. */
export const PATH_BYTES = 130;

/** Throws `RangeError` for what no marker can say: a caller checks its input first. */
export const formatMarker = ({ epoch, step, path }: Marker): string => {
  const bytes = Buffer.from(path, 'utf8');
  if (!isCount(epoch) || !isCount(step)) throw new RangeError(`epoch and training step must be whole numbers from 0: ${epoch}, ${step}`);
  if (bytes.length === 0 || bytes.length > PATH_BYTES)
    throw new RangeError(`a path must have 1 to ${PATH_BYTES} bytes, this one has ${bytes.length}`);
  return `${digits(epoch)}-${digits(step)}-${encode(bytes)}`;
};

/** Undefined: no marker (a stray file, a name cut short). One odd name never costs the others. */
export const parseMarker = (name: string): Marker | undefined => {
  const parts = NAME.exec(name);
  if (!parts) return undefined;
  const [epoch, step] = [Number(parts[1]), Number(parts[2])];
  const bytes = decode(parts[3]!);
  if (!bytes || bytes.length > PATH_BYTES || !isCount(epoch) || !isCount(step)) return undefined;
  const path = bytes.toString('utf8');
  // Bytes that are no UTF-8 would come back as another path than the one that was saved.
  return Buffer.from(path, 'utf8').equals(bytes) ? { epoch, step, path } : undefined;
};

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const digits = (value: number): string => String(value).padStart(20, '0');

const encode = (bytes: Buffer): string => {
  let text = '';
  let [bits, value] = [0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31];
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text;
};

/** Undefined unless the text is exactly what `encode` makes of some bytes: one path has one name. */
const decode = (text: string): Buffer | undefined => {
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const letter of text) {
    value = ((value << 5) | ALPHABET.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 255);
  }
  const decoded = Buffer.from(bytes);
  return decoded.length > 0 && encode(decoded) === text ? decoded : undefined;
};

/** A path as the names of markers hold it; undefined for what is no such text. For the files that hold a point (point-text.ts). */
export const encodePath = (path: string): string => encode(Buffer.from(path, 'utf8'));
export const decodePath = (text: string): string | undefined => {
  const bytes = /^[a-z2-7]+$/.test(text) ? decode(text) : undefined;
  const path = bytes?.toString('utf8');
  return bytes && path !== undefined && Buffer.from(path, 'utf8').equals(bytes) ? path : undefined;
};
