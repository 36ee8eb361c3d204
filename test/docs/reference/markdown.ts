/** Markdown as the generated parts of the reference are written: tables with columns of equal width, and names in code font. */

/** In code font; what a cell of a table cannot hold is escaped. */
export const code = (text: string | number): string => `\`${text}\``;

export const codes = (texts: readonly (string | number)[]): string => texts.map(code).join(', ');

/** A cell ends at a bar and at the end of its line. */
const cell = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|');

/** Columns of equal width, as the formatter of the docs wants them; the last one is left ragged, since its cells are sentences. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cells = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, i) => (i === head.length - 1 ? 3 : Math.max(3, ...cells.map((row) => row[i]!.length))));
  const line = (row: readonly string[]): string => `| ${row.map((text, i) => text.padEnd(widths[i]!)).join(' | ')} |`;
  const [first, ...rest] = cells;
  return [line(first!), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rest.map(line)].join('\n');
};

/** A number as people read it: `10,000`. */
export const counted = (value: number): string => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/** Bytes in the largest whole unit: `300 KiB`. */
export const bytes = (value: number): string => {
  if (value % (1024 * 1024) === 0) return `${counted(value / 1024 / 1024)} MiB`;
  return value % 1024 === 0 ? `${counted(value / 1024)} KiB` : `${counted(value)} B`;
};

/** Seconds in the largest unit that says them whole: `15 min`, `7 d`. */
export const duration = (seconds: number): string => {
  for (const [name, of] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const)
    if (seconds >= of && seconds % of === 0) return `${counted(seconds / of)} ${name}`;
  return seconds % 1 === 0 ? `${counted(seconds)} s` : `${seconds * 1000} ms`;
};
