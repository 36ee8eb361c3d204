import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/slurm/**', 'node_modules/**'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: 'threads',
  },
});
