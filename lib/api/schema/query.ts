/** Values in a query or a path, which are text there whatever they are; read exactly: no blanks, signs or exponents. */
import * as z from 'zod';

/** Sixteen digits hold every whole number that is exact. */
export const whole = (least: number, most: number) =>
  z.preprocess((value) => (typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value), z.int().min(least).max(most));

export const truth = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true');

export const limitQuery = whole(1, 100).default(50).meta({ description: 'Rows of the page; it may come back shorter, with a cursor.' });
export const cursorQuery = z.string().min(1).max(1024).optional().meta({ description: '`nextCursor` of the page before, as it came.' });
/** Of any form: what no job has as its id is the id of no job. */
export const jobParam = z.string().min(1).max(64).meta({ example: '1p8k3xv0g2q7n4zd' });
