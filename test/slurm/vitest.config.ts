import { defineConfig } from 'vitest/config';

/** Real time, real daemons: one file after the other, because they freeze the controller and preempt each other's jobs. */
export default defineConfig({
  test: {
    include: ['test/slurm/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    maxConcurrency: 8,
    pool: 'forks',
  },
});
