/**
 * The journal: a memory cluster that was killed and made anew is the same cluster, at any moment of anything that was done to it.
 * The clock goes on with every look at it, as a real one does: a call that happens a millisecond later than its line says is another world.
 */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { World } from '../../../lib/cluster/memory/world.ts';
import type { Receipt } from '../../../lib/job/event.ts';
import { identityOf } from '../../../lib/job/identity.ts';
import { openJournaled } from '../../../lib/local/journal.ts';
import { START_MS, scripted, seeded } from '../../cluster/memory/given.ts';
import { SHAPES } from '../../contract/core/life.ts';
import { folderOf } from './folder.ts';

const TAG = 'jrn0';
const JOBS = ['0000000000000001', '0000000000000002', '0000000000000003'] as const;
const SPEC = scripted(
  { queueSeconds: 3, startsSeconds: 2, program: { runsSeconds: 70, publishes: [{ atSeconds: 8, step: 100 }], ends: 'preempted' } },
  { queueSeconds: 1, program: { runsSeconds: 90, publishes: [{ atSeconds: 5, step: 50 }], ends: { exit: 3 } } },
  { queueSeconds: 'never' },
);

/** What really happened, but for the drawn part of a claim's text. */
const truthOf = (world: World): unknown => {
  const { acts: _, ...truth } = world.truth();
  return JSON.parse(JSON.stringify(truth).replaceAll(/"text":"([^"]*)-[0-9a-f]+"/g, '"text":"$1"'));
};

interface Kept {
  readonly path: string;
  readonly shape: (typeof SHAPES)[number];
  readonly clock: { nowMs: number; ticks: boolean };
}
const opened = ({ path, shape, clock }: Kept, random: () => number) => {
  const now = (): number => (clock.ticks ? clock.nowMs++ : clock.nowMs);
  return openJournaled({ path, shape, now, random, cluster: 'demo', tag: TAG });
};

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test.each([1, 2, 3, 4])('killed after any call, it is the same when it is opened again (seed %i)', async (seed) => {
    const random = seeded(seed * 7919);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const kept: Kept = { path: join(await folderOf(), 'memory.jsonl'), shape, clock: { nowMs: START_MS, ticks: true } };
    const receipts: Receipt[] = [];
    const tries = new Map<string, number>();
    let cluster = await opened(kept, random);
    for (let step = 0; step < 60; step++) {
      kept.clock.nowMs += Math.floor(random() * 25_000);
      const session = await cluster.adapter.connect('default');
      const receipt = receipts.length > 0 ? pick(receipts) : undefined;
      const gate = { mechanism: shape === 'slurm' ? 'begin' : 'suspend', selfDestructs: false } as const;
      const verb = receipt ? pick(['submit', 'fence', 'release', 'release', 'cancel', 'requeue', 'stop', 'look']) : 'submit';
      const n = receipt ? Number(receipt.identity.slice(23)) : 0;
      if (verb === 'submit') {
        const job = pick(JOBS);
        const next = (tries.get(job) ?? 0) + 1;
        tries.set(job, next);
        const clusterNow = (await session.clock())!;
        const answer = await session.submit({
          ...{ job, n: next, spec: SPEC, requeue: pick(['never', 'scheduler', 'supervisor'] as const), patienceSeconds: 3600 },
          ...{ identity: identityOf(TAG, job, next), probe: await session.probe(clusterNow), gate, clusterNow },
          ...{ resume: { epoch: next * 1_000_000, step: -1, path: '' }, resources: { timeLimitSeconds: 300 }, excludeNodes: [] },
          clusterBoundAt: clusterNow + 90_000,
        });
        if (answer.kind === 'accepted') receipts.push(answer.receipt);
      } else if (!receipt) continue;
      else if (verb === 'fence') await session.fence(receipt.identity.slice(6, 22), { n, schedulerId: receipt.schedulerId });
      else if (verb === 'release') {
        if (random() < 0.8) await session.fence(receipt.identity.slice(6, 22), { n, schedulerId: receipt.schedulerId });
        await session.release(receipt, gate);
      } else if (verb === 'cancel') await session.cancel(receipt);
      else if (verb === 'requeue') await session.requeue?.(receipt);
      else if (verb === 'stop' && step > 40) await session.fence(receipt.identity.slice(6, 22), 'stop');
      else await session.find(receipt.identity.slice(6, 22));

      kept.clock.ticks = false;
      const before = truthOf(cluster.world);
      cluster.close();
      cluster = await opened(kept, random);
      expect(truthOf(cluster.world), `step ${step}: ${verb}`).toEqual(before);
      kept.clock.ticks = true;
      // Its receipts still name it.
      const found = await (await cluster.adapter.connect('default')).find(pick(JOBS));
      if (found.kind === 'found')
        for (const object of found.objects)
          expect(receipts.some((one) => one.schedulerId === object.receipt.schedulerId && one.identity === object.receipt.identity)).toBe(
            true,
          );
    }
    expect(cluster.world.truth().executions.length).toBeGreaterThan(0);
    cluster.close();
  });
});

test('P8.4 what was collected stays away when it is opened again', async () => {
  const kept: Kept = { path: join(await folderOf(), 'memory.jsonl'), shape: 'slurm', clock: { nowMs: START_MS, ticks: false } };
  const [job] = JOBS;
  const random = seeded(1);
  let cluster = await opened(kept, random);
  let session = await cluster.adapter.connect('default');
  const clusterNow = (await session.clock())!;
  const submitted = await session.submit({
    ...{ job, n: 1, spec: SPEC, requeue: 'never', patienceSeconds: 3600, identity: identityOf(TAG, job, 1) },
    ...{ probe: await session.probe(clusterNow), gate: { mechanism: 'begin', selfDestructs: false }, clusterNow },
    ...{ resume: { epoch: 1_000_000, step: -1, path: '' }, resources: { timeLimitSeconds: 300 }, excludeNodes: [] },
    clusterBoundAt: clusterNow + 90_000,
  });
  if (submitted.kind !== 'accepted') throw new Error(submitted.kind);
  const { receipt } = submitted;
  await session.fence(job, { n: 1, schedulerId: receipt.schedulerId });
  await session.release(receipt, { mechanism: 'begin', selfDestructs: false });
  kept.clock.nowMs += 60_000;
  const listed = async () => (await session.listPublications(job, SPEC))?.publications ?? [];
  const [publication] = await listed();
  expect(publication).toMatchObject({ step: 100 });
  expect(await session.collect!(job, SPEC, [{ publication: publication!, files: true }])).toMatchObject({ kind: 'removed', markers: 1 });
  cluster.close();
  cluster = await opened(kept, random);
  session = await cluster.adapter.connect('default');
  expect(await listed()).toEqual([]);
  cluster.close();
});

describe('the file', () => {
  const submitted = async (kept: Kept): Promise<Receipt> => {
    const cluster = await opened(kept, seeded(1));
    const session = await cluster.adapter.connect('default');
    const clusterNow = (await session.clock())!;
    const [job] = JOBS;
    const answer = await session.submit({
      ...{ job, n: 1, spec: SPEC, requeue: 'never', patienceSeconds: 3600, identity: identityOf(TAG, job, 1) },
      ...{ probe: await session.probe(clusterNow), gate: { mechanism: 'begin', selfDestructs: false }, clusterNow },
      ...{ resume: { epoch: 1_000_000, step: -1, path: '' }, resources: { timeLimitSeconds: 300 }, excludeNodes: [] },
      clusterBoundAt: clusterNow + 90_000,
    });
    cluster.close();
    if (answer.kind !== 'accepted') throw new Error(answer.kind);
    return answer.receipt;
  };
  const keptIn = async (): Promise<Kept> => ({
    path: join(await folderOf(), 'memory.jsonl'),
    shape: 'slurm',
    clock: { nowMs: START_MS, ticks: false },
  });

  test('a line that was cut off never was; the lines before it are whole', async () => {
    const kept = await keptIn();
    await submitted(kept);
    await appendFile(kept.path, '{"at":1893456000000,"login":"default","verb":"cancel"');
    const { world, close } = await opened(kept, seeded(1));
    expect(world.truth().objects).toMatchObject([{ id: '1', state: 'gated' }]);
    close();
    expect((await readFile(kept.path, 'utf8')).endsWith('}\n')).toBe(true);
  });

  test('a day after a job’s end was written it is left out, and no id comes again', async () => {
    const kept = await keptIn();
    const receipt = await submitted(kept);
    const first = await opened(kept, seeded(1));
    const session = await first.adapter.connect('default');
    await session.cancel(receipt);
    await session.fence(JOBS[0], 'stop');
    first.close();
    for (const [hours, objects] of [
      [23, 1],
      [2, 1],
      [0, 0],
    ] as const) {
      kept.clock.nowMs += hours * 3_600_000;
      const { world, close } = await opened(kept, seeded(1));
      expect(world.truth().objects.length).toBe(objects);
      expect(world.state.nextId).toBe(2);
      close();
    }
  });

  test.each([
    ['damaged', (text: string) => `${text.split('\n')[0]}\nnonsense\n`, 'line 2 is damaged'],
    ['of another shape', (text: string) => text.replace('"shape":"slurm"', '"shape":"kubernetes"'), 'was made in the shape kubernetes'],
  ])('one that is %s refuses the start in one line, and is left as it is', async (_, damage, says) => {
    const kept = await keptIn();
    await submitted(kept);
    const text = damage(await readFile(kept.path, 'utf8'));
    await writeFile(kept.path, text);
    await expect(opened(kept, seeded(1))).rejects.toThrow(says);
    expect(await readFile(kept.path, 'utf8')).toBe(text);
  });
});
