/** P8.4 on a cluster's file system, under a real sh: the marker first, nothing through a link, and what a cut left is ended later. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Doomed } from '../../../lib/checkpoint/collect.ts';
import { markerName } from '../../../lib/cluster/slurm/control-files.ts';
import { epochOf } from '../../../lib/job/identity.ts';
import { job, type Site, site, spec, submission } from './site.ts';

const doomedOf = (run: number, step: number, path = `exec/1-${run}/s ${step}`, files = true): Doomed => ({
  publication: { epoch: epochOf(1, run), step, path },
  files,
});
const given = async () => {
  const at = site();
  at.client('date', 'exec /bin/date "$@"');
  const root = join(at.root, 'checkpoints', job);
  const put = (path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), 'x');
  };
  put('pub/stray');
  const save = (one: Doomed): Doomed => {
    put(`${one.publication.path}/weights`);
    put(`pub/${markerName(one.publication)}`);
    return one;
  };
  const collect = async (doomed: readonly Doomed[]) => {
    const session = await at.open();
    return session.collect!(job, spec(), doomed);
  };
  const has = (path: string): boolean => existsSync(join(root, path));
  return { at, root, put, save, collect, has };
};
const hasMarker = ({ has }: Awaited<ReturnType<typeof given>>, one: Doomed): boolean => has(`pub/${markerName(one.publication)}`);

describe('P8.4 removing', () => {
  it('takes marker and files, or the marker alone, and nothing else', async () => {
    const world = await given();
    const [all, marker, stays] = [doomedOf(0, 1), doomedOf(0, 2, 'exec/1-0/s 2', false), doomedOf(0, 3)].map(world.save) as [
      Doomed,
      Doomed,
      Doomed,
    ];
    expect(await world.collect([all, marker])).toEqual({ kind: 'removed', markers: 2, saves: 1, failed: [], left: 0 });
    expect(world.has('exec/1-0/s 1')).toBe(false);
    expect(world.has('exec/1-0/s 2/weights')).toBe(true);
    expect([all, marker, stays].map((one) => hasMarker(world, one))).toEqual([false, false, true]);
    expect(world.has('pub/stray')).toBe(true);
    expect(readdirSync(join(world.root, 'exec', '1-0')).sort()).toEqual(['s 2', 's 3']);
    // What is gone counts as removed: the call may be repeated.
    expect(await world.collect([all])).toEqual({ kind: 'removed', markers: 1, saves: 1, failed: [], left: 0 });
  });

  it('hostile paths are words', async () => {
    const world = await given();
    const odd = world.save(doomedOf(0, 1, "exec/1-0/$(touch x) '; rm -rf -- * #/-rf"));
    world.save(doomedOf(0, 2));
    expect(await world.collect([odd])).toMatchObject({ markers: 1, saves: 1, failed: [] });
    expect(world.has('exec/1-0/s 2/weights')).toBe(true);
    expect(world.has("exec/1-0/$(touch x) '; rm -rf -- * #/-rf")).toBe(false);
  });

  it('a link in the path leads nowhere, and a link in a save’s place goes without what it leads to', async () => {
    const world = await given();
    const outside = join(world.at.root, 'outside');
    mkdirSync(join(outside, 's'), { recursive: true });
    writeFileSync(join(outside, 's', 'precious'), 'x');
    mkdirSync(join(world.root, 'exec', '1-0'), { recursive: true });
    symlinkSync(outside, join(world.root, 'exec', '1-0', 'away'));
    symlinkSync(outside, join(world.root, 'exec', '1-0', 'link'));
    const [through, link] = [doomedOf(0, 1, 'exec/1-0/away/s'), doomedOf(0, 2, 'exec/1-0/link')];
    world.put(`pub/${markerName(through.publication)}`);
    expect(await world.collect([through, link])).toMatchObject({
      markers: 1,
      failed: [{ path: 'exec/1-0/away/s', says: expect.stringContaining('a link is in its path') }],
    });
    expect(existsSync(join(outside, 's', 'precious'))).toBe(true);
    expect(world.has('exec/1-0/link')).toBe(false);
    // Its marker went first all the same: it names nothing that a run should resume from.
    expect(hasMarker(world, through)).toBe(false);
  });

  it('what an earlier call put aside and did not end is ended by the next', async () => {
    const world = await given();
    world.put('exec/1-0/.collected-00000000000001000000-00000000000000000001-0/weights');
    world.put('exec/1-1/weights');
    expect(await world.collect([])).toEqual({ kind: 'removed', markers: 0, saves: 0, failed: [], left: 0 });
    expect(readdirSync(join(world.root, 'exec', '1-0'))).toEqual([]);
    expect(world.has('exec/1-1/weights')).toBe(true);
  });

  it('what an earlier call put aside for the same step is in nobody’s way', async () => {
    const world = await given();
    const one = world.save(doomedOf(0, 1));
    world.put('exec/1-0/.collected-00000000000001000000-00000000000000000001-0/s 1/weights');
    expect(await world.collect([one])).toEqual({ kind: 'removed', markers: 1, saves: 1, failed: [], left: 0 });
    expect(readdirSync(join(world.root, 'exec', '1-0'))).toEqual([]);
  });

  it('when the time is over the rest is left, whole', async () => {
    const world = await given();
    const doomed = [1, 2, 3].map((step) => world.save(doomedOf(0, step)));
    // The clock jumps past the limit at its third reading: one for the limit, one for the first save.
    world.at.client(
      'date',
      `n=$(cat ${dirname(world.at.root)}/n 2>/dev/null || echo 0); echo $((n + 1)) > ${dirname(world.at.root)}/n; [ "$n" -lt 2 ] && echo 1000 || echo 2000`,
    );
    expect(await world.collect(doomed)).toMatchObject({ markers: 1, saves: 1, left: 2 });
    expect(doomed.map((one) => hasMarker(world, one))).toEqual([false, true, true]);
    expect(world.has('exec/1-0/s 2/weights')).toBe(true);
  });

  it('a root that cannot be entered is unreachable, and so is a connection that breaks', async () => {
    const world = await given();
    expect(await (await world.at.open()).collect!('0123456789abcdef', spec(), [doomedOf(0, 1)])).toMatchObject({ kind: 'unreachable' });
  });

  it('P8.4 a base that is there and cannot be read is told, since it fixes a point that nobody knows', async () => {
    const world = await given();
    await (await world.at.open()).submit(submission());
    const bases = (at: Site): string => join(at.root, 'tst0', job, 'bases');
    writeFileSync(join(bases(world.at), '1-0'), '0 -1 -\n');
    const listed = async () => (await world.at.open()).listPublications(job, spec());
    expect(await listed()).not.toHaveProperty('unread');
    writeFileSync(join(bases(world.at), '1-1'), 'half of a li');
    expect(await listed()).toMatchObject({ bases: [{ n: 1, run: 0 }], unread: 1 });
  });
});
