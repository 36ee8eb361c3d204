/** The parsers of single answers: words, reasons, rows, accounting, submissions, marks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodePath,
  encodePath,
  formatPoint,
  markerName,
  markerPrefix,
  parseMark,
  parseMarker,
  parsePoint,
  parseRefusal,
  parseResult,
} from '../../../lib/cluster/slurm/control-files.ts';
import { groupOf, knownGroup } from '../../../lib/cluster/slurm/reasons.ts';
import { MOST_IDS, parseSacct, rowsAbout, SACCT_BY_NAME, sacctById } from '../../../lib/cluster/slurm/sacct.ts';
import { readSbatch, submittedId } from '../../../lib/cluster/slurm/sbatch-answer.ts';
import { parseSqueue, squeueArguments, waitStatus } from '../../../lib/cluster/slurm/squeue.ts';
import { stateOfList, stateWord } from '../../../lib/cluster/slurm/words.ts';
import { recording, recordings } from './recordings.ts';

describe('state words', () => {
  it.each([
    ['RUNNING', { kind: 'live', phase: 'running' }],
    ['COMPLETING', { kind: 'live', phase: 'ending' }],
    ['SPECIAL_EXIT', { kind: 'live', phase: 'held' }],
    ['CONFIGURING', { kind: 'live', phase: 'starting' }],
    ['REQUEUED', { kind: 'live', phase: 'pending' }],
    ['CANCELLED by 5001', { kind: 'terminal', word: 'CANCELLED', byUid: 5001 }],
    ['CANCELLED', { kind: 'terminal', word: 'CANCELLED' }],
    ['NODE_FAIL', { kind: 'terminal', word: 'NODE_FAIL' }],
    // C003, C004: a cut or new word is never guessed.
    ['CANCELLED+', { kind: 'unrecognised' }],
    ['OUT_OF_ME+', { kind: 'unrecognised' }],
    ['LAUNCH_FAILED', { kind: 'unrecognised' }],
    ['running', { kind: 'unrecognised' }],
    ['', { kind: 'unrecognised' }],
    ['constructor', { kind: 'unrecognised' }],
  ])('C003 C004 C013: %s', (word, expected) => expect(stateWord(word)).toMatchObject(expected));

  it.each([
    [['RUNNING'], 'running'],
    [['RUNNING', 'COMPLETING'], 'ending'],
    [['PENDING', 'REQUEUED'], 'pending'],
  ])('C010: %j', (words, phase) => expect(stateOfList(words)).toMatchObject({ phase }));
  it('C010: an empty list says nothing yet', () => expect(stateOfList([])).toBeUndefined());
});

describe('C015 C016: pending reasons by group', () => {
  it.each([
    ['waiting', 'None Priority Resources BeginTime Dependency Licenses Reservation Cleaning Prolog SchedDefer MpiPortsBusy Constraints'],
    [
      'concurrency',
      `AssocGrpBB AssocGrpCpuLimit AssocGrpCPURunMinutesLimit AssocGrpGRES AssocGrpGRESRunMinutes AssocGrpJobsLimit AssocGrpSubmitJobsLimit
       AssocMaxJobsLimit AssocMaxSubmitJobLimit MaxBBPerAccount MaxCpuRunMinsPerUser MaxJobsPerAccount QOSGrpMemoryRunMinutes QOSGrpNodeLimit
       QOSJobLimit QOSMaxCpuPerUserLimit QOSMaxGRESPerUser QOSMaxJobsPerUserLimit QOSMaxSubmitJobPerUserLimit`,
    ],
    ['budget', 'AssocGrpCPUMinutesLimit AssocGrpGRESMinutes AssocGrpWallLimit QOSGrpCPUMinutesLimit QOSGrpMemoryMinutes QOSGrpWallLimit'],
    [
      'blocked',
      'AccountingPolicy InvalidQOS InvalidAccount PartitionDown PartitionInactive PartitionNodeLimit QOSNotAllowed ReservationDeleted ReqNodeNotAvail',
    ],
    ['held', 'JobHeldUser JobHeldAdmin'],
    ['launch_failed', 'JobHoldMaxRequeue launch_failed_requeued_held'],
    [
      'never',
      `AssocMaxBBMinutesPerJob AssocMaxCpuPerJobLimit AssocMaxGRESPerNode AssocMaxWallDurationPerJobLimit BadConstraints
       DependencyNeverSatisfied MaxMemPerLimit PartitionConfig PartitionTimeLimit QOSMaxCpuMinutesPerJobLimit QOSMaxNodePerJobLimit
       QOSMaxWallDurationPerJobLimit QOSMinCpuNotSatisfied QOSMinGRES`,
    ],
  ])('%s', (group, words) => {
    for (const word of words.split(/\s+/)) expect(knownGroup(word), word).toBe(group);
  });

  it.each([
    ['launch failed requeued held', 'launch_failed'],
    ['launch failure limit exceeded requeued held', 'launch_failed'],
    ['user env retrieval failed requeued held', 'launch_failed'],
    ['job requeued in special exit state', 'held'],
    ['ReqNodeNotAvail, UnavailableNodes:n09', 'blocked'],
    ['ReqNodeNotAvail(Unavailable:n09)', 'blocked'],
    ['Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions', 'waiting'],
    ['Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions', 'waiting'],
    ["Job's QOS not permitted to use this partition (batch allows x not y)", 'blocked'],
  ])('free text: %s', (text, group) => expect(knownGroup(text)).toBe(group));

  it('P5.5: a word nobody knows is evidence and waits', () => {
    expect(knownGroup('QuantumFluctuation')).toBeUndefined();
    expect(groupOf('QuantumFluctuation')).toBe('waiting');
  });

  it('every pending reason ever recorded is known', () => {
    const said = recordings().flatMap(({ commands }) =>
      commands
        .filter(({ argv }) => argv[0] === 'squeue')
        .flatMap(({ stdout }) =>
          parseSqueue(stdout)
            .rows.filter((row) => row.state === 'PENDING')
            .map((row) => row.reason),
        ),
    );
    expect(said.length).toBeGreaterThan(50);
    expect([...new Set(said)].filter((reason) => knownGroup(reason) === undefined)).toEqual([]);
  });
});

describe('squeue', () => {
  const { stdout } = recording('limits')
    .commands.filter(({ argv }) => argv[0] === 'squeue')
    .at(-1)!;

  it('asks for the whole width of every field, every state, and no id', () => {
    expect(squeueArguments()).toEqual(recording('success').commands.find(({ argv }) => argv[0] === 'squeue')!.argv);
  });

  it('C011 C012: fields are asked for by name as text, whose form no version changed, and times as seconds that have no zone', () => {
    const commands = [squeueArguments(), ...sacctById(['1'])].map((words) => words.join(' '));
    for (const command of [...commands, SACCT_BY_NAME]) expect(command).not.toContain('--json');
    expect(SACCT_BY_NAME).toContain('-S "uts$since" -E "uts$until"');
  });

  it('P5.5: an odd row never costs the others', () => {
    const rows = stdout.split('\x1e\n').slice(0, -1);
    const odd = [rows[0], 'slurm_load_jobs: what?', rows[1], `${rows[2]}\x1fmore`].map((row) => `${row}\x1e\n`).join('');
    expect(parseSqueue(odd)).toMatchObject({ rows: [{ id: '28' }, { id: '31' }], truncated: false });
    expect(parseSqueue(odd).odd).toHaveLength(2);
  });

  it('P3.6: a cut answer is told, wherever it was cut', () => {
    for (let cut = 1; cut < stdout.length; cut += 13)
      expect(parseSqueue(stdout.slice(0, cut)).truncated).toBe(!stdout.slice(0, cut).endsWith('\x1e\n'));
    expect(parseSqueue('')).toEqual({ rows: [], odd: [], truncated: false });
  });

  it.each([
    ['768', { code: 3, signal: 0 }],
    ['35072', { code: 137, signal: 0 }],
    ['9', { code: 0, signal: 9 }],
    ['253', { code: 0, signal: 125 }],
    ['4021', { code: 15, signal: 53 }],
    ['137:0', { code: 137, signal: 0 }],
    ['', undefined],
    ['N/A', undefined],
  ])('exit code %s', (text, status) => expect(waitStatus(text)).toEqual(status));
});

describe('sacct', () => {
  const line = (...fields: (string | number)[]): string =>
    `${[...fields, ...Array.from({ length: 13 - fields.length }, () => '')].join('\x1f')}\n`;
  const ok = (stdout: string) => parseSacct({ exitCode: 0, stdout, stderr: '' });

  it('C018: ids are asked for in commands of at most a thousand', () => {
    const commands = sacctById(Array.from({ length: 2500 }, (_, i) => String(i + 1)));
    expect(commands.map((words) => words[words.indexOf('-j') + 1]!.split(',').length)).toEqual([MOST_IDS, MOST_IDS, 500]);
    expect(Math.max(...commands.flat().map((word) => word.length))).toBeLessThan(131_072);
  });

  it('C007: no accounting, a failing database and no row are three answers', () => {
    expect(parseSacct({ exitCode: 1, stdout: '', stderr: 'Slurm accounting storage is disabled\n' })).toEqual({ kind: 'none' });
    expect(parseSacct({ exitCode: 1, stdout: '', stderr: 'sacct: error: Problem talking to the database: Connection refused' }).kind).toBe(
      'failed',
    );
    expect(ok('')).toEqual({ kind: 'rows', rows: [], odd: 0 });
    expect(ok('7\x1f1').kind).toBe('failed');
  });

  it('steps belong to the run before them; array elements and nonsense cost nothing (C009)', () => {
    const read = ok(
      line('7', 1, 'a', 'PREEMPTED', '0:0', '0:0', 100) +
        line('7.batch', '', 'batch', 'CANCELLED', '0:15') +
        line('700109_[1-9:2%4,12]', 2, 'a', 'PENDING', '0:0', '0:0', 100) +
        'what is this\n' +
        line('7', 3, 'a', 'COMPLETED', '0:0', '0:0', 200) +
        line('7.batch', '', 'batch', 'COMPLETED', '') +
        line('8.0', '', 'x', 'COMPLETED', '0:0'),
    );
    expect(read).toMatchObject({
      kind: 'rows',
      odd: 3,
      rows: [{ steps: [{ step: 'batch', state: 'CANCELLED' }] }, { steps: [{ step: 'batch', exit: undefined }] }],
    });
  });

  it('C012: rows of another submit time or name are not about this object; `allocation` found by id is', () => {
    const read = ok(
      line('7', 1, 'old', 'COMPLETED', '0:0', '0:0', 50) +
        line('7', 2, 'allocation', 'RUNNING', '0:0', '0:0', 100) +
        line('7', 3, 'mine', 'RUNNING', '0:0', '0:0', 90),
    );
    if (read.kind !== 'rows') throw new Error('rows expected');
    const about = rowsAbout(read.rows, { schedulerId: '7', identity: 'mine', submittedAt: 100_999 });
    expect(about.map((row) => row.name)).toEqual(['allocation']);
  });
});

describe('sbatch', () => {
  it.each([
    ['700117', { id: '700117' }],
    ['700117;c1', { id: '700117', cluster: 'c1' }],
    ['Submitted batch job 700117 on cluster c1', { id: '700117', cluster: 'c1' }],
    ['Submitted batch job 700117', { id: '700117' }],
    ['welcome\n700117\n', { id: '700117' }],
    ['c1', undefined],
    ['', undefined],
  ])('C017: %j', (stdout, expected) => expect(submittedId(stdout)).toEqual(expected));

  const failed = (text: string) => readSbatch({ exitCode: 1, stdout: '', stderr: `sbatch: error: Batch job submission failed: ${text}\n` });
  it.each([
    ['Socket timed out on send/recv operation', 'uncertain'],
    ['Unable to contact slurm controller (receive failure)', 'uncertain'],
    ['Protocol authentication error', 'uncertain'],
    ['a text that nobody ever saw', 'uncertain'],
    ['Unable to contact slurm controller (connect failure)', 'not_now'],
    ['Resource temporarily unavailable', 'not_now'],
    ['Invalid partition name specified', 'refused'],
    ['Invalid feature specification', 'refused'],
    // C030: a node that this cluster does not have, excluded.
    ['Invalid node name specified', 'refused'],
  ])('P3.4: %s → %s', (text, kind) => expect(failed(text)).toMatchObject({ kind }));

  it('P3.4: a submit limit is "not now", also where the refusal looks final', () => {
    const stderr =
      'sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user’s size and/or time limits)';
    expect(readSbatch({ exitCode: 1, stdout: '', stderr }).kind).toBe('not_now');
  });

  it.each([124, 137, 143])('P3.3: ended from outside (%i) is uncertain, whatever was printed', (exitCode) => {
    expect(readSbatch({ exitCode, stdout: '', stderr: 'Invalid partition name specified' }).kind).toBe('uncertain');
  });

  it('an exit of 0 without an id is uncertain; 255 never spoke to anybody', () => {
    expect(readSbatch({ exitCode: 0, stdout: 'ok', stderr: '' }).kind).toBe('uncertain');
    expect(readSbatch({ exitCode: 255, stdout: '', stderr: 'sbatch: unrecognized option' }).kind).toBe('refused');
  });

  it('every recorded submission is judged as it really was', () => {
    for (const { case: name, commands, jobs } of recordings()) {
      for (const { argv, stdout, stderr, exitCode, as } of commands) {
        if (argv[0] !== 'sbatch' || as !== undefined || argv.includes('--test-only')) continue;
        const said = readSbatch({ exitCode: exitCode ?? 137, stdout, stderr });
        if (said.kind === 'accepted') expect(jobs).toContain(said.id);
        // The frozen controller honoured these later; a refusal would have been a second run.
        if (name.startsWith('ambiguous')) expect(['uncertain', 'accepted'], name).toContain(said.kind);
        if (name === 'munge-failure' || name === 'controller-stopped') expect(said.kind, name).toBe('not_now');
        if (name.startsWith('refus') || name.startsWith('too-many')) expect(['refused', 'accepted'], stderr).toContain(said.kind);
      }
    }
  });
});

describe('control files', () => {
  it('P8.1: a path survives its name in pub/, and nothing else is read as one', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), (path) => {
        const isSafe =
          !/[\0-\x1f\x7f]/.test(path) &&
          path.isWellFormed() &&
          path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
        expect(decodePath(encodePath(path))).toBe(isSafe ? path : undefined);
      }),
    );
    for (const text of ['a', 'A', 'mzxw6===', 'mzxw61', '']) expect(decodePath(text)).toBeUndefined();
    expect(encodePath('foo')).toBe('mzxw6');
  });

  it('P8.1: a marker is whole or nothing', () => {
    const publication = { epoch: 2_000_001, step: 70, path: 'exec/2-1/step-70' };
    const name = markerName(publication);
    expect(name.slice(0, 42)).toBe('00000000000002000001-00000000000000000070-');
    expect(parseMarker(name)).toEqual(publication);
    expect(name.startsWith(markerPrefix(2))).toBe(true);
    for (const wrong of [`${name}=`, name.slice(1), `.${name}`, name.toUpperCase(), '']) expect(parseMarker(wrong)).toBeUndefined();
    expect(markerName({ epoch: 1, step: 1, path: 'x'.repeat(130) }).length).toBeLessThanOrEqual(255);
  });

  it('points, marks, refusals', () => {
    for (const point of [
      { epoch: 0, step: -1, path: '' },
      { epoch: 1_000_000, step: 7, path: "a 'b'" },
    ])
      expect(parsePoint(`${formatPoint(point)}\n`)).toEqual(point);
    for (const wrong of ['', '1 2', '1 2 ??', 'x 2 -', '1 -2 -']) expect(parsePoint(wrong)).toBeUndefined();
    expect(parseMark('7 1800000000\n')).toEqual({ holds: '7', writtenAt: 1_800_000_000_000 });
    expect(parseMark('- 1800000000\n')).toEqual({ holds: '', writtenAt: 1_800_000_000_000 });
    for (const wrong of ['', '7', '7 x', '7 1800000000 more']) expect(parseMark(wrong)).toBeUndefined();
    expect(parseRefusal('guard: never released\n')).toEqual({ stage: 'guard', says: 'never released' });
    expect(parseRefusal('what')).toBeUndefined();
  });

  it('a result counts only when it is whole', () => {
    const text = 'job=j\nattempt=1\nid=7\nrun=2\nexit=137\nsignal=9\nstopped=fenced\ntold=yes\nstarted=10\nended=20\nend\n';
    expect(parseResult(text)).toEqual({
      id: '7',
      run: 2,
      exit: 137,
      signal: 9,
      stopped: 'fenced',
      told: true,
      startedAt: 10_000,
      endedAt: 20_000,
    });
    for (let cut = 0; cut < text.length; cut++) expect(parseResult(text.slice(0, cut))).toBeUndefined();
  });
});
