/** Children: the processes that pages have started. Whatever ends this process, none of them outlives it. */
const kills = new Set<() => void>();
process.once('exit', () => {
  for (const kill of kills) kill();
});

/** `kill` is called at the end of this process, unless what is returned was called before. */
export const endsWithUs = (kill: () => void): (() => void) => {
  kills.add(kill);
  return () => kills.delete(kill);
};
