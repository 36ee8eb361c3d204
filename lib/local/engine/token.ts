/**
 * Task tokens: made here, opaque to everyone else.
 *
 * A token outlives its task and even this process, since records keep it. So a token is recognised by its own checksum and not by a
 * list: well formed but not waiting means the race is over (`TaskTimedOut`, normal); malformed means a corrupted store (`InvalidToken`).
 * The checksum keeps nobody out, and need not: the engine serves one process on one machine.
 */

const BODY_LENGTH = 32;
const CHECK_LENGTH = 8;

export function mintToken(random: () => number): string {
  const body = hex(random) + hex(random) + hex(random) + hex(random);
  return body + checksum(body);
}

export function isToken(text: string): boolean {
  return text.length === BODY_LENGTH + CHECK_LENGTH && checksum(text.slice(0, BODY_LENGTH)) === text.slice(BODY_LENGTH);
}

/** 32 random bits as eight hexadecimal digits. */
export function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}

/** FNV-1a, 32 bits. */
function checksum(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
}
