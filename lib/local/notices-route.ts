/** `GET /notices?after=&limit=`: the bus of a local process, read by number. For whoever has the scope to read. */
import { Hono } from 'hono';
import { type Fault, invalid, problemResponse } from '../api/problem.ts';
import type { NoticeLog } from './notice-log.ts';

const MOST = 500;
const USUAL = 100;

export const noticesRoute = (log: NoticeLog): Hono => {
  const app = new Hono();
  app.get('/notices', (c) => {
    const after = wholeNumber(c.req.query('after'), 0, 0, Number.MAX_SAFE_INTEGER - 1);
    const limit = wholeNumber(c.req.query('limit'), USUAL, 1, MOST);
    if (after === undefined || limit === undefined) {
      return problemResponse(
        invalid([
          ...(after === undefined ? [fault('after', 'must be a number that this log gave, or 0')] : []),
          ...(limit === undefined ? [fault('limit', `must be a whole number from 1 to ${MOST}`)] : []),
        ]),
      );
    }
    const { items, last } = log.after(after, limit);
    return c.json({ items, next: items.at(-1)?.seq ?? Math.min(after, last) }, 200, { 'cache-control': 'no-store' });
  });
  return app;
};

const fault = (path: string, message: string): Fault => ({ in: 'query', path, code: 'out_of_range', message });

const wholeNumber = (text: string | undefined, usual: number, least: number, most: number): number | undefined => {
  if (text === undefined) return usual;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
};
