/** A cluster's record as tables: what is noted, what is asked, what an answer stands for and what ends it (contract §8, §10). */
import { describe, expect, it } from 'vitest';
import { joinCluster } from '../../lib/app/cluster/join.ts';
import { AssertionFailed } from '../../lib/job/assertion.ts';
import { answerCluster, missingOf } from '../../lib/job/cluster-command.ts';
import { reliedOn } from '../../lib/job/cluster-reliance.ts';
import { blockedFor, emptyCluster, foldCluster, loginOf, openClusterQuestions } from '../../lib/job/cluster-view.ts';
import { clusterState, joinWords, submissionWords, troubleWords } from '../../lib/job/cluster-why.ts';
import { commitOf, HOST_KEY, HOUR, probeAt, REFUSED, type Row, T0, tell } from './cluster-given.ts';

interface Table {
  readonly rule: string;
  readonly rows: readonly Row[];
  /** What the last row committed. */
  readonly last: readonly string[];
}

const down: Row = [0, { do: 'unreachable' }];
const asked: readonly Row[] = [down, [6 * HOUR, { do: 'tend' }]];
const UP = ['cluster_reachable a'];

const TABLES: readonly Table[] = [
  { rule: 'P5.4: an outage is noted once', rows: [down, [60, { do: 'unreachable' }]], last: [] },
  { rule: 'P5.4: its end is noted once', rows: [down, [60, { do: 'reachable' }], [120, { do: 'reachable' }]], last: [] },
  { rule: 'P5.4: its end is noted', rows: [down, [60, { do: 'reachable' }]], last: UP },
  { rule: 'a look at a cluster without trouble says nothing', rows: [[0, { do: 'reachable' }]], last: [] },
  { rule: 'contract §13: nobody is asked before 6 h', rows: [down, [6 * HOUR - 1, { do: 'tend' }]], last: [] },
  { rule: 'contract §13: after 6 h people are asked', rows: asked, last: ['escalation_raised q1'] },
  { rule: 'a poll that fails asks too', rows: [down, [6 * HOUR, { do: 'unreachable' }]], last: ['escalation_raised q1'] },
  { rule: 'contract §10: asked once', rows: [...asked, [7 * HOUR, { do: 'tend' }]], last: [] },
  {
    rule: 'contract §10: one question, whichever login does not answer',
    rows: [...asked, [6.5 * HOUR, { do: 'unreachable', login: 'b' }], [20 * HOUR, { do: 'tend' }]],
    last: [],
  },
  {
    rule: 'its return withdraws the question',
    rows: [...asked, [7 * HOUR, { do: 'reachable' }]],
    last: [...UP, 'escalation_withdrawn q1'],
  },
  {
    rule: 'one login’s return withdraws nothing while another’s lasts',
    rows: [...asked, [6.5 * HOUR, { do: 'unreachable', login: 'b' }], [7 * HOUR, { do: 'reachable' }]],
    last: UP,
  },
  {
    rule: 'a new outage counts anew',
    rows: [...asked, [7 * HOUR, { do: 'reachable' }], [8 * HOUR, { do: 'unreachable' }], [13 * HOUR, { do: 'tend' }]],
    last: [],
  },
  {
    rule: 'a new outage is asked about anew',
    rows: [...asked, [7 * HOUR, { do: 'reachable' }], [8 * HOUR, { do: 'unreachable' }], [14 * HOUR, { do: 'tend' }]],
    last: ['escalation_raised q2'],
  },
  { rule: 'E3: nobody answers: the default counts', rows: [...asked, [78 * HOUR, { do: 'tend' }]], last: ['escalation_expired q1'] },
  { rule: 'E3: not before its time', rows: [...asked, [78 * HOUR - 1, { do: 'tend' }]], last: [] },
  {
    rule: '`wait` asks again after 72 h',
    rows: [...asked, [7 * HOUR, { do: 'answer', question: 'q1', answer: 'wait' }], [79 * HOUR, { do: 'tend' }]],
    last: ['escalation_raised q2'],
  },
  {
    rule: '`wait` asks not sooner',
    rows: [...asked, [7 * HOUR, { do: 'answer', question: 'q1', answer: 'wait' }], [79 * HOUR - 1, { do: 'tend' }]],
    last: [],
  },
  {
    rule: '`block_submissions` is not asked about again in this outage',
    rows: [...asked, [7 * HOUR, { do: 'answer', question: 'q1', answer: 'block_submissions' }], [300 * HOUR, { do: 'tend' }]],
    last: [],
  },
  {
    rule: 'C048: a changed host key is asked about at once',
    rows: [[0, { do: 'blocked', refusal: HOST_KEY }]],
    last: ['cluster_blocked a', 'escalation_raised q1'],
  },
  {
    rule: 'a refused key is tried again by itself, so people are asked as of an outage',
    rows: [[0, { do: 'blocked', refusal: REFUSED }]],
    last: ['cluster_blocked a'],
  },
  {
    rule: 'a block that lasts is asked about',
    rows: [
      [0, { do: 'blocked', refusal: REFUSED }],
      [6 * HOUR, { do: 'tend' }],
    ],
    last: ['escalation_raised q1'],
  },
  {
    rule: 'the same block is noted once',
    rows: [
      [0, { do: 'blocked', refusal: REFUSED }],
      [900, { do: 'blocked', refusal: REFUSED }],
    ],
    last: [],
  },
  {
    rule: 'a block under another key is another fact',
    rows: [
      [0, { do: 'blocked', refusal: REFUSED }],
      [900, { do: 'blocked', refusal: { ...REFUSED, secret: 's2' } }],
    ],
    last: ['cluster_blocked a'],
  },
  {
    rule: 'a look lifts no block',
    rows: [
      [0, { do: 'blocked', refusal: REFUSED }],
      [60, { do: 'reachable' }],
    ],
    last: [],
  },
  {
    rule: 'a blocked login is not unreachable too',
    rows: [
      [0, { do: 'blocked', refusal: REFUSED }],
      [60, { do: 'unreachable' }],
    ],
    last: [],
  },
  {
    rule: 'P5.8: a preflight lifts a block and withdraws the question',
    rows: [
      [0, { do: 'blocked', refusal: HOST_KEY }],
      [60, { do: 'probed', by: 'hand' }],
    ],
    last: ['cluster_probed a', 'cluster_reachable a', 'escalation_withdrawn q1'],
  },
  { rule: 'a preflight ends an outage', rows: [down, [60, { do: 'probed', by: 'hand' }]], last: ['cluster_probed a', ...UP] },
  { rule: 'a probe of a cluster without trouble is a probe alone', rows: [[0, { do: 'probed', by: 'first' }]], last: ['cluster_probed a'] },
  {
    rule: 'contract §10: a lost capability that active jobs rely on is asked about',
    rows: [
      [0, { do: 'probed' }],
      [100, { do: 'probed', without: { cancel: 'no' }, relied: ['cancel', 'gate'] }],
    ],
    last: ['cluster_probed a', 'escalation_raised q1'],
  },
  {
    rule: 'one that nobody relies on is recorded alone',
    rows: [
      [0, { do: 'probed' }],
      [100, { do: 'probed', without: { cancel: 'no' }, relied: ['gate'] }],
    ],
    last: ['cluster_probed a'],
  },
  {
    rule: 'what could not be asked is not lost',
    rows: [
      [0, { do: 'probed' }],
      [100, { do: 'probed', without: { cancel: 'unknown' }, relied: ['cancel'] }],
    ],
    last: ['cluster_probed a'],
  },
  {
    rule: 'what was never there is not lost',
    rows: [[0, { do: 'probed', without: { cancel: 'no' }, relied: ['cancel'] }]],
    last: ['cluster_probed a'],
  },
  {
    rule: 'a loss is asked about once',
    rows: [
      [0, { do: 'probed' }],
      [100, { do: 'probed', without: { cancel: 'no' }, relied: ['cancel'] }],
      [200, { do: 'probed', without: { cancel: 'no' }, relied: ['cancel'] }],
    ],
    last: ['cluster_probed a'],
  },
  {
    rule: 'a capability that is back withdraws its question',
    rows: [
      [0, { do: 'probed' }],
      [100, { do: 'probed', without: { cancel: 'no' }, relied: ['cancel'] }],
      [200, { do: 'probed' }],
    ],
    last: ['cluster_probed a', 'escalation_withdrawn q1'],
  },
  {
    rule: '`wait` about a loss asks again after 72 h, while it lasts',
    rows: [
      [0, { do: 'probed' }],
      [100, { do: 'probed', without: { cancel: 'no' }, relied: ['cancel'] }],
      [200, { do: 'answer', question: 'q1', answer: 'wait' }],
      [200 + 72 * HOUR, { do: 'probed', without: { cancel: 'no' }, relied: ['cancel'] }],
    ],
    last: ['cluster_probed a', 'escalation_raised q2'],
  },
];

describe('what is committed', () => {
  it.each(TABLES)('$rule', ({ rows, last }) => {
    expect(tell(rows).said.at(-1)).toEqual(last);
  });
});

describe('block_submissions', () => {
  const block: Row = [7 * HOUR, { do: 'answer', question: 'q1', answer: 'block_submissions' }];
  it('stands from the answer on, and names who gave it', () => {
    expect(submissionWords(tell([...asked, block]).view)).toMatch(/blocked since 2030-01-01T07:00:00.000Z, as ada answered q1/);
  });
  it.each<[string, Row, boolean]>([
    ['the cluster’s return ends it', [8 * HOUR, { do: 'reachable' }], false],
    ['a preflight ends it', [8 * HOUR, { do: 'probed', by: 'hand' }], false],
    ['one more failed look does not', [8 * HOUR, { do: 'unreachable' }], true],
    ['another login’s first outage does not', [8 * HOUR, { do: 'unreachable', login: 'b' }], true],
    ['time does not', [800 * HOUR, { do: 'tend' }], true],
    ['a probe by another login does not', [8 * HOUR, { do: 'probed', login: 'b', by: 'first' }], true],
  ])('contract §8: %s', (_, row, stands) => {
    expect(submissionWords(tell([...asked, block, row]).view) !== undefined).toBe(stands);
  });
  const lost: readonly Row[] = [
    [0, { do: 'probed' }],
    [100, { do: 'probed', without: { gate: 'no' }, relied: ['gate'] }],
    [200, { do: 'answer', question: 'q1', answer: 'block_submissions' }],
  ];
  it.each<[string, Row, boolean]>([
    ['a person’s preflight ends it', [300, { do: 'probed', by: 'hand', without: { gate: 'no' } }], false],
    ['the daily probe that misses it still does not', [300, { do: 'probed', without: { gate: 'no' } }], true],
    ['a daily probe that finds it does', [300, { do: 'probed' }], false],
  ])('of a lost capability: %s', (_, row, stands) => {
    expect(submissionWords(tell([...lost, row]).view) !== undefined).toBe(stands);
  });
});

describe('answers', () => {
  const { view } = tell(asked);
  const at = T0 + 7 * HOUR * 1000;
  it.each([
    ['an option', { question: 'q1', answer: 'wait', by: 'ada' }, 'events'],
    ['no option of it', { question: 'q1', answer: 'stop', by: 'ada' }, 'escalation/not_an_option'],
    ['not even text', { question: 'q1', answer: { a: 1 }, by: 'ada' }, 'escalation/not_an_option'],
    ['no question', { question: 'q9', answer: 'wait', by: 'ada' }, 'escalation/unknown'],
  ])('%s', (_, given, expected) => {
    const said = answerCluster(view, given, at);
    expect(said.kind === 'refused' ? said.code : said.kind).toBe(expected);
  });
  it('S11: the first one wins; a later one is told whose', () => {
    const after = tell([...asked, [7 * HOUR, { do: 'answer', question: 'q1', answer: 'wait' }]]).view;
    expect(answerCluster(after, { question: 'q1', answer: 'block_submissions', by: 'bob' }, at)).toMatchObject({
      code: 'escalation/closed',
      says: 'question q1 was answered by ada',
    });
  });
  it('past its expiry it is closed, whether somebody came by to say so or not', () => {
    expect(answerCluster(view, { question: 'q1', answer: 'wait', by: 'ada' }, T0 + 78 * HOUR * 1000)).toMatchObject({
      code: 'escalation/closed',
    });
  });
});

describe('the view', () => {
  it('an unchanged probe is a small event that keeps the capabilities and renews the moment and the clock', () => {
    const { view, said } = tell([
      [0, { do: 'probed' }],
      [HOUR, { do: 'probed' }],
    ]);
    expect(said[1]).toEqual(['cluster_probed a']);
    expect(loginOf(view, 'a').probe).toMatchObject({ probedAt: T0 + HOUR * 1000, facts: { clockOffsetMs: HOUR, user: 'ada' } });
    expect(loginOf(view, 'a').probe?.capabilities.gate.evidence).toBe('asked at 0');
  });
  it('C048: a changed host key keeps every login away, and shows both fingerprints; a refused key its own login only', () => {
    const host = tell([[0, { do: 'blocked', refusal: HOST_KEY }]]).view;
    expect(blockedFor(host, 'b')).toMatchObject({ presented: 'SHA256:B', pinned: ['SHA256:A'] });
    const key = tell([[0, { do: 'blocked', refusal: REFUSED }]]).view;
    expect([blockedFor(key, 'a') !== undefined, blockedFor(key, 'b') !== undefined]).toEqual([true, false]);
  });
  it('a host that shows a pinned key again is welcome for every login', () => {
    const { view } = tell([
      [0, { do: 'blocked', refusal: HOST_KEY }],
      [9, { do: 'blocked', login: 'b', refusal: HOST_KEY }],
      [60, { do: 'probed', by: 'configuration', configuration: 'c2' }],
    ]);
    expect([blockedFor(view, 'a'), blockedFor(view, 'b'), clusterState(view)]).toEqual([undefined, undefined, 'reachable']);
  });
  it('states: unknown, reachable, unreachable, blocked', () => {
    expect(clusterState(emptyCluster('lab'))).toBe('unknown');
    expect(clusterState(tell([[0, { do: 'probed' }]]).view)).toBe('reachable');
    expect(clusterState(tell([down]).view)).toBe('unreachable');
    expect(clusterState(tell([down, [9, { do: 'blocked', refusal: REFUSED }]]).view)).toBe('blocked');
  });
  it('a block counts from the beginning of the outage before it', () => {
    expect(blockedFor(tell([down, [9, { do: 'blocked', refusal: REFUSED }]]).view, 'a')?.since).toBe(T0);
  });
  it('missing: newly `no`, never `unknown`', () => {
    const { view } = tell([[0, { do: 'probed' }]]);
    expect(missingOf(view, 'a', probeAt(9, { gate: 'no', cancel: 'unknown', release: 'partly' }), T0)).toEqual(['gate']);
    expect(missingOf(view, 'b', probeAt(9, { gate: 'no' }), T0)).toEqual([]);
  });
  it('a log with a gap, another cluster’s commit, a question closed twice: no view', () => {
    const first = commitOf({ version: 0 }, 0, [{ type: 'cluster_unreachable', login: 'a', says: 'x' }]);
    const view = foldCluster([first], emptyCluster('lab'));
    expect(() => foldCluster([{ ...first, version: 3 }], view)).toThrow(AssertionFailed);
    expect(() => foldCluster([{ ...first, version: 2, cluster: 'other' }], view)).toThrow(AssertionFailed);
    expect(() => foldCluster([commitOf(view, 1, [{ type: 'escalation_expired', id: 'q1', answer: 'wait' }])], view)).toThrow(
      AssertionFailed,
    );
  });
  it('contract §8: a newer release’s commit stops the reader', () => {
    const view = emptyCluster('lab');
    const newer = { ...commitOf(view, 0, []), schema: 2 };
    expect(() => foldCluster([newer], view)).toThrow(expect.objectContaining({ code: 'record/newer_schema' }));
    const unknown = commitOf(view, 0, [{ type: 'cluster_painted', login: 'a' } as never]);
    expect(() => foldCluster([unknown], view)).toThrow(expect.objectContaining({ code: 'record/newer_schema' }));
  });
  it('open questions are those that nobody closed', () => {
    expect(openClusterQuestions(tell(asked).view).map((q) => [q.id, q.kind, q.options, q.onExpiry])).toEqual([
      ['q1', 'cluster_unreachable', ['wait', 'block_submissions'], 'wait'],
    ]);
  });
});

describe('words', () => {
  it('join a job’s sentence and leave it one', () => {
    expect(joinWords('Attempt 1 is running.', [troubleWords(tell([down]).view, 'a'), undefined])).toBe(
      'Attempt 1 is running; cluster lab has not answered since 2030-01-01T00:00:00.000Z: connection refused.',
    );
    expect(joinWords('Attempt 1 is running.', [undefined])).toBe('Attempt 1 is running.');
  });
  it('a login that is not concerned hears nothing', () => {
    expect(troubleWords(tell([down]).view, 'b')).toBeUndefined();
  });
});

describe('a job that reads its cluster', () => {
  const status = (state: string) => ({ state, why: 'So it is.' });
  const { view } = tell([...asked, [7 * HOUR, { do: 'answer', question: 'q1', answer: 'block_submissions' }]]);
  it.each([
    ['running', 'unreachable'],
    ['pending', 'unreachable'],
    ['succeeded', undefined],
    ['failed', undefined],
    ['cancelled', undefined],
  ])('contract §8: %s is told %s', (state, expected) => {
    const joined = joinCluster(status(state), view, 'a');
    expect(joined.clusterState).toBe(expected);
    expect(joined.why === 'So it is.').toBe(expected === undefined);
    expect(joined.why).toMatch(/^So it is[^.]*(\.\d{3}Z[^.]*)*\.$/);
  });
  it('that submissions are blocked concerns only what waits to be submitted', () => {
    expect(joinCluster(status('running'), view, 'b')).toEqual(status('running'));
    expect(joinCluster(status('pending'), view, 'b')).toMatchObject({ clusterState: 'submissions_blocked' });
  });
});

describe('reliance', () => {
  it('an ended job relies on nothing, an observed one on being looked at', () => {
    expect(reliedOn({ ended: {} } as never)).toEqual([]);
    expect(reliedOn({ attempts: [] } as never)).toEqual(['bulk_observation', 'find_by_identity']);
  });
  it('a job of ours also on what its rules need', () => {
    const rules = [
      { on: ['out_of_memory'], do: { relaunch: { max: 1 } } },
      { on: ['preempted'], do: { requeue: { max: 2, by: 'scheduler' } } },
    ];
    const view = { attempts: [], spec: { policy: { rules, limits: { attempts: 3 } }, checkpoint: {}, program: {} } };
    const relied = reliedOn(view as never);
    expect(relied).toEqual(
      expect.arrayContaining([
        'gate',
        'release',
        'cancel',
        'detects_out_of_memory',
        'detects_preemption',
        'requeue_in_place',
        'counts_restarts',
        'checkpoint_files',
      ]),
    );
    expect(relied).not.toContain('containers');
    expect(relied).not.toContain('detects_node_loss');
  });
});
