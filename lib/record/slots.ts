/** The slots' own rules, pure: what callers of the store must never ask for (P5.8). */
import { assert } from '../job/assertion.ts';
import { SLOTS, type Slot } from './port.ts';

const ALL: readonly string[] = Object.values(SLOTS).flat();

export const checkSlots = (slots: readonly Slot[], owner: string): void => {
  assert(slots.length > 0 && slots.every((slot) => ALL.includes(slot)), `a connection takes one of the slots ${ALL.join(', ')}`);
  assert(owner !== '', 'a slot has an owner');
};
