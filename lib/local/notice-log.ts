/**
 * Notice log: the bus of a local process, which readers ask (`GET /notices?after=`) instead of being told. One line of JSON per notice,
 * numbered from 1 without gaps; the newest 10,000 are kept, in memory and in the file. A notice that `put` has returned for survives a
 * killed process. Delivery is at least once, so an id may come twice.
 */
import { closeSync, openSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { type Notice, noticeSchema } from '../app/notices.ts';
import { type Bus, BusFailure } from '../app/ports.ts';
import { appendWhole, wholeLines } from './lines.ts';
import { StartRefused, saysOf } from './refusal.ts';

/** Loose where notices of an older release are read back. */
const entrySchema = z.object({ seq: z.int().min(1), notice: z.looseObject({ type: z.string(), id: z.string() }) });
export type NoticeEntry = z.infer<typeof entrySchema>;

export interface NoticeLog extends Bus {
  /** The first `limit` after number `after`; what is older than the oldest kept is gone. `last`: the newest number there is, 0 for none. */
  after(seq: number, limit: number): { readonly items: readonly NoticeEntry[]; readonly last: number };
  close(): void;
}

const KEPT = 10_000;

/** Throws StartRefused for a file that is no such log. */
export const openNoticeLog = async (path: string, kept = KEPT): Promise<NoticeLog> => {
  const entries = await readEntries(path);
  let file: number;
  let lines: number;
  let last = entries.at(-1)?.seq ?? 0;
  const open = (): void => {
    entries.splice(0, entries.length - kept);
    writeFileSync(`${path}-new`, entries.map(lineOf).join(''), { mode: 0o600, flush: true });
    renameSync(`${path}-new`, path);
    file = openSync(path, 'a', 0o600);
    lines = entries.length;
  };
  open();
  return {
    async put(notices) {
      const added = notices.map((notice, i) => ({ seq: last + 1 + i, notice: noticeSchema.parse(notice) }));
      try {
        appendWhole(file, added.map(lineOf).join(''));
      } catch (error) {
        throw new BusFailure(`the log of notices cannot be written (${saysOf(error)})`, { cause: error });
      }
      last += added.length;
      lines += added.length;
      entries.push(...added);
      entries.splice(0, entries.length - kept);
      if (lines < 2 * kept) return;
      closeSync(file);
      open();
    },
    after: (seq, limit) => {
      const oldest = entries[0]?.seq ?? 1;
      const start = Math.max(0, seq + 1 - oldest);
      return { items: entries.slice(start, start + limit), last };
    },
    close: () => closeSync(file),
  };
};

const lineOf = (entry: { readonly seq: number; readonly notice: Notice | NoticeEntry['notice'] }): string => `${JSON.stringify(entry)}\n`;

const readEntries = async (path: string): Promise<NoticeEntry[]> => {
  const lines = await wholeLines(path);
  return lines.map((line, i) => {
    try {
      return entrySchema.parse(JSON.parse(line));
    } catch (error) {
      if (!(error instanceof z.ZodError) && !(error instanceof SyntaxError)) throw error;
      throw new StartRefused(`${path}: line ${i + 1} is damaged: remove the file, and with it the notices that nobody has read yet`);
    }
  });
};
