/**
 * Purity: while a world runs, the clock, timers and random numbers of the platform are forbidden to everything in it.
 * Guards exact replay: whatever reaches for one of them fails the world at once, instead of making it unrepeatable.
 */

export class Impure extends Error {
  override readonly name = 'Impure';
}

const FORBIDDEN: readonly (readonly [object, string])[] = [
  [Math, 'random'],
  [globalThis, 'setTimeout'],
  [globalThis, 'setInterval'],
  [globalThis, 'setImmediate'],
  [performance, 'now'],
  [crypto, 'randomUUID'],
  [crypto, 'getRandomValues'],
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
  for (const [owner, name] of FORBIDDEN) {
    replace(owner, name, () => {
      throw new Impure(`${name} was used inside a simulated world`);
    });
  }
  const RealDate = Date;
  const date: DateConstructor = new Proxy(RealDate, {
    construct(target, given, asked) {
      return Reflect.construct(target, given.length === 0 ? [nowMs()] : given, asked === date ? target : asked) as object;
    },
    get(target, name) {
      if (name === 'now') throw new Impure('Date.now was used inside a simulated world');
      return Reflect.get(target, name) as unknown;
    },
  });
  replace(globalThis, 'Date', date);
  return () => {
    for (const restore of undo.toReversed()) restore();
  };
};
