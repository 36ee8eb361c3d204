/**
 * How a publication reaches dispatch from a real run, and what it is worth there: by its marker and the API, by the marker alone, by the
 * API alone; and whose word is not taken: a stranger's, a forger's, an earlier attempt's (protocols §8.1, §8.2; promise 5).
 * Everything here is what a program on a node can do; the API is that of `npm start`.
 */
import { statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMarker } from '../../lib/cluster/slurm/control-files.ts';
import { saidOf, startsOf, WORDS } from './program.ts';
import { configurationFor, publicationsOf, rootFor, until } from './rig.ts';
import { checkpointsBy, eventsBy, jobBy, newServer, type Server, submitBy, type Told } from './server.ts';

const root = rootFor('publish');
const quietRoot = rootFor('quiet');
let server: Server;
/** A deployment whose configuration does not say where runs reach it. */
let quiet: Server;
beforeAll(async () => {
  server = await newServer('publish', (apiUrl) => configurationFor('publish', root, { apiUrl }));
  quiet = await newServer('quiet', () => configurationFor('quiet', quietRoot));
  for (const one of [server, quiet]) one.start();
  await Promise.all([server.ready(), quiet.ready()]);
});
afterAll(() => Promise.all([server?.kill(), quiet?.kill()]));

const spec = (name: string, program: string, env: Readonly<Record<string, string>> = {}): Record<string, unknown> => ({
  name,
  cluster: 'lab',
  resources: { nodes: 1, memoryPerNode: '100Mi' },
  program: { script: `${WORDS}${program}`, env },
  timeLimit: '20m',
  checkpoint: {},
  policy: {
    rules: [{ on: ['exited'], when: { exitCode: 3 }, do: { relaunch: { max: 1, backoff: { initial: '1s' }, from: 'checkpoint' } } }],
    unmatched: 'stop',
    limits: { attempts: 2 },
  },
  extensions: { slurm: { partition: 'batch' } },
});

const go = (job: string, name: string, at = root): void => writeFileSync(`${at}/checkpoints/${job}/${name}`, '');
const says = (job: string, label: string, at = root): Promise<string> =>
  until(`${label} of ${job}`, 90, () => saidOf(at, job).find((line) => line.startsWith(`${label} `)));
const ended = (on: Server, job: string): Promise<Told> =>
  until(`the end of ${job}`, 90, async () => {
    const told = await jobBy(on, job);
    return ['succeeded', 'failed', 'cancelled'].includes(told.state) ? told : undefined;
  });
const reportsOf = async (on: Server, job: string) =>
  (await eventsBy(on, job)).items
    .filter(({ event }) => event.type === 'checkpoint_published')
    .map(({ actor, event }) => ({ actor, ...event }));
const standings = async (job: string, refresh = false) =>
  (await checkpointsBy(server, job, refresh)).map(
    (one) => `${one.attempt}:${one.trainingStep} ${one.standing}${one.latest ? ' latest' : ''}`,
  );
const markersOf = (job: string, at = root): string[] =>
  publicationsOf(at, job).map((name) => {
    const { epoch, step } = parseMarker(name)!;
    return `${Math.floor(epoch / 1_000_000)}:${step}`;
  });

describe.concurrent('a publication', () => {
  it('by dispatch-publish is in the record at once, and a listing makes it a resume point; its token is nobody’s to read (P8.1)', async () => {
    const job = await submitBy(
      server,
      'both',
      spec(
        'both',
        `
printf 'env %s\\n' "$(env | grep -cF "$(cat "$DISPATCH_TOKEN_FILE")" || true)" >> "$root/said"
both 5
announce 5
await go
`,
      ),
    );
    expect(await says(job, 'announce-5')).toBe('announce-5 0');
    expect(await jobBy(server, job)).toMatchObject({ checkpoint: { attempt: 1, trainingStep: 5, source: 'reported' } });
    expect(await reportsOf(server, job)).toEqual([
      {
        actor: 'attempt:1',
        type: 'checkpoint_published',
        epoch: 1_000_000,
        step: 5,
        path: 'exec/1-0/step-5',
        sizeBytes: expect.any(Number),
      },
    ]);
    expect(await standings(job)).toEqual(['1:5 reported']);
    expect(await standings(job, true)).toEqual(['1:5 eligible latest']);
    expect(saidOf(root, job)[0]).toBe('env 0');
    const { mode, uid } = statSync(`${root}/${server.tag()}/${job}/token`);
    expect([mode & 0o777, uid]).toEqual([0o600, 2001]);
    go(job, 'go');
    expect(await ended(server, job)).toMatchObject({ state: 'succeeded', checkpoint: { trainingStep: 5, source: 'listed' } });
    // Announced once; the second time it was told so.
    expect(saidOf(root, job).slice(1)).toEqual(['announce-5 0', 'announce-5 1']);
    expect(await reportsOf(server, job)).toHaveLength(1);
  });

  it('by the API alone, whose marker never appears, is shown and never resumed from; nobody else’s word is taken (P6.2, P8.1, K3)', async () => {
    const victim = await submitBy(server, 'victim', spec('victim', 'marker 1\nawait go\n'));
    const job = await submitBy(
      server,
      'post',
      spec(
        'post',
        `
me=$DISPATCH_TOKEN_FILE
kept=$root/exec/1-0/kept
if [ "$DISPATCH_ATTEMPT" = 1-0 ]; then
  cp "$me" "$kept"
  marker 5
  both 10
  save 12
  post alone "$me" "$DISPATCH_JOB" 1000000 12
  post again "$me" "$DISPATCH_JOB" 1000000 12
  await go1
  exit 3
fi
post late "$kept" "$DISPATCH_JOB" 1000000 14 exec/1-0/step-14
post late-again "$kept" "$DISPATCH_JOB" 1000000 15 exec/1-0/step-15
post mine-for-other "$me" "$DISPATCH_JOB" 1000000 14 exec/1-0/step-14
post other-for-mine "$kept" "$DISPATCH_JOB" 2000000 14
post others-folder "$me" "$DISPATCH_JOB" 2000000 14 exec/1-0/step-14
post stolen "$me" "$VICTIM" 1000000 99 exec/1-0/step-99
sed 's/[.]2[.]/.1./' "$me" > "$root/exec/2-0/forged"
post forged "$root/exec/2-0/forged" "$DISPATCH_JOB" 1000000 14 exec/1-0/step-14
: > "$root/exec/2-0/none"
post none "$root/exec/2-0/none" "$DISPATCH_JOB" 2000000 14
survivor() {
  export DISPATCH_ATTEMPT=1-0 DISPATCH_EPOCH=1000000 DISPATCH_EXEC_DIR=$root/exec/1-0
  both 16
}
( survivor )
await go2
`,
        { VICTIM: victim },
      ),
    );
    expect(await says(job, 'again')).toBe('again 409 checkpoint/exists');
    expect(saidOf(root, job)).toEqual(['announce-10 0', 'alone 200', 'again 409 checkpoint/exists']);
    expect(await jobBy(server, job)).toMatchObject({ checkpoint: { attempt: 1, trainingStep: 12, source: 'reported' } });
    expect(await standings(job)).toEqual(['1:12 reported', '1:10 reported']);
    expect(await standings(job, true)).toEqual(['1:12 reported', '1:10 eligible latest', '1:5 eligible']);
    go(job, 'go1');

    expect(await says(job, 'announce-16')).toBe('announce-16 4');
    expect(startsOf(root, job).map(({ attempt, resumed }) => [attempt, resumed])).toEqual([
      ['1-0', undefined],
      ['2-0', 10],
    ]);
    expect(saidOf(root, job).slice(3)).toEqual([
      'late 409 checkpoint/late',
      'late-again 409 checkpoint/late',
      'mine-for-other 400 checkpoint/invalid',
      'other-for-mine 400 checkpoint/invalid',
      'others-folder 400 checkpoint/invalid',
      'stolen 401 auth/bad_token',
      'forged 401 auth/bad_token',
      'none 401 auth/bad_token',
      'announce-16 4',
    ]);
    expect(await jobBy(server, job)).toMatchObject({
      resumedFrom: { attempt: 1, trainingStep: 10 },
      why: expect.stringContaining(
        'attempt 2 follows 1, which exited with 3: rule 0 (1 of 1 uses) relaunched it from step 10, published by attempt 1',
      ),
    });
    go(job, 'go2');
    // Shown to the end, as what it is.
    expect(await ended(server, job)).toMatchObject({
      state: 'succeeded',
      resumedFrom: { attempt: 1, trainingStep: 10 },
      checkpoint: { attempt: 1, trainingStep: 12, source: 'reported' },
    });
    // What was late is in the record once per run, by whom; what was nobody's is not in it at all.
    expect((await reportsOf(server, job)).map(({ actor, step, late }: Record<string, unknown>) => [actor, step, late ?? false])).toEqual([
      ['attempt:1', 10, false],
      ['attempt:1', 12, false],
      ['attempt:1', 14, true],
    ]);
    expect(markersOf(job)).toEqual(['1:5', '1:10']);
    expect(await standings(job, true)).toEqual(['1:14 late', '1:12 late', '1:10 past latest', '1:5 past']);

    go(victim, 'go');
    expect(await ended(server, victim)).toMatchObject({ state: 'succeeded', checkpoint: { trainingStep: 1, source: 'listed' } });
    expect(await reportsOf(server, victim)).toEqual([]);
  });

  it('by the marker alone, where runs are not told of an API: no address, no token, the same resume point', async () => {
    const job = await submitBy(
      quiet,
      'quiet',
      spec('quiet', `both 5\nprintf 'told [%s] %s\\n' "$DISPATCH_API_URL" "$(wc -c < "$DISPATCH_TOKEN_FILE")" >> "$root/said"\n`),
    );
    expect(await ended(quiet, job)).toMatchObject({ state: 'succeeded', checkpoint: { attempt: 1, trainingStep: 5, source: 'listed' } });
    expect(saidOf(quietRoot, job)).toEqual(['announce-5 0', 'told [] 0']);
    expect(await reportsOf(quiet, job)).toEqual([]);
  });
});

it('by the marker alone, while the API is down: published all the same; after a restart the same token speaks (P8.1)', async () => {
  const job = await submitBy(
    server,
    'down',
    spec('down', `: > "$root/began"\nawait down\nboth 5\nawait up\npost up "$DISPATCH_TOKEN_FILE" "$DISPATCH_JOB" "$DISPATCH_EPOCH" 5\n`),
  );
  await until('it began', 60, () => startsOf(root, job).length > 0 || undefined);
  await server.kill();
  go(job, 'down');
  expect(await says(job, 'announce-5')).toBe('announce-5 0');
  server.start();
  await server.ready();
  expect(await reportsOf(server, job)).toEqual([]);
  go(job, 'up');
  expect(await ended(server, job)).toMatchObject({ state: 'succeeded', checkpoint: { trainingStep: 5, source: 'listed' } });
  expect(saidOf(root, job)).toEqual(['announce-5 0', 'up 200']);
});
