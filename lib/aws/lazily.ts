/**
 * Lazily: made at the first need, once. What a function does not need then costs its cold start nothing, since the module behind it is
 * loaded by `import()` inside `make`. Guards against a process that is broken for good by one failure: a failed making is made again.
 */
export const lazily = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};
