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
