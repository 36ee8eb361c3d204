/** What lies in a control folder is the job’s own to write: read within bounds, and no base overlooked in silence (P5.1, P8.2, P8.4). */
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accounted, identity, job, NOW, type Site, say, site, spec, submission, TAG, target } from './site.ts';

const given = async () => {
  const at = site();
  const session = await at.open();
  await session.submit(submission());
  const bases = join(at.root, TAG, job, 'bases');
  return { at, session, bases, list: () => session.listPublications(job, spec()) };
};
const NOTHING = { epoch: 0, step: -1, path: '' };
/** A line without end, far beyond what a look has time for. */
const endless = (path: string): void => {
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
};
const ended = (at: Site): void => {
  symlinkSync('77-0-aa', join(at.root, TAG, job, 'claims', '1-0'));
  at.client('sacct', say(accounted('77', identity, 'COMPLETED', NOW)));
};

describe('bases', () => {
  it('P5.1 one of any size costs a look of everybody nothing', async () => {
    const { at, session, bases } = await given();
    writeFileSync(join(bases, '1-0'), '0 -1 -\n');
    endless(join(bases, '1-1'));
    ended(at);
    const seen = await session.observe([target()]);
    expect(seen).toMatchObject({ complete: true, changed: [{ runs: [{ run: 0, base: NOTHING }] }] });
  });

  it('P8.4 … and is one that cannot be read', async () => {
    const { bases, list } = await given();
    writeFileSync(join(bases, '1-0'), '0 -1 -\n');
    endless(join(bases, '1-1'));
    expect(await list()).toMatchObject({ bases: [{ n: 1, run: 0, base: NOTHING }], unread: 1 });
  });

  it('P2.1 a folder of them that cannot be listed is not an empty one', async () => {
    const { at, list } = await given();
    // Whoever is root reads everything: so `ls` itself says no.
    at.client('ls', `case "$*" in *bases*) exit 2 ;; esac; exec /bin/ls "$@"`);
    expect(await list()).toBeUndefined();
  });
});

describe('sizes of output', () => {
  it('P5.2 of an attempt are one command, however many files it made', async () => {
    const { at, session } = await given();
    at.client('stat', 'exec /usr/bin/stat "$@"');
    for (let i = 0; i < 50; i++) writeFileSync(join(at.root, TAG, job, 'output', `1-${i}.out`), 'x');
    expect(await session.outputBytes!([target()])).toEqual(new Map([['77', 50]]));
    expect(at.calls().filter((call) => call.startsWith('stat'))).toHaveLength(1);
  });
});
