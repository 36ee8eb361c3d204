/**
 * Page: a Markdown page as the hands of its reader see it: commands to run, and what they answer.
 * Guards: every fenced block of a page is something. A block that is neither run nor compared says in its info string why
 * (`not-run: REASON`), so that nothing stands in the docs that nobody proves and nobody counts.
 */
export type Block = {
  /** Of its opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
} & (
  | { readonly kind: 'run' }
  /** `npm start`, as in a terminal of its own; a second one on a page ends the first in order and starts anew on its folder. */
  | { readonly kind: 'server' }
  /** Of the command block before it. */
  | { readonly kind: 'answer' }
  | { readonly kind: 'not-run'; readonly reason: string }
  /** Cannot be read as any of these. */
  | { readonly kind: 'fault'; readonly says: string }
);

interface Fence {
  readonly line: number;
  readonly info: string;
  readonly text: string;
}

/** Every fenced block of a Markdown text, as it stands. */
export const fencesOf = (markdown: string): readonly Fence[] => {
  const fences: Fence[] = [];
  let open: { line: number; info: string; indent: number; body: string[] } | undefined;
  for (const [i, line] of markdown.split('\n').entries()) {
    const fence = /^( *)```+(.*)$/.exec(line);
    if (open === undefined) {
      if (fence) open = { line: i + 1, info: fence[2]!.trim(), indent: fence[1]!.length, body: [] };
    } else if (fence && fence[2]!.trim() === '') {
      fences.push({ line: open.line, info: open.info, text: open.body.join('\n') });
      open = undefined;
    } else open.body.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)));
  }
  if (open) fences.push({ line: open.line, info: open.info, text: open.body.join('\n') });
  return fences;
};

/** With its reason, which is more than a word. */
export const NOT_RUN = /^(\w*) ?not-run: (\S.{7,})$/;

export const blocksOf = (markdown: string): readonly Block[] => {
  const blocks: Block[] = [];
  for (const { line, info, text } of fencesOf(markdown)) {
    const [language = '', word = ''] = info.split(' ');
    const at = { line, language, text };
    const left = NOT_RUN.exec(info);
    const before = blocks.at(-1)?.kind;
    if (left) blocks.push({ ...at, kind: 'not-run', reason: left[2]! });
    else if (info === 'sh') blocks.push({ ...at, kind: 'run' });
    else if (info === 'sh server') blocks.push({ ...at, kind: 'server' });
    else if (word !== '' || (language !== 'json' && language !== 'text'))
      blocks.push({ ...at, kind: 'fault', says: `\`${info}\` is none of: sh, sh server, json, text, LANGUAGE not-run: REASON` });
    else if (before !== 'run' && before !== 'server')
      blocks.push({ ...at, kind: 'fault', says: 'an answer follows the commands that it answers, with no block between them' });
    else blocks.push({ ...at, kind: 'answer' });
  }
  return blocks;
};
