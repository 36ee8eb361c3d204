/** One case per row of the classification table, and the precedence between its sources (contract §3). */
import { describe, expect, it } from 'vitest';
import { type Classified, classify, type RunFiles, type Sources } from '../../../lib/cluster/slurm/classify.ts';
import type { Result } from '../../../lib/cluster/slurm/control-files.ts';
import type { Accounting, AccountingRow, StepRow } from '../../../lib/cluster/slurm/sacct.ts';
import type { ControllerRow } from '../../../lib/cluster/slurm/squeue.ts';

const T0 = 1_800_000_000;
const OBJECT = { schedulerId: '7', identity: 'dtst0-0123456789abcdef-1', submittedAt: T0 * 1000 };

const queue = (state: string, over: Partial<ControllerRow> = {}): ControllerRow => ({
  id: '7',
  name: OBJECT.identity,
  state,
  reason: 'None',
  exit: { code: 0, signal: 0 },
  derived: { code: 0, signal: 0 },
  run: 0,
  submit: T0,
  eligible: T0,
  start: T0 + 10,
  end: T0 + 100,
  preempt: undefined,
  nodes: 'n[1-2]',
  partition: 'batch',
  ...over,
});
const account = (state: string, over: Partial<AccountingRow> = {}): AccountingRow => ({
  id: '7',
  index: 1n,
  name: OBJECT.identity,
  state,
  exit: { code: 0, signal: 0 },
  derived: { code: 0, signal: 0 },
  submit: T0,
  start: T0 + 10,
  end: T0 + 100,
  elapsedSeconds: 90,
  nodes: 'n[1-2]',
  steps: [{ step: 'batch', state: 'COMPLETED', exit: { code: 0, signal: 0 } }],
  ...over,
});
const rows = (...some: AccountingRow[]): Accounting => ({ kind: 'rows', rows: some, odd: 0 });
const result = (over: Partial<Result> = {}): Result => ({ id: '7', run: 0, exit: 0, told: false, startedAt: 1, endedAt: 2, ...over });
const ran = (over: Partial<RunFiles> = {}): RunFiles => ({ claimed: true, ...over });
const told = ran({ refused: { stage: 'told', says: 'to end before its program began' } });
const judge = (over: Partial<Sources>): Classified =>
  classify({ object: OBJECT, released: true, uid: 2001, accounting: { kind: 'none' }, stderr: '', observedAt: 5, ...over });

/** The same end told by the controller and by accounting. */
const end = (state: string, q: Partial<ControllerRow> = {}, a: Partial<AccountingRow> = {}, over: Partial<Sources> = {}): Classified =>
  judge({ controller: queue(state, q), accounting: rows(account(state, a)), ...over });
const oomStep: StepRow = { step: '0', state: 'OUT_OF_MEMORY', exit: { code: 0, signal: 125 } };

describe('rows of the table', () => {
  const table: readonly (readonly [row: string, said: Classified, cause: string, more?: object])[] = [
    ['13 success', end('COMPLETED', {}, {}, { files: ran({ result: result() }) }), 'completed', { confidence: 'certain', ran: 'yes' }],
    [
      '13 success with a failed step',
      end('COMPLETED', {}, { steps: [oomStep] }),
      'completed',
      { detail: { failedSteps: ['0 OUT_OF_MEMORY'], outOfMemoryInside: true } },
    ],
    ['15 by our own uid', end('CANCELLED', {}, { state: 'CANCELLED by 2001' }), 'cancelled_by_user', { detail: { uid: 2001 } }],
    ['16 by root', end('CANCELLED', {}, { state: 'CANCELLED by 0' }), 'cancelled_by_admin', { ran: 'yes' }],
    ['16 by another uid', end('CANCELLED', {}, { state: 'CANCELLED by 5001' }), 'cancelled_by_admin', { detail: { uid: 5001 } }],
    [
      '16 prolog: root, nodes, and a batch step without an end',
      end('CANCELLED', {}, { state: 'CANCELLED by 0', elapsedSeconds: 0, steps: [{ step: 'batch', state: 'CANCELLED', exit: undefined }] }),
      'launch_failed',
      { detail: { stage: 'prolog' }, ran: 'no' },
    ],
    [
      '17 dependency',
      end('CANCELLED', { reason: 'DependencyNeverSatisfied', nodes: '' }, { nodes: '', elapsedSeconds: 0 }),
      'dependency_failed',
      { ran: 'no' },
    ],
    ['18 no accounting', judge({ controller: queue('CANCELLED') }), 'cancelled_by_unknown'],
    [
      '18 closed by a controller that lost its state',
      judge({ accounting: rows(account('CANCELLED')) }),
      'cancelled_by_unknown',
      { confidence: 'guess' },
    ],
    ['19 refused with a record', end('FAILED', { reason: 'BadConstraints', nodes: '' }, { nodes: '' }), 'rejected', { ran: 'no' }],
    [
      '19 refused, the controller forgot it',
      judge({
        accounting: rows(account('FAILED', { nodes: '', exit: { code: 1, signal: 0 }, start: T0, end: T0, elapsedSeconds: 0, steps: [] })),
      }),
      'rejected',
      { ran: 'no' },
    ],
    ['20 the scheduler broke it', end('FAILED', { reason: 'SystemFailure', exit: { code: 0, signal: 1 } }), 'scheduler_failed'],
    [
      '21 output path',
      end('FAILED', { reason: 'JobLaunchFailure', exit: { code: 0, signal: 53 } }),
      'launch_failed',
      { detail: { stage: 'output' }, ran: 'no' },
    ],
    [
      '21 the node cannot become the user',
      end('FAILED', { exit: { code: 0, signal: 48 } }),
      'launch_failed',
      { detail: { stage: 'user' } },
    ],
    [
      '22 any signal is JobLaunchFailure until 22.05',
      end('FAILED', { reason: 'JobLaunchFailure', exit: { code: 0, signal: 11 } }),
      'signalled',
      { detail: { signal: 11 } },
    ],
    [
      '23 memory in a step',
      end('FAILED', { exit: { code: 1, signal: 0 } }, { steps: [oomStep] }),
      'out_of_memory',
      { detail: { scope: 'step' } },
    ],
    [
      '23 memory by the derived code alone',
      judge({ controller: queue('FAILED', { exit: { code: 1, signal: 0 }, derived: { code: 0, signal: 125 } }) }),
      'out_of_memory',
    ],
    [
      '23 memory by the error file alone',
      judge({
        controller: queue('FAILED', { exit: { code: 1, signal: 0 } }),
        stderr: 'slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some',
      }),
      'out_of_memory',
    ],
    ['24 in the grace time, signal 15', end('FAILED', { preempt: T0 + 50, exit: { code: 0, signal: 15 } }), 'preempted'],
    [
      '24 in the grace time, exit 143',
      end('FAILED', { preempt: T0 + 50, exit: { code: 143, signal: 0 } }),
      'preempted',
      { confidence: 'likely' },
    ],
    ['25 signal 9', end('FAILED', { exit: { code: 0, signal: 9 } }), 'signalled', { detail: { signal: 9, maybe_oom: true } }],
    ['26 an exit code', end('FAILED', { reason: 'NonZeroExitCode', exit: { code: 3, signal: 0 } }), 'exited', { detail: { code: 3 } }],
    ['26 C001', judge({ accounting: rows(account('FAILED', { exit: { code: 1, signal: 0 } })) }), 'exited', { detail: { code: 1 } }],
    [
      '26 the guard: 79 and its file',
      end(
        'FAILED',
        { exit: { code: 79, signal: 0 } },
        {},
        { files: { claimed: false, refused: { stage: 'guard', says: 'never released' } } },
      ),
      'launch_failed',
      { detail: { stage: 'guard' }, ran: 'no' },
    ],
    [
      '26 79 alone is the program',
      end('FAILED', { exit: { code: 79, signal: 0 } }, {}, { files: ran({ result: result({ exit: 79 }) }) }),
      'exited',
      { detail: { code: 79 } },
    ],
    [
      '26 nothing was claimed: the wrapper itself failed',
      end('FAILED', { exit: { code: 2, signal: 0 } }, {}, { files: { claimed: false } }),
      'launch_failed',
      { detail: { stage: 'wrapper' } },
    ],
    [
      '27 memory of the job, also with exit 0',
      end('OUT_OF_MEMORY', {}, {}, { files: ran({ result: result() }) }),
      'out_of_memory',
      { detail: { scope: 'job', programExit: 0 } },
    ],
    ['28 time', end('TIMEOUT', { reason: 'TimeLimit' }), 'time_limit', { detail: { clock: 'slurm' } }],
    ['28 inactive', end('TIMEOUT', { reason: 'InactiveLimit' }), 'time_limit', { detail: { clock: 'inactive' } }],
    ['28 a budget', end('TIMEOUT', { reason: 'Job is at or exceeds QOS normal GrpCPUMinutes limit' }), 'budget'],
    [
      '28 the wrapper’s own clock',
      end('FAILED', { exit: { code: 143, signal: 0 } }, {}, { files: ran({ result: result({ exit: 143, stopped: 'time_limit' }) }) }),
      'time_limit',
      { detail: { clock: 'wrapper' } },
    ],
    ['29 never released', end('DEADLINE', { nodes: '' }, { nodes: '' }, { released: false }), 'gate_expired', { ran: 'no' }],
    ['30 released, no room', end('DEADLINE', { nodes: '' }, { nodes: '' }), 'no_capacity', { ran: 'no' }],
    ['31 node lost, C002: names none of several', end('NODE_FAIL', { reason: 'NodeDown' }), 'node_lost', { detail: { nodes: 'n[1-2]' } }],
    [
      '31 of one node',
      end('NODE_FAIL', { reason: 'NodeDown', nodes: 'n03' }),
      'node_lost',
      { detail: { nodes: 'n03', failedNodes: ['n03'] } },
    ],
    ['31 partition gone', end('NODE_FAIL', { reason: 'PartitionDown' }), 'scheduler_failed', { detail: { what: 'partition_removed' } }],
    ['31 batch step missing', end('NODE_FAIL', { exit: { code: 0, signal: 1 } }), 'node_lost', { confidence: 'likely' }],
    ['32 preempted', end('PREEMPTED'), 'preempted'],
    ['33 boot', end('BOOT_FAIL'), 'boot_failed', { ran: 'no' }],
    ['34 revoked', end('REVOKED'), 'revoked'],
    [
      '38 C004: a new word, ended and gone',
      judge({ accounting: rows(account('LAUNCH_FAILED')) }),
      'unrecognised',
      { detail: { word: 'LAUNCH_FAILED' } },
    ],
    ['38 C003: a cut word is not guessed', judge({ accounting: rows(account('OUT_OF_ME+')) }), 'unrecognised'],
    [
      'C008 the run says otherwise',
      end('COMPLETED', {}, {}, { files: ran({ result: result({ exit: 1 }) }) }),
      'contradictory',
      { detail: { code: 1 } },
    ],
    [
      'C008 the other way round',
      end('FAILED', { exit: { code: 1, signal: 0 } }, {}, { files: ran({ result: result() }) }),
      'contradictory',
    ],
    [
      'ended by our own fence',
      end('FAILED', {}, {}, { files: ran({ result: result({ exit: 143, stopped: 'fenced' }) }) }),
      'cancelled_by_dispatch',
    ],
    [
      'the code of the result wins: 137 in accounting reads 9:0',
      judge({
        accounting: rows(account('FAILED', { exit: { code: 9, signal: 0 } })),
        files: ran({ result: result({ exit: 137, signal: 9 }) }),
      }),
      'signalled',
      { detail: { signal: 9 } },
    ],
    [
      'it had ended by itself before it was cancelled',
      end('CANCELLED', {}, { state: 'CANCELLED by 2001' }, { files: ran({ result: result() }) }),
      'completed',
      { confidence: 'likely' },
    ],
    [
      'the signal of the cancel reached the program before the wrapper',
      end('CANCELLED', {}, { state: 'CANCELLED by 2001' }, { files: ran({ result: result({ exit: 143, signal: 15 }) }) }),
      'cancelled_by_user',
    ],
    [
      'it ended because it was cancelled',
      end('CANCELLED', {}, { state: 'CANCELLED by 2001' }, { files: ran({ result: result({ exit: 143, told: true }) }) }),
      'cancelled_by_user',
    ],
    [
      'the first task to end is the cause, not those that srun killed',
      end(
        'FAILED',
        { exit: { code: 143, signal: 0 } },
        {},
        {
          files: ran({ result: result({ exit: 143, signal: 15 }) }),
          stderr: 'srun: error: n2: task 2: Exited with exit code 9\nsrun: error: n1: tasks 0-1: Terminated',
        },
      ),
      'exited',
      { detail: { code: 9 } },
    ],
  ];
  it.each(table)('%s', (_row, said, cause, more) => {
    expect(said).toMatchObject({ kind: 'ended', missing: [], outcome: { cause, ...(more as object | undefined) } });
  });
});

describe('precedence', () => {
  it.each(['PENDING', 'RUNNING', 'COMPLETING', 'SOMETHING_NEW', 'CANCELLED+'])(
    'C013, C024: %s at the controller is no end, whatever accounting says',
    (word) => {
      expect(judge({ controller: queue(word), accounting: rows(account('PREEMPTED')) })).toEqual({ kind: 'unsettled', known: true });
    },
  );

  it('C006: gone from the queue, still RUNNING in accounting: look again', () => {
    expect(judge({ accounting: rows(account('RUNNING', { end: undefined })) })).toEqual({ kind: 'unsettled', known: true });
  });

  it('C012: a row of another name, or submitted earlier, is about another object', () => {
    const foreign = account('COMPLETED', { name: 'train' });
    const older = account('COMPLETED', { submit: T0 - 1 });
    expect(judge({ accounting: rows(foreign, older) })).toEqual({ kind: 'unsettled', known: false });
    expect(judge({ accounting: rows(older, account('COMPLETED', { name: 'allocation' })) })).toMatchObject({
      outcome: { cause: 'completed' },
    });
  });

  it('the newest run counts: by submit time, then by index', () => {
    const old = account('PREEMPTED');
    const middle = account('NODE_FAIL', { submit: T0 + 50, index: 9n });
    const last = account('COMPLETED', { submit: T0 + 50, index: 10n });
    expect(judge({ accounting: rows(last, old, middle) })).toMatchObject({ run: 2, outcome: { cause: 'completed' } });
  });

  it.each([
    ['down', { kind: 'failed', says: 'down' } as const, ['accounting']],
    ['no row yet', rows(), ['accounting']],
    ['still RUNNING', rows(account('RUNNING')), ['accounting']],
    ['none here', { kind: 'none' } as const, []],
  ])('P5.3: what has not arrived is missing, and lowers the confidence (accounting: %s)', (_name, accounting, missing) => {
    const said = judge({ controller: queue('COMPLETED'), accounting: accounting as Accounting, files: ran({ result: result() }) });
    expect(said).toMatchObject({ missing, outcome: { confidence: missing.length > 0 ? 'likely' : 'certain' } });
  });

  it('COMPLETED without any claim is no proof of work: it waits for a late view, then contradicts itself', () => {
    expect(end('COMPLETED', {}, {}, { files: { claimed: false } })).toMatchObject({
      missing: ['result'],
      outcome: { cause: 'contradictory' },
    });
  });

  it('P5.3: a result that should be there is missing; one of a job that was killed is not', () => {
    expect(end('COMPLETED', {}, {}, { files: ran() })).toMatchObject({ missing: ['result'] });
    expect(end('TIMEOUT', {}, {}, { files: ran() })).toMatchObject({ missing: [] });
  });

  it.each([
    ['result', { files: ran({ result: result({ exit: 4 }) }) }, 'exited'],
    ['refusal', { files: { claimed: false, refused: { stage: 'guard', says: 'x' } } }, 'launch_failed'],
    ['preemption', { stderr: 'slurmstepd: error: *** JOB 7 ON n3 CANCELLED AT 2026-11-29T14:35:13 DUE TO PREEMPTION ***' }, 'preempted'],
    [
      'node',
      { stderr: 'slurmstepd: error: *** JOB 7 ON n3 CANCELLED AT x DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***' },
      'node_lost',
    ],
    ['time', { stderr: 'slurmstepd: error: *** JOB 7 ON n3 CANCELLED AT x DUE TO TIME LIMIT ***' }, 'time_limit'],
  ] as const)('C007: without accounting, forgotten by the controller, the %s decides', (_what, over, cause) => {
    expect(judge(over)).toMatchObject({ kind: 'ended', outcome: { cause } });
  });

  it('a signature of another job, or of a requeue, decides nothing', () => {
    expect(judge({ stderr: '*** JOB 8 ON n3 CANCELLED AT x DUE TO PREEMPTION ***' }).kind).toBe('unsettled');
    expect(judge({ stderr: '*** JOB 7 ON n3 CANCELLED AT x DUE TO JOB REQUEUE ***' }).kind).toBe('unsettled');
  });

  it('a cause that only the error file tells is likely: a program can print those words', () => {
    const printed = { stderr: 'srun: error: n3: task 0: Out Of Memory', files: ran({ result: result({ exit: 1 }) }) };
    expect(end('FAILED', {}, {}, printed)).toMatchObject({ outcome: { cause: 'out_of_memory', confidence: 'likely' } });
    expect(end('FAILED', {}, { steps: [oomStep] }, printed)).toMatchObject({ outcome: { cause: 'out_of_memory', confidence: 'certain' } });
  });

  it.each([
    ['CANCELLED', end('CANCELLED', {}, {}, { files: told }), 'cancelled_by_unknown'],
    ['PREEMPTED', end('PREEMPTED', {}, {}, { files: told }), 'preempted'],
    ['TIMEOUT', end('TIMEOUT', {}, {}, { files: told }), 'time_limit'],
    ['in the time of grace', end('FAILED', { preempt: 1_800_000_000_000 }, {}, { files: told }), 'preempted'],
    ['without a word', judge({ files: told }), 'cancelled_by_unknown'],
    [
      'a tool of the wrapper was told first',
      end('CANCELLED', {}, {}, { files: ran({ refused: { stage: 'checkpoint', says: 'x' } }) }),
      'cancelled_by_unknown',
    ],
    [
      'by root, with a batch step without an end',
      end(
        'CANCELLED',
        {},
        { state: 'CANCELLED by 0', elapsedSeconds: 0, steps: [{ step: 'batch', state: 'CANCELLED', exit: undefined }] },
        { files: { ...told, claimed: false } },
      ),
      'cancelled_by_admin',
    ],
    ['by a signal of its own', end('FAILED', {}, {}, { files: told }), 'launch_failed'],
  ])(
    'contract §3: told to end before its program began (%s): the scheduler says why, it never ran, nothing is left',
    (_how, said, cause) => {
      expect(said).toMatchObject({
        kind: 'ended',
        gone: true,
        missing: expect.not.arrayContaining(['result']),
        outcome: { cause, ran: 'no' },
      });
    },
  );

  it('P5.3: told to end, and no source says why: the word of accounting is waited for', () => {
    for (const [accounting, missing] of [
      [rows(), ['accounting']],
      [{ kind: 'failed', says: 'x' }, ['accounting']],
      [{ kind: 'none' }, []],
    ] as const)
      expect(judge({ accounting, files: told })).toMatchObject({ kind: 'ended', missing });
  });

  it('P4.2: a run that left a result was not refused, whatever another start of it wrote', () => {
    const files = ran({ result: result({ exit: 3 }), refused: { stage: 'guard', says: 'x' } });
    const inGrace = { preempt: 1_800_000_000_000 };
    for (const said of [end('FAILED', {}, {}, { files }), end('FAILED', inGrace, {}, { files }), judge({ files })])
      expect(said).toMatchObject({ outcome: { cause: 'exited' } });
  });

  it.each(['PENDING', 'CANCELLED'])('an exit code beside %s is a relic of an earlier run, never an outcome', (word) => {
    const relic = { exit: { code: 88, signal: 0 } };
    const said = end(word, relic, relic, { files: { claimed: false } });
    if (word === 'PENDING') expect(said.kind).toBe('unsettled');
    else expect(said).toMatchObject({ outcome: { cause: 'cancelled_by_unknown', detail: {} } });
  });

  it('P6.3: what the controller ended proves no death; what its node reported does', () => {
    expect(end('NODE_FAIL')).toMatchObject({ gone: false });
    expect(judge({ accounting: rows(account('CANCELLED')) })).toMatchObject({ gone: false });
    for (const word of ['PREEMPTED', 'TIMEOUT', 'CANCELLED']) expect(end(word), word).toMatchObject({ gone: false });
    for (const word of ['COMPLETED', 'FAILED', 'OUT_OF_MEMORY']) expect(end(word), word).toMatchObject({ gone: true });
  });

  it('evidence is bounded whatever a node or a program printed', () => {
    const said = end(
      'FAILED',
      { reason: 'x'.repeat(9000), nodes: 'n'.repeat(9000) },
      { steps: Array.from({ length: 99 }, () => oomStep) },
      { stderr: 'y'.repeat(99_999) },
    );
    expect(said.kind === 'ended' && said.outcome.evidence.length).toBeLessThanOrEqual(16);
    expect(JSON.stringify(said).length).toBeLessThan(8192);
  });
});
