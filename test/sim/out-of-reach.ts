/** Rules of the protocols that no world can reach, and what proves them instead. */
export const OUT_OF_REACH: Readonly<Record<string, string>> = {
  'P1.6': 'what lists cost: `test/record/indexes.test.ts`, `npm run bench`',
  'P8.3': 'shell code on compute nodes: `test/checkpoint/publisher.test.ts`',
};
