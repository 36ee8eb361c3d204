/**
 * Quantities as users write them: durations (`90s 15m 2h 7d`, ISO 8601) and memory (`512Mi 16Gi`); contract §4.
 * Parsed once at the boundary; inside dispatch durations are whole seconds and memory is whole MiB.
 */
const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const ISO = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
/** Ten years: far beyond any run, far below what a scheduler's date arithmetic breaks at. */
export const LONGEST_SECONDS = 10 * 365 * 86_400;

/** Seconds, or undefined when the text is no finite, positive duration of at most ten years. */
export const parseDuration = (text: string): number | undefined => {
  const short = /^(\d{1,9})([smhdw])$/.exec(text);
  const seconds = short ? Number(short[1]) * UNIT_SECONDS[short[2] as keyof typeof UNIT_SECONDS] : isoSeconds(text);
  return seconds !== undefined && seconds > 0 && seconds <= LONGEST_SECONDS ? seconds : undefined;
};

const isoSeconds = (text: string): number | undefined => {
  const parts = ISO.exec(text);
  if (!parts || text.endsWith('T')) return undefined;
  const [weeks, days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return weeks! * 604_800 + days! * 86_400 + hours! * 3600 + minutes! * 60 + seconds!;
};

/** The shortest exact way to say it: `2h`, `90s`. */
export const formatDuration = (seconds: number): string => {
  for (const unit of ['d', 'h', 'm'] as const) if (seconds % UNIT_SECONDS[unit] === 0) return `${seconds / UNIT_SECONDS[unit]}${unit}`;
  return `${seconds}s`;
};

/** MiB, or undefined. `Ki` is refused: no scheduler here counts below MiB. */
export const parseMemory = (text: string): number | undefined => {
  const parts = /^(\d{1,7})(Mi|Gi|Ti)$/.exec(text);
  if (!parts) return undefined;
  const mebibytes = Number(parts[1]) * { Mi: 1, Gi: 1024, Ti: 1024 * 1024 }[parts[2] as 'Mi' | 'Gi' | 'Ti'];
  return mebibytes > 0 ? mebibytes : undefined;
};

export const formatMemory = (mebibytes: number): string =>
  mebibytes % (1024 * 1024) === 0 ? `${mebibytes / 1024 / 1024}Ti` : mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
