import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CursorRefused, decodeCursor, encodeCursor } from '../../lib/record/cursor.ts';

describe('cursors', () => {
  it('P1.6: a cursor says where its own list goes on', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1, maxLength: 100 }), (list, last) => {
        fc.pre(encodeCursor(list, last).length <= 1024);
        expect(decodeCursor(list, encodeCursor(list, last))).toBe(last);
        expect(() => decodeCursor(`${list}.`, encodeCursor(list, last))).toThrow(CursorRefused);
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  it('P1.6: a cursor with any one character changed, added or lost is refused', () => {
    const cursor = encodeCursor('active:lumi#ml', '01hzy0000000abcd');
    for (let i = 0; i < cursor.length; i++) {
      const changed = cursor.slice(0, i) + (cursor[i] === 'A' ? 'B' : 'A') + cursor.slice(i + 1);
      const lost = cursor.slice(0, i) + cursor.slice(i + 1);
      for (const wrong of [changed, lost, `${cursor.slice(0, i)} ${cursor.slice(i)}`]) {
        expect(() => decodeCursor('active:lumi#ml', wrong)).toThrow(CursorRefused);
      }
    }
  });

  it('P1.6: a cursor whose key was exchanged is refused', () => {
    const sum: unknown = JSON.parse(Buffer.from(encodeCursor('list', 'a'), 'base64url').toString())[2];
    for (const fields of [
      ['list', 'b', sum],
      ['list', 'a'],
      ['list', 'a', sum, 1],
      ['list', 1, sum],
      ['list', '', sum],
    ]) {
      expect(() => decodeCursor('list', Buffer.from(JSON.stringify(fields)).toString('base64url'))).toThrow(CursorRefused);
    }
  });

  it('P1.6: a cursor that somebody made up is refused, whatever it holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json()), (text) => {
        expect(() => decodeCursor('active:lumi#ml', text)).toThrow(CursorRefused);
        expect(() => decodeCursor('active:lumi#ml', Buffer.from(text).toString('base64url'))).toThrow(CursorRefused);
      }),
      { numRuns: 200, seed: 2 },
    );
  });
});
