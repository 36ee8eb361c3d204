/**
 * Reads durations, memory sizes and instants as users write them (contract §4).
 * Guards: only finite quantities with their unit pass; what is nearly right is refused with the way to write it.
 */
import type { Read } from './parse-value.ts';
import { LONGEST_SECONDS, parseDuration, parseMemory } from './quantity.ts';
import { kindOf, quote, refuse } from './refusal.ts';

const ENDLESS = /^(forever|unlimited|infinite|infinity|inf|never|none|max)$/i;

/** Whole seconds of a finite duration; `most` in seconds. */
export const duration =
  (most: number = LONGEST_SECONDS, zero: 'zero_allowed' | 'above_zero' = 'above_zero'): Read<number> =>
  (value, path, faults) => {
    if (typeof value === 'number') return refuse(faults, path, 'wrong_type', `is a number; write text with its unit: "${value}s"`);
    if (typeof value !== 'string') return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write a duration such as "15m"`);
    if (ENDLESS.test(value))
      return refuse(faults, path, 'not_finite', `${quote(value)} has no end; write a finite duration such as "12h" or "7d"`);
    if (zero === 'zero_allowed' && /^(0[smhdw]|PT0S)$/.test(value)) return 0;
    const seconds = parseDuration(value);
    if (seconds === undefined)
      return refuse(
        faults,
        path,
        'malformed',
        `${quote(value)} is no duration above zero; write "90s", "15m", "2h", "7d" or ISO 8601, at most 3650d`,
      );
    if (seconds > most) return refuse(faults, path, 'out_of_range', `${quote(value)} is too long; at most ${most / 86_400}d are allowed`);
    return seconds;
  };

/** Whole MiB. */
export const memory: Read<number> = (value, path, faults) => {
  if (typeof value !== 'string') return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write text such as "16Gi"`);
  const mebibytes = parseMemory(value);
  if (mebibytes !== undefined) return mebibytes;
  const near = /^(\d{1,7})\s*([MGT])i?b?$/i.exec(value);
  const fix = near && Number(near[1]) > 0 ? `write "${near[1]}${near[2]!.toUpperCase()}i"` : 'write "512Mi", "16Gi" or "1Ti"';
  return refuse(faults, path, 'malformed', `${quote(value)} is no memory size; ${fix}`);
};

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Milliseconds since 1970 of an RFC 3339 instant. Its own arithmetic: a date that does not exist is refused, not moved on. */
export const instant: Read<number> = (value, path, faults) => {
  const wrong = () =>
    refuse(faults, path, 'malformed', `${quote(value)} is no instant; write RFC 3339 with its offset, such as "2030-01-31T18:00:00Z"`);
  const parts = typeof value === 'string' ? INSTANT.exec(value) : null;
  if (!parts) return wrong();
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const [offsetHours, offsetMinutes] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > lastDay || hour > 23 || minute > 59 || second > 59) return wrong();
  if (year < 1970 || offsetHours > 23 || offsetMinutes > 59) return wrong();
  const milliseconds = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offset = (parts[8] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes);
  return Date.UTC(year, month - 1, day, hour, minute - offset, second, milliseconds);
};
