/**
 * Where the code warns or refuses: every call in the files that make a plan, with the fixed parts of what it says. The reference shows
 * one remark per place, so a new one that it does not show is a failing test and not a surprise in somebody's plan.
 */
import { readFileSync } from 'node:fs';

export interface Site {
  readonly file: string;
  /** Fixed parts of the sentence, in order; a remark of this place holds them all. */
  readonly parts: readonly string[];
}

const ROOT = new URL('../../../', import.meta.url);
/** Who makes remarks: the core's, then each adapter's rendering. */
export const REMARKING = [
  'lib/job/plan-cluster.ts',
  'lib/job/plan-spec.ts',
  'lib/job/plan-rules.ts',
  'lib/job/plan-detect.ts',
  'lib/job/plan-requeue.ts',
  'lib/cluster/slurm/render.ts',
  'lib/cluster/memory/gate.ts',
] as const;

const CALL = /\b(?:warning|refusal|refuse)\(|\{\s*path:|\bwarnings\.push\(\{/g;
const SHORTEST = 5;

/** The end of the bracket that opens right before `from`; texts and templates are stepped over. */
const closing = (text: string, from: number): number => {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    const char = text[i]!;
    if (char === "'" || char === '"') i = text.indexOf(char, i + 1);
    else if (char === '`') i = templateEnd(text, i + 1);
    else if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char) && --depth === 0) return i;
  }
  return text.length;
};

const templateEnd = (text: string, from: number): number => {
  for (let i = from; i < text.length; i++) {
    if (text.startsWith('${', i)) i = closing(text, i + 2);
    else if (text[i] === '`') return i;
  }
  return text.length;
};

/** The arguments of a call, or the members of an object, at the top level. */
const split = (text: string): string[] => {
  const parts: string[] = [];
  let begun = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "'" || char === '"') i = text.indexOf(char, i + 1);
    else if (char === '`') i = templateEnd(text, i + 1);
    else if ('([{'.includes(char)) i = closing(text, i + 1);
    else if (char === ',') {
      parts.push(text.slice(begun, i));
      begun = i + 1;
    }
  }
  return [...parts, text.slice(begun)].map((part) => part.trim()).filter((part) => part !== '');
};

/** Fixed parts of the expression that makes the sentence; of one that chooses between words only the longest is sure. */
const fixedParts = (expression: string): string[] => {
  const pieces: string[] = [];
  for (let i = 0; i < expression.length; i++) {
    const char = expression[i]!;
    if (char === "'" || char === '"') {
      const end = expression.indexOf(char, i + 1);
      pieces.push(expression.slice(i + 1, end));
      i = end;
    } else if (char === '`') {
      const end = templateEnd(expression, i + 1);
      pieces.push(...literals(expression.slice(i + 1, end)));
      i = end;
    }
  }
  const long = pieces.filter((piece) => piece.trim().length >= SHORTEST);
  return expression.includes('?') ? long.toSorted((a, b) => b.length - a.length).slice(0, 1) : long;
};

const literals = (template: string): string[] => {
  const pieces: string[] = [];
  let begun = 0;
  for (let i = 0; i < template.length; i++)
    if (template.startsWith('${', i)) {
      pieces.push(template.slice(begun, i));
      i = closing(template, i + 2);
      begun = i + 1;
    }
  return [...pieces, template.slice(begun)];
};

/** What a name stands for: the last constant of that name above. */
const named = (text: string, name: string, at: number): string => {
  const declared = text.lastIndexOf(`const ${name} = `, at);
  return declared < 0 ? '' : text.slice(declared, text.indexOf(';\n', declared));
};

const saysAt = (text: string, at: number, opening: string): string => {
  const inside = split(text.slice(at, closing(text, at)));
  if (opening.startsWith('{') || opening.includes('push'))
    return (inside.find((member) => /^says\b/.test(member)) ?? '').replace(/^says:?/, '');
  return inside[1] ?? '';
};

export const sites = (): Site[] =>
  REMARKING.flatMap((file) => {
    const text = readFileSync(new URL(file, ROOT), 'utf8').replace(/^\s*\/\/.*$/gm, '');
    return [...text.matchAll(CALL)].flatMap((found): Site[] => {
      const opening = found[0];
      const at = found.index + (opening.startsWith('{') ? 1 : opening.length);
      const says = saysAt(text, at, opening);
      const parts = fixedParts(/^\w+$/.test(says) ? named(text, says, found.index) : says);
      return parts.length === 0 ? [] : [{ file, parts }];
    });
  });

/** Whether a remark was made there, as far as its words tell. */
export const isOf = ({ parts }: Site, says: string): boolean => {
  let from = 0;
  return parts.every((part) => {
    const at = says.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
};
