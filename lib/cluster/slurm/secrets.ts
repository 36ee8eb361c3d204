/**
 * The file of a job's secrets: lines of `export NAME='value'` that the wrapper reads in the program's own process (contract §4).
 * Guards: values go into this one file and nowhere else; what is said of a failure names the variable and the kind of failure alone.
 */
import { quote } from './transport/quote.ts';

export type Secrets = { readonly lines: string } | { readonly says: string };

/** With the rest of a submission, well within what one program may carry; an environment holds little more. */
const MOST_BYTES = 192 * 1024;

/** All at once, each name once. `read` undefined: this deployment has no source of secrets. */
export const readSecrets = async (
  wanted: Readonly<Record<string, { readonly ref: string }>>,
  read: ((ref: string) => Promise<string>) | undefined,
): Promise<Secrets> => {
  const names = Object.entries(wanted);
  if (names.length === 0) return { lines: '' };
  if (!read) return { says: 'this deployment has no source of secrets' };
  const refs = [...new Set(names.map(([, { ref }]) => ref))];
  const values = new Map(await Promise.all(refs.map(async (ref) => [ref, await held(read, ref)] as const)));
  const lines: string[] = [];
  for (const [name, { ref }] of names) {
    const value = values.get(ref)!;
    if ('says' in value) return { says: `the secret for ${name} ${value.says}` };
    lines.push(`export ${name}=${quote(value.text)}\n`);
  }
  const text = lines.join('');
  return Buffer.byteLength(text) > MOST_BYTES ? { says: `the secrets together have more than ${MOST_BYTES} bytes` } : { lines: text };
};

/** A store's own words stay out, but for its code: they may hold what nobody may see. */
const held = async (
  read: (ref: string) => Promise<string>,
  ref: string,
): Promise<{ readonly text: string } | { readonly says: string }> => {
  try {
    const text = await read(ref);
    return text.includes('\0') || !text.isWellFormed() ? { says: 'holds what no environment can' } : { text };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return { says: `could not be read${code.startsWith('secret/') ? ` (${code})` : ''}` };
  }
};
