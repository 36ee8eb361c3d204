/**
 * A point as text: `<epoch> <training step> <path in base32, or - for nothing>`, one line, as a run's wrapper writes it to `bases/`.
 * Invariant guarded: what does not have exactly this form fixes nothing; it is never read as something near it.
 */
import type { Point } from '../job/event.ts';
import { isRelative } from './layout.ts';
import { decodePath, encodePath } from './marker.ts';

export const formatPoint = ({ epoch, step, path }: Point): string => `${epoch} ${step} ${path === '' ? '-' : encodePath(path)}`;

export const parsePoint = (text: string): Point | undefined => {
  const parts = /^(\d{1,15}) (-1|\d{1,15}) (-|[a-z2-7]+)\n?$/.exec(text);
  if (!parts) return undefined;
  const path = parts[3] === '-' ? '' : decodePath(parts[3]!);
  if (path === undefined || (path !== '' && !isRelative(path))) return undefined;
  return { epoch: Number(parts[1]), step: Number(parts[2]), path };
};

/** `<n>-<run>`, the name of a base, a claim, an exec folder. */
export const parseRunName = (name: string): { readonly n: number; readonly run: number } | undefined => {
  const parts = /^([1-9]\d{0,4})-(0|[1-9]\d{0,5})$/.exec(name);
  return parts ? { n: Number(parts[1]), run: Number(parts[2]) } : undefined;
};
