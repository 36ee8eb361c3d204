/** What a look teaches: given this record, when polls say so and so, then this is committed and that is kept in mind (protocols §5). */
import { describe, expect, test } from 'vitest';
import { type Digest, digestAbsence, digestObservation, digestSilence, type PollLook } from '../../lib/app/digest.ts';
import { seenOfAttempt } from '../../lib/app/summary.ts';
import type { Watch } from '../../lib/app/watch.ts';
import type { Observation, Target } from '../../lib/cluster/port.ts';
import type { Cause } from '../../lib/job/cause.ts';
import type { Event, LiveState, PendingGroup } from '../../lib/job/event.ts';
import { LOG_RULES_STOP } from '../../lib/job/limit.ts';
import { type EndedAs, type Given, given, HOUR, MINUTE, outcomeNow, relaunch, requeue } from '../job/given.ts';

type Live = Omit<Extract<Observation, { kind: 'live' }>, 'kind' | 'target' | 'state' | 'run' | 'pending'> & {
  run?: number;
  pending?: PendingGroup;
};
interface Ended extends EndedAs {
  readonly run?: number;
  readonly missing?: readonly string[];
}

/** Polls one job of one cluster: each look under the next fence, a minute after the one before. What it teaches is committed. */
class Poller {
  readonly job: Given;
  watch: Watch = {};
  fence = 100;
  told: readonly Event[] = [];
  constructor(job: Given) {
    this.job = job;
  }

  target(): Target {
    const { n, receipt, run, requeueable, resources } = this.job.attempt;
    return {
      job: this.job.view.job,
      n,
      receipt: receipt!,
      released: true,
      requeueable,
      run,
      seen: seenOfAttempt(this.job.attempt),
      timeLimitSeconds: resources.timeLimitSeconds,
    };
  }
  look(its: Partial<PollLook> = {}): PollLook {
    return { fence: this.fence, clusterStartedAt: this.job.now, now: this.job.now, complete: true, ...its };
  }
  /** A minute and a fence later. */
  polls(digest: () => Digest): this {
    this.job.after(MINUTE);
    this.fence++;
    const { events, watch } = digest();
    this.told = events;
    this.watch = watch;
    if (events.length > 0) this.job.commit(...events);
    return this;
  }

  sees(state: LiveState, { pending, ...its }: Live = {}): this {
    const said = {
      target: this.target(),
      state,
      run: this.job.attempt.run,
      ...(pending ? { pending: { group: pending, reason: pending } } : {}),
      ...its,
    };
    return this.polls(() => digestObservation(this.job.view, { kind: 'live', ...said }, this.watch, this.look()));
  }
  seesEnd(cause: Cause, its: Ended = {}): this {
    const { run = this.job.attempt.run, missing = [], processes = 'gone', runs = [], ...parts } = its;
    const outcome = outcomeNow(cause, { ...parts });
    return this.polls(() =>
      digestObservation(
        this.job.view,
        { kind: 'ended', target: this.target(), run, outcome, processes, runs, missing },
        this.watch,
        this.look(),
      ),
    );
  }
  misses(its: Partial<PollLook> = {}): this {
    return this.polls(() => digestAbsence(this.job.view, this.target(), this.watch, this.look(its), 60));
  }
  /** A look in which the adapter had nothing to say of the job. */
  quiet(): this {
    return this.polls(() => ({ events: [], watch: this.watch }));
  }
  measures(bytes: number): this {
    return this.polls(() => digestSilence(this.job.view, bytes, this.watch, this.look()));
  }

  get tells(): string {
    return (
      this.told.map((event) => (event.type === 'attempt_ended' ? `${event.type} ${event.outcome.cause}` : event.type)).join(', ') ||
      'nothing'
    );
  }
}
const polling = (job: Given): Poller => new Poller(job);
const queued = () => polling(given().planned().bound().released()).sees('queued', { pending: 'waiting' });
const running = (rules = [relaunch('any')]) => polling(given({ policy: { rules, unmatched: 'escalate' } }).running());

describe('P5.2 only what changed is committed', () => {
  test.each([
    ['given it runs, when it still runs', () => running().sees('running'), 'nothing'],
    ['given it runs, when it is suspended', () => running().sees('suspended'), 'attempt_observed'],
    [
      'given a finding, when a look finds the same',
      () =>
        running()
          .sees('suspended', { finding: { kind: 'edited', since: 1, said: 'x' } })
          .sees('suspended', { finding: { kind: 'edited', since: 2, said: 'x' } }),
      'nothing',
    ],
    [
      'given a finding, when a look finds more of it',
      () =>
        running()
          .sees('suspended', { finding: { kind: 'edited', since: 1, said: 'x' } })
          .sees('suspended', { finding: { kind: 'edited', since: 1, said: 'y' } }),
      'attempt_observed',
    ],
    ['C013 given it runs, when it is COMPLETING', () => running().sees('ending'), 'attempt_observed'],
    [
      'C013 given it was COMPLETING, when it waits again as run 1',
      () => running().sees('ending').sees('queued', { run: 1 }),
      'attempt_observed',
    ],
  ])('%s, then %s', (_, build, then) => {
    expect(build().tells).toBe(then);
  });
  test('C013 given RUNNING, COMPLETING, PENDING with one restart, RUNNING, then one job, one restart of the scheduler', () => {
    const { job } = running([requeue('any', 'scheduler')])
      .sees('ending')
      .sees('queued', { run: 1, lastRunCause: 'preempted' })
      .sees('running', { run: 1 });
    expect(job.attempt).toMatchObject({ n: 1, state: 'running', run: 1, lastRunCause: 'preempted', schedulerRequeues: ['preempted'] });
  });
  test('given a hold goes on while something else changes, then it is one hold', () => {
    const finding = { kind: 'held' as const, since: 1, said: 'JobHeldUser' };
    const poll = running().sees('suspended', { finding }).sees('queued', { finding });
    expect(poll.job.attempt.findings).toHaveLength(1);
    expect(poll.job.attempt.findings[0]?.notedAt).toBeLessThan(poll.job.now - MINUTE * 1000);
  });
});

describe('C015, C016, P5.6: a pending reason must persist two polls', () => {
  test.each([
    [
      'given its turn has not come, when that is seen once',
      () => polling(given().planned().bound().released()).sees('queued', { pending: 'waiting' }),
      'waiting',
    ],
    ['given another reason, when it is seen once', () => queued().sees('queued', { pending: 'never' }), 'waiting'],
    [
      'given another reason, when it is seen by two polls',
      () => queued().sees('queued', { pending: 'never' }).sees('queued', { pending: 'never' }),
      'never',
    ],
    [
      'given another reason, when yet another follows',
      () => queued().sees('queued', { pending: 'never' }).sees('queued', { pending: 'held' }),
      'waiting',
    ],
    [
      'given another reason, when the old one comes in between',
      () => queued().sees('queued', { pending: 'never' }).sees('queued', { pending: 'waiting' }).sees('queued', { pending: 'never' }),
      'waiting',
    ],
    [
      'given another reason, when a quiet look comes in between',
      () => queued().sees('queued', { pending: 'never' }).quiet().sees('queued', { pending: 'never' }),
      'waiting',
    ],
    [
      'given it persisted, when its turn has not come again',
      () => queued().sees('queued', { pending: 'held' }).sees('queued', { pending: 'held' }).sees('queued', { pending: 'waiting' }),
      'waiting',
    ],
    [
      'given its first look sees it queued and held, then queued alone is a fact',
      () => polling(given().planned().bound().released()).sees('queued', { pending: 'held' }),
      undefined,
    ],
    [
      'given a note of an earlier run, when the next run shows the reason',
      () => queued().sees('queued', { pending: 'never' }).sees('queued', { run: 1, pending: 'never' }),
      'waiting',
    ],
  ])('%s, then %s', (_, build, group) => {
    const { job } = build();
    expect(job.attempt.state).toBe('queued');
    expect(job.attempt.pending?.group).toBe(group);
  });
  test('given the same look decides again after a conflict, then it is not the second poll', () => {
    const poll = queued().sees('queued', { pending: 'never' });
    const observation: Observation = {
      kind: 'live',
      target: poll.target(),
      state: 'queued',
      run: 0,
      pending: { group: 'never', reason: 'x' },
    };
    expect(digestObservation(poll.job.view, observation, poll.watch, poll.look()).events).toEqual([]);
  });
  test.each([
    [LOG_RULES_STOP - 1, 1],
    [LOG_RULES_STOP, 0],
  ])('contract §8 given a record of %i commits, then %i commit says that the reason changed', (version, commits) => {
    const poll = queued().sees('queued', { pending: 'never' });
    const observation: Observation = {
      kind: 'live',
      target: poll.target(),
      state: 'queued',
      run: 0,
      pending: { group: 'never', reason: 'x' },
    };
    const { events } = digestObservation(poll.job.atVersion(version), observation, poll.watch, poll.look({ fence: poll.fence + 1 }));
    expect(events).toHaveLength(commits);
  });
});

describe('P5.2 an older look teaches nothing', () => {
  const seen = () => running().sees('suspended');
  test.each([
    [
      'a look that began earlier by the cluster’s clock',
      (poll: Poller) => ({ clusterStartedAt: poll.job.attempt.look!.clusterStartedAt - 1 }),
    ],
    ['a look of an older fence', (poll: Poller) => ({ fence: poll.job.attempt.look!.fence - 1 })],
  ])('given %s, then whatever it says is dropped', (_, its) => {
    const poll = seen();
    const { view } = poll.job;
    const look = poll.look(its(poll));
    const target = poll.target();
    const digests = [
      digestObservation(view, { kind: 'live', target, state: 'running', run: 0 }, {}, look),
      digestObservation(
        view,
        { kind: 'ended', target, run: 0, outcome: outcomeNow('exited'), processes: 'gone', runs: [], missing: [] },
        {},
        look,
      ),
      digestAbsence(view, target, {}, look, 60),
    ];
    for (const digest of digests) expect(digest).toEqual({ events: [], watch: {} });
  });
  test.each([
    ['C003 of an object that reused the id of another attempt', { n: 2 }],
    [
      'of an object that is not the bound one',
      { receipt: { cluster: 'alps', login: 'main', schedulerId: '1', identity: 'x', submittedAt: 0 } },
    ],
  ])('given a look %s, then it is dropped', (_, its) => {
    const poll = seen();
    const observation: Observation = { kind: 'live', target: { ...poll.target(), ...its }, state: 'running', run: 0 };
    expect(digestObservation(poll.job.view, observation, {}, poll.look()).events).toEqual([]);
  });
  test.each([
    ['an end', (poll: Poller) => poll.seesEnd('node_lost', { run: 0 })],
    ['alive', (poll: Poller) => poll.sees('ending', { run: 0 })],
  ])('C024, C026 given run 1 is recorded, when a source that lags behind says of run 0 %s, then nothing', (_, lags) => {
    expect(lags(running().sees('queued', { run: 1 })).tells).toBe('nothing');
  });
});

describe('C020, C025, P5.6: absence', () => {
  const times = (count: number, poll: Poller, its: Partial<PollLook> = {}): Poller => {
    for (let i = 0; i < count; i++) poll.misses(its);
    return poll;
  };
  test.each([
    ['C020 given it is absent once', () => times(1, running()), 'nothing'],
    ['given it is absent for less than 5 min', () => times(5, running()), 'nothing'],
    ['given it is absent for 5 min of complete looks', () => times(6, running()), 'attempt_ended vanished'],
    ['C025 given it is absent for 4 min, seen once, and absent for 4 min again', () => times(5, times(5, running()).quiet()), 'nothing'],
    [
      'C025 given it is absent for 4 min, seen changed, and absent for 4 min again',
      () => times(5, times(5, running()).sees('suspended')),
      'nothing',
    ],
    [
      'C025 given it is absent for 4 min, seen once, and absent for 6 min',
      () => times(6, times(5, running()).quiet()),
      'attempt_ended vanished',
    ],
    ['P3.6 given looks that were not complete', () => times(30, running(), { complete: false }), 'nothing'],
    ['given one look in between that was not complete', () => times(5, times(1, times(5, running()), { complete: false })), 'nothing'],
    [
      'given two looks an hour apart',
      () => {
        const poll = running().misses();
        poll.job.after(HOUR);
        return poll.misses();
      },
      'nothing',
    ],
    [
      'given three looks over an hour',
      () => {
        const poll = running().misses().misses();
        poll.job.after(HOUR);
        return poll.misses();
      },
      'attempt_ended vanished',
    ],
    ['given it ended already', () => times(30, running().seesEnd('exited')), 'nothing'],
  ] as const)('%s, then %s', (_, build, then) => {
    expect(build().tells).toBe(then);
  });
  test('given polls 10 min apart, then the grace is three of them', () => {
    const poll = running();
    const misses = () => poll.polls(() => digestAbsence(poll.job.view, poll.target(), poll.watch, poll.look(), 600));
    for (let i = 0; i < 30; i++) misses();
    expect(poll.tells).toBe('nothing');
    expect(misses().tells).toBe('attempt_ended vanished');
  });
  test.each([
    ['it was seen running', () => running(), 'yes'],
    ['it was never seen running', () => queued(), 'unknown'],
  ])('given %s, then a vanished one says so, is likely, and its processes are unknown', (_, build, ran) => {
    const { attempt } = times(6, build()).job;
    expect(attempt).toMatchObject({
      processes: 'unknown',
      outcome: { cause: 'vanished', state: 'unknown', class: 'evidence', confidence: 'likely', ran },
    });
  });
  test('contract §3 given it vanished after our cancel, then the cause is why we cancelled', () => {
    const poll = running();
    poll.job.cancelRequested().cancelIntended('request').cancelSent();
    expect(times(6, poll).tells).toBe('attempt_ended cancelled_by_dispatch');
  });
});

describe('P5.3 an ending waits for its evidence', () => {
  const missing = ['accounting'];
  test.each([
    ['given everything is there', () => running().seesEnd('node_lost'), 'attempt_ended node_lost'],
    ['given a part is missing', () => running().seesEnd('node_lost', { missing }), 'nothing'],
    [
      'given it is still missing after less than 5 min',
      () => [1, 2, 3, 4].reduce((poll) => poll.seesEnd('node_lost', { missing }), running().seesEnd('node_lost', { missing })),
      'nothing',
    ],
    [
      'given it is still missing after 5 min',
      () => [1, 2, 3, 4, 5].reduce((poll) => poll.seesEnd('node_lost', { missing }), running().seesEnd('node_lost', { missing })),
      'attempt_ended node_lost',
    ],
    ['given it comes meanwhile', () => running().seesEnd('contradictory', { missing }).seesEnd('preempted'), 'attempt_ended preempted'],
    ['given it is alive after all', () => running().seesEnd('node_lost', { missing }).sees('queued', { run: 1 }), 'attempt_observed'],
    [
      'given another run ends, when the wait of the first is over',
      () =>
        [1, 2, 3, 4]
          .reduce((poll) => poll.seesEnd('node_lost', { missing }), running().seesEnd('node_lost', { missing }))
          .seesEnd('node_lost', { run: 1, missing }),
      'nothing',
    ],
  ] as const)('%s, then %s', (_, build, then) => {
    expect(build().tells).toBe(then);
  });
  test.each([
    ['certain', 'likely'],
    ['likely', 'likely'],
    ['guess', 'guess'],
  ] as const)('given a %s end, when the wait was in vain, then it is %s and says what it waited for', (confidence, then) => {
    const evidence = Array.from({ length: 16 }, (_, i) => ({ source: `source ${i}` }));
    const poll = [1, 2, 3, 4, 5].reduce(
      (p) => p.seesEnd('exited', { confidence, evidence, missing }),
      running().seesEnd('exited', { confidence, evidence, missing }),
    );
    expect(poll.job.attempt.outcome?.confidence).toBe(then);
    expect(poll.job.attempt.outcome?.evidence).toHaveLength(16);
    expect(poll.job.attempt.outcome?.evidence.at(-1)).toEqual({ source: 'dispatch', message: 'waited 300 s in vain for: accounting' });
  });
  test('contract §3 given our cancel, then the end is attributed once, before it is committed', () => {
    const poll = running();
    poll.job.cancelIntended('stall', 'x');
    expect(poll.seesEnd('cancelled_by_user').tells).toBe('attempt_ended stalled');
  });
});

describe('contract §3: a provisional outcome', () => {
  const vanished = () => running([]).seesEnd('vanished');
  test.each([
    ['given something unknown, when a look sees it alive', () => vanished().sees('running'), 'attempt_observed', 'running'],
    ['given something unknown, when a look knows how it ended', () => vanished().seesEnd('node_lost'), 'attempt_ended node_lost', 'ended'],
    ['given something unknown, when a look says the same', () => vanished().seesEnd('vanished'), 'nothing', 'ended'],
    ['given something known, when a look says otherwise', () => running([]).seesEnd('exited').seesEnd('node_lost'), 'nothing', 'ended'],
    ['given something known, when a stranger revives it', () => running([]).seesEnd('exited').sees('running'), 'attempt_observed', 'ended'],
    [
      'given a stranger revived it, when a later look sees it again',
      () => running([]).seesEnd('exited').sees('running').sees('suspended'),
      'nothing',
      'ended',
    ],
  ] as const)('%s, then %s', (_, build, then, state) => {
    const poll = build();
    expect(poll.tells).toBe(then);
    expect(poll.job.attempt.state).toBe(state);
  });
  test.each([
    ['is seen alive', (poll: Poller) => poll.sees('running'), 'attempt_observed'],
    ['ended otherwise', (poll: Poller) => poll.seesEnd('exited'), 'nothing'],
  ] as const)('given something was decided on it, when it %s, then it is not reopened', (_, looks, then) => {
    const poll = running().seesEnd('vanished');
    poll.job.acts();
    expect(looks(poll).tells).toBe(then);
    expect(poll.job.attempt).toMatchObject({ state: 'ended', outcome: { cause: 'vanished' } });
  });
  test('P9 given people were asked, when it is reopened, then the question is withdrawn in the same commit', () => {
    const poll = running([]).seesEnd('vanished');
    poll.job.acts();
    poll.sees('running');
    expect(poll.job.lastEvents).toEqual(['attempt_observed', 'escalation_withdrawn']);
  });
  test.each([
    ['ended otherwise', 'exited'],
    ['ended in the same way', 'vanished'],
  ] as const)('P4.6 given a later run of it that nobody saw alive, when that %s, then its beginning is committed, too', (_, cause) => {
    const poll = running([]).seesEnd('vanished').seesEnd(cause, { run: 1 });
    expect(poll.tells).toBe(`attempt_observed, attempt_ended ${cause}`);
    expect(poll.job.attempt).toMatchObject({ run: 1, state: 'ended', outcome: { cause } });
  });
  test('given a stranger revived it, then only a finding is committed', () => {
    expect(running([]).seesEnd('exited').sees('running').job.attempt.findings).toMatchObject([{ kind: 'active_after_end' }]);
  });
});

describe('contract §5: run + 1 alone reopens an attempt that is to be requeued', () => {
  const decided = (by: 'scheduler' | 'supervisor') => {
    const poll = running([requeue('any', by)]).seesEnd('preempted');
    poll.job.acts();
    return poll;
  };
  test.each(['scheduler', 'supervisor'] as const)('given a requeue by the %s', (by) => {
    expect(decided(by).sees('queued', { run: 1 }).tells).toBe('attempt_requeued');
    expect(decided(by).sees('ending', { run: 0 }).tells).toBe('nothing');
    expect(decided(by).seesEnd('preempted').tells).toBe('nothing');
  });
  test('given run 1 began and ended between two looks, then both are committed, and it counts', () => {
    const poll = decided('scheduler').seesEnd('node_lost', { run: 1 });
    expect(poll.tells).toBe('attempt_requeued, attempt_ended node_lost');
    expect(poll.job.attempt).toMatchObject({ run: 1, state: 'ended', schedulerRequeues: ['preempted'], outcome: { cause: 'node_lost' } });
  });
  test('given runs that began and ended while the record saw the attempt alive, then they count', () => {
    const poll = running([requeue('any', 'scheduler', 1)]).seesEnd('preempted', { run: 2 });
    expect(poll.tells).toBe('attempt_observed, attempt_ended preempted');
    expect(poll.job.attempt).toMatchObject({ run: 2, schedulerRequeues: ['untold', 'untold'] });
    expect(poll.job.says()).toBe('ask limit_reached');
  });
  test('given the first run was cancelled as stalled, then the next run’s end is its own', () => {
    const poll = running([requeue('stalled', 'supervisor')]);
    poll.job.cancelIntended('stall');
    poll.seesEnd('cancelled_by_user');
    poll.job.acts().requeueIntended();
    expect(poll.seesEnd('cancelled_by_user', { run: 1 }).tells).toBe('attempt_requeued, attempt_ended cancelled_by_user');
  });
});

describe('contract §5 stalledAfter: silence becomes a finding', () => {
  const limited = () => polling(given({ policy: { limits: { stalledAfterSeconds: 10 * MINUTE } } }).running());
  const silent = (poll: Poller, polls: number, bytes = 500): Poller => {
    for (let i = 0; i < polls; i++) poll.measures(bytes);
    return poll;
  };
  test.each([
    ['given it is silent for less than the limit', () => silent(limited(), 10), 'nothing'],
    ['given it is silent for the limit', () => silent(limited(), 11), 'attempt_observed'],
    ['given the finding is committed', () => silent(limited(), 20), 'nothing'],
    ['given its output grew in between', () => silent(silent(limited(), 9), 9, 501), 'nothing'],
    ['given no such limit', () => silent(running(), 30), 'nothing'],
  ] as const)('%s, then %s', (_, build, then) => {
    expect(build().tells).toBe(then);
  });
  test('given a checkpoint was published in between, then that is no silence', () => {
    const poll = silent(limited(), 9);
    poll.job.published(3);
    expect(silent(poll, 9).tells).toBe('nothing');
  });
  test('given it was suspended in between, then only the time it ran counts', () => {
    const poll = silent(limited(), 5).sees('suspended');
    poll.job.after(HOUR);
    expect(silent(poll.sees('running'), 9).tells).toBe('nothing');
    expect(silent(poll, 1).tells).toBe('attempt_observed');
  });
  test('given another run, then its silence begins anew', () => {
    const poll = silent(limited(), 10).sees('running', { run: 1 });
    expect(silent(poll, 10).tells).toBe('nothing');
  });
  test('given the finding, then the supervisor cancels it as stalled, since when it says', () => {
    const { job } = silent(limited(), 11);
    expect(job.next()).toMatchObject({ do: 'cancel', why: 'stall', said: new Date(job.now - 1000 - 10 * MINUTE * 1000).toISOString() });
  });
});
