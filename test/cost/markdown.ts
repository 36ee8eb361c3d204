/** Markdown of the page: rows of a table, and sums of money as people read them. Pure. */

export const rows = (head: readonly string[], body: readonly (readonly string[])[]): readonly string[] =>
  [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);

/** Cents, and of less than ten of them two digits that say something. */
export const money = (dollars: number): string => {
  if (dollars === 0) return '0';
  if (dollars >= 0.1) return dollars.toFixed(2);
  return dollars.toFixed(Math.max(2, 1 - Math.floor(Math.log10(Math.abs(dollars)))));
};
