/**
 * Printable: text of others as it may be shown in a terminal. What a cluster, a program or a stranger said can hold characters that move the
 * cursor, rename a window or turn the direction of writing; here they are shown and do nothing.
 */

/** Controls, formats (direction, joiners), separators that break lines, halves of characters; a tab and ordinary spaces stay. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const KNOWN: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\x1b': '\\e', '\0': '\\0' };

/** One line, whatever it was. */
export const printable = (text: string): string =>
  text.replace(UNSAFE, (letter) => {
    if (letter === '\t') return letter;
    const code = letter.codePointAt(0)!;
    return KNOWN[letter] ?? (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`);
  });

/** A program's output keeps its lines, and nothing else that a terminal would act upon. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** JSON that means the same, with what a terminal might act upon escaped: JSON itself escapes no control above 0x1f. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(UNSAFE, (letter) =>
    letter === '\n'
      ? letter
      : Array.from({ length: letter.length }, (_, i) => `\\u${letter.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
