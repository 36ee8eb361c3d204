import { defineConfig } from 'vitest/config';

/**
 * Real time, real daemons. What freezes the controller or counts the cluster's connections has it for itself, one file after the other;
 * the rest runs side by side: each file is a deployment of its own, and those that preempt do so on nodes that nobody else uses.
 */
const ALONE = ['test/slurm/lost-answer.test.ts', 'test/slurm/many.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 900_000,
    hookTimeout: 240_000,
    maxConcurrency: 8,
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: {
          name: 'beside',
          include: ['test/slurm/**/*.test.ts'],
          exclude: ALONE,
          // They wait for the cluster nearly all the time.
          maxWorkers: 8,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, fileParallelism: false, sequence: { groupOrder: 1 } } },
    ],
  },
});
