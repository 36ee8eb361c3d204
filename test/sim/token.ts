/** Task tokens in places where none may be (P2.6, S12): found by their form, so that one which is long dead counts, too. */
import { isToken } from '../../lib/local/engine/token.ts';

const FORM = /\b[0-9a-f]{40}\b/g;

export const holdsToken = (text: string): boolean => text.match(FORM)?.some(isToken) ?? false;
