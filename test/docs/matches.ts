/**
 * Matches: whether what a command printed is what a page shows. The one rule, which the pages tell their readers too: `…` stands for
 * whatever differs from run to run or is left out; all else is as it is. In text it stands for any part of a line, and alone on a line
 * for any number of lines. In JSON it stands for any part of a text, for a whole value, or for more members or more elements.
 */

/** Undefined: it matches. Else the first difference, in words. */
export const differs = (language: string, shown: string, printed: string): string | undefined =>
  language === 'json' ? jsonDiffers(shown, printed) : textDiffers(linesOf(shown), linesOf(printed));

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

/** A text with `…` for any characters; `dot`: whether a line's end is one of them. */
const fits = (shown: string, printed: string): boolean => new RegExp(`^${shown.split('…').map(escaped).join('[^]*')}$`, 'u').test(printed);
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const textDiffers = (shown: readonly string[], printed: readonly string[]): string | undefined => {
  const [first, ...rest] = shown;
  if (first === undefined) return printed.length === 0 ? undefined : `more was printed: ${printed[0]}`;
  if (first.trim() === '…') {
    if (rest.length === 0) return undefined;
    for (let skipped = 0; skipped <= printed.length; skipped++)
      if (textDiffers(rest, printed.slice(skipped)) === undefined) return undefined;
    return `behind the gap nothing fits: ${rest[0]}`;
  }
  if (printed[0] === undefined) return `was not printed: ${first}`;
  if (!fits(first, printed[0].trimEnd())) return `shown:   ${first}\nprinted: ${printed[0]}`;
  return textDiffers(rest, printed.slice(1));
};

const jsonDiffers = (shown: string, printed: string): string | undefined => {
  let meant: unknown;
  try {
    meant = JSON.parse(plainJson(shown));
  } catch (error) {
    return `what is shown is no JSON: ${String(error)}`;
  }
  try {
    return valueDiffers('', meant, JSON.parse(printed));
  } catch (error) {
    return `what was printed is no JSON: ${String(error)}`;
  }
};

const ANY = '\u0000any';
const MORE = '\u0000more';

/** JSON with bare `…` as JSON: a value behind a colon, a member in an object, an element in an array. */
const plainJson = (text: string): string => {
  const within: string[] = [];
  let before = '';
  // Texts are left alone: a `…` in one of them is part of it.
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,…]/g, (token) => {
    const last = before;
    before = token;
    if (token === '{' || token === '[') within.push(token);
    if (token === '}' || token === ']') within.pop();
    if (token !== '…') return token;
    if (last === ':' || within.length === 0) return JSON.stringify(ANY);
    return within.at(-1) === '{' ? `${JSON.stringify(MORE)}:0` : JSON.stringify(MORE);
  });
};

const valueDiffers = (path: string, shown: unknown, printed: unknown): string | undefined => {
  const at = path === '' ? 'the whole' : path;
  if (shown === ANY) return undefined;
  if (typeof shown === 'string' && typeof printed === 'string')
    return fits(shown, printed) ? undefined : `${at}\nshown:   ${shown}\nprinted: ${printed}`;
  if (Array.isArray(shown) && Array.isArray(printed)) return elementsDiffer(path, shown, printed);
  if (isRecord(shown) && isRecord(printed)) return membersDiffer(path, shown, printed);
  return Object.is(shown, printed) ? undefined : `${at}\nshown:   ${JSON.stringify(shown)}\nprinted: ${JSON.stringify(printed)}`;
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const membersDiffer = (path: string, shown: Record<string, unknown>, printed: Record<string, unknown>): string | undefined => {
  const names = Object.keys(shown).filter((name) => name !== MORE);
  const missing = names.find((name) => !(name in printed));
  if (missing !== undefined) return `${path}.${missing} was not printed`;
  const more = Object.keys(printed).find((name) => !(name in shown));
  if (more !== undefined && !(MORE in shown)) return `${path}.${more} was printed and is not shown: ${JSON.stringify(printed[more])}`;
  return firstOf(names, (name) => valueDiffers(`${path}.${name}`, shown[name], printed[name]));
};

const elementsDiffer = (path: string, shown: readonly unknown[], printed: readonly unknown[], from = 0): string | undefined => {
  const [first, ...rest] = shown;
  if (shown.length === 0) return printed.length === 0 ? undefined : `${path}[${from}] was printed and is not shown`;
  if (first === MORE) {
    const skips = Array.from({ length: printed.length + 1 }, (_, i) => i);
    const found = skips.some((skip) => elementsDiffer(path, rest, printed.slice(skip), from + skip) === undefined);
    return found ? undefined : `${path}: behind the gap nothing fits ${JSON.stringify(rest[0])}`;
  }
  if (printed.length === 0) return `${path}[${from}] was not printed`;
  return valueDiffers(`${path}[${from}]`, first, printed[0]) ?? elementsDiffer(path, rest, printed.slice(1), from + 1);
};

const firstOf = <T>(items: readonly T[], says: (item: T) => string | undefined): string | undefined => {
  for (const item of items) {
    const said = says(item);
    if (said !== undefined) return said;
  }
  return undefined;
};
