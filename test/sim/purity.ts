/**
 * Purity: while a world runs, the clock, timers and random numbers of the platform are forbidden to everything in it.
 * Guards exact replay: whatever reaches for one of them fails the world at once, instead of making it unrepeatable.
 * What the platform tells by itself (the age of a file, the date that `Intl` formats when it is given none) is out of reach of this.
 */
import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';

export class Impure extends Error {
  override readonly name = 'Impure';
}

const TIMERS = ['setTimeout', 'setInterval', 'setImmediate'];
const NODE_CHANCE = [
  'randomUUID',
  'randomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'generateKey',
  'generateKeySync',
  'generateKeyPair',
  'generateKeyPairSync',
];

/** Of modules of Node, named imports too: they are bound anew (`syncBuiltinESMExports`). */
const FORBIDDEN: readonly (readonly [owner: object, names: readonly string[]])[] = [
  [Math, ['random']],
  [globalThis, TIMERS],
  [timers, TIMERS],
  [timersPromises, TIMERS],
  [timersPromises.scheduler, ['wait']],
  [AbortSignal, ['timeout']],
  [performance, ['now']],
  [process, ['hrtime', 'uptime']],
  [crypto, ['randomUUID', 'getRandomValues']],
  [nodeCrypto, NODE_CHANCE],
];

/**
 * Forbids; gives back what allows it all again. `new Date()` alone tells the virtual time: JSONata stamps every evaluation with it,
 * though no expression of ours may ask for it.
 */
export const forbid = (nowMs: () => number): (() => void) => {
  const undo: (() => void)[] = [];
  const replace = (owner: object, name: string, value: unknown): void => {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
    undo.push(() => (before ? void Object.defineProperty(owner, name, before) : void Reflect.deleteProperty(owner, name)));
  };
  for (const [owner, names] of FORBIDDEN)
    for (const name of names) {
      const refuse = (): never => {
        throw new Impure(`${name} was used inside a simulated world`);
      };
      replace(owner, name, Object.assign(refuse, { bigint: refuse }));
    }
  const RealDate = Date;
  const date: DateConstructor = new Proxy(RealDate, {
    apply() {
      throw new Impure('Date() was used inside a simulated world');
    },
    construct(target, given, asked) {
      return Reflect.construct(target, given.length === 0 ? [nowMs()] : given, asked === date ? target : asked) as object;
    },
    get(target, name) {
      if (name === 'now') throw new Impure('Date.now was used inside a simulated world');
      return Reflect.get(target, name) as unknown;
    },
  });
  replace(globalThis, 'Date', date);
  syncBuiltinESMExports();
  return () => {
    for (const restore of undo.toReversed()) restore();
    syncBuiltinESMExports();
  };
};
