/**
 * Watches: how many long polls each principal has open here (contract §11: at most 5 at once).
 * A count per process: one server sees all of them; of a function every copy serves one request at a time, and there the
 * gateway's limit for that route is the bound (infra/api.ts).
 */
export interface Watches {
  /** Runs it, if there is room for one more; undefined: there is none. */
  within<T>(principal: string, most: number, watch: () => Promise<T>): Promise<T | undefined>;
}

export const createWatches = (): Watches => {
  const open = new Map<string, number>();
  return {
    async within(principal, most, watch) {
      const now = open.get(principal) ?? 0;
      if (now >= most) return undefined;
      open.set(principal, now + 1);
      try {
        return await watch();
      } finally {
        const left = (open.get(principal) ?? 1) - 1;
        if (left > 0) open.set(principal, left);
        else open.delete(principal);
      }
    },
  };
};
