/** `GET /notices?after=&limit=`: the bus of a local process, read by number. For whoever has the scope to read. */
import { Hono } from 'hono';
import type { NoticeLog } from './notice-log.ts';

const MOST = 500;
const USUAL = 100;

export const noticesRoute = (log: NoticeLog): Hono => {
  const app = new Hono();
  app.get('/notices', (c) => {
    const after = wholeNumber(c.req.query('after'), 0, 0, Number.MAX_SAFE_INTEGER - 1);
    const limit = wholeNumber(c.req.query('limit'), USUAL, 1, MOST);
    if (after === undefined || limit === undefined) {
      const detail = `after: a number that this log gave, or 0; limit: 1 to ${MOST}`;
      const body = { type: '/problems/request/invalid', title: 'The request is not valid', status: 400, detail, code: 'request/invalid' };
      return c.body(JSON.stringify(body), 400, { 'content-type': 'application/problem+json' });
    }
    const { items, last } = log.after(after, limit);
    return c.json({ items, next: items.at(-1)?.seq ?? Math.min(after, last) }, 200, { 'cache-control': 'no-store' });
  });
  return app;
};

const wholeNumber = (text: string | undefined, usual: number, least: number, most: number): number | undefined => {
  if (text === undefined) return usual;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
};
