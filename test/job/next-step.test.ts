/** What the supervisor does next, as an operator would tell it: given this record, when so much time passed, then this step. */
import { describe, expect, test } from 'vitest';
import { TIMING } from '../../lib/job/timing.ts';
import { adopted, asks, DAY, type Given, given, HOUR, MINUTE, NOON, relaunch, requeue, stop } from './given.ts';

const ASKS = { policy: { unmatched: 'escalate' } } as const;
const rows = (table: readonly (readonly [string, () => Given, number, string])[]): void => {
  test.each(table.map(([name, ...row]) => [name, row] as const))('%s', (_, [build, seconds, then]) => {
    const job = build();
    expect(job.says(seconds)).toBe(then);
    // Deterministic: the same view and time, the same step.
    expect(job.next(seconds)).toEqual(job.next(seconds));
  });
};

describe('contract §9: every step', () => {
  rows([
    ['given a submitted job, then its first attempt is submitted', () => given(), 0, 'submit 1'],
    ['P3.1 given a plan without an answer, then it is settled, by whoever finds it', () => given().planned(), 0, 'settle 1'],
    ['P3.5 given an ambiguous answer, then it is settled', () => given().planned().uncertain(), 0, 'settle 1'],
    ['P4.3 given a bound attempt, then it is released', () => given().planned().bound(), 0, 'release 1'],
    [
      'P4.3 given an intention to release that got no further, then it is released',
      () => given().planned().bound().commit({ type: 'release_intended', n: 1 }),
      0,
      'release 1',
    ],
    ['given it runs, then nothing is due', () => given().running(), 0, 'await'],
    ['given it completed, then the job ends', () => given().tried('completed'), 0, 'finish by completed'],
    ['given the job ended, then done', () => given().tried('completed').acts(), 0, 'done'],
    [
      'given a preemption and its rule, then it is decided',
      () => given({ policy: { rules: [relaunch('preempted')] } }).tried('preempted'),
      0,
      'relaunch from checkpoint',
    ],
    [
      'P6.1 given a decided relaunch, when its backoff is not over, then it waits',
      () =>
        given({ policy: { rules: [relaunch('any', { backoff: { initialSeconds: 600, factor: 1, maxSeconds: 600 } })] } })
          .tried('preempted')
          .acts(),
      0,
      'await 75 s',
    ],
    [
      'P6.1 given a decided relaunch, when its backoff is over, then the next attempt is submitted',
      () =>
        given({ policy: { rules: [relaunch('any')] } })
          .tried('preempted')
          .acts(),
      30,
      'submit 2',
    ],
    [
      'given a requeue by the supervisor, then it is requeued at once',
      () =>
        given({ policy: { rules: [requeue('any', 'supervisor')] } })
          .tried('preempted')
          .acts(),
      0,
      'requeue 1',
    ],
    [
      'contract §5 given a requeue by the scheduler, when it has not shown yet, then it is only waited for',
      () =>
        given({ policy: { rules: [requeue('any', 'scheduler')] } })
          .tried('preempted')
          .acts(),
      0,
      'await 180 s',
    ],
    [
      'contract §5 given a requeue by the scheduler, when it does not show, then a look decides',
      () =>
        given({ policy: { rules: [requeue('any', 'scheduler')] } })
          .tried('preempted')
          .acts(),
      180,
      'requeue 1',
    ],
    [
      'given an unmatched end and unmatched: escalate, then people are asked',
      () => given(ASKS).tried('exited'),
      0,
      'ask unmatched_outcome',
    ],
    [
      'given an open blocking question, then its answer is awaited until it expires',
      () => given(ASKS).tried('exited').acts(),
      0,
      'await the answer to q1',
    ],
    ['given nobody answered for 72 h, then the question expires', () => given(ASKS).tried('exited').acts(), 72 * HOUR, 'expire q1'],
    ['P4.3 given a second object, then it is discarded', () => given().running().duplicate('9'), 0, 'discard 1'],
    ['contract §7 given an adopted job that is alive, then it is only watched', () => adopted(), 30 * DAY, 'await'],
    [
      'contract §7 given an adopted job that vanished, then the job ends, unasked',
      () => adopted().ended('vanished'),
      0,
      'finish by observed',
    ],
  ]);
});

describe('P3.4 a deferred attempt', () => {
  const deferred = () => given({ patienceSeconds: HOUR }).planned().deferred(30);
  rows([
    ['given not now, when its moment has not come, then it waits', deferred, 0, 'await 29 s'],
    ['given not now, when its moment came, then the same attempt is sent again', deferred, 29, 'submit 1'],
    ['given not now for its whole patience from the first try, then it is given up', deferred, HOUR, 'cancel for patience'],
    [
      'given several tries, then patience still counts from the first',
      () =>
        deferred()
          .after(HOUR / 2)
          .planned()
          .deferred(30),
      HOUR / 2,
      'cancel for patience',
    ],
    [
      'given not now, when a cancel was requested, then it ends without settling',
      () => deferred().cancelRequested(),
      0,
      'cancel for request',
    ],
    [
      'given not now, when the deadline passed, then it ends without settling',
      () =>
        given({ deadline: NOON + 60_000 })
          .planned()
          .deferred(),
      60,
      'cancel for deadline',
    ],
    ['given it was planned again, then it is settled like any other', () => deferred().after(30).planned(), 0, 'settle 1'],
  ]);
});

describe('P7 cancel comes first', () => {
  const cancelled = (job: Given) => () => job.cancelRequested();
  rows([
    ['given nothing was planned, when cancelled, then the job ends', cancelled(given()), 0, 'finish by cancel'],
    ['given an answer that is still open, when cancelled, then it is settled first', cancelled(given().planned()), 0, 'settle 1'],
    ['given an uncertain one, when cancelled, then it is settled first', cancelled(given().planned().uncertain()), 0, 'settle 1'],
    ['S5 given a bound attempt, when cancelled, then it is never released', cancelled(given().planned().bound()), 0, 'cancel for request'],
    ['given it runs, when cancelled, then the object is cancelled', cancelled(given().running()), 0, 'cancel for request'],
    [
      'given it was sent, then it is not sent again for 2 min',
      () => given().running().cancelRequested().cancelIntended('request').cancelSent(),
      119,
      'await 1 s',
    ],
    [
      'given it was sent, when 2 min passed, then it is sent again',
      () => given().running().cancelRequested().cancelIntended('request').cancelSent(),
      120,
      'cancel for request',
    ],
    [
      'S5 given a decided relaunch, when cancelled, then no attempt is planned',
      cancelled(
        given({ policy: { rules: [relaunch('any')] } })
          .tried('preempted')
          .acts(),
      ),
      HOUR,
      'finish by cancel',
    ],
    [
      'S5 given a decided requeue, when cancelled, then it is not requeued',
      cancelled(
        given({ policy: { rules: [requeue('any', 'supervisor')] } })
          .tried('preempted')
          .acts(),
      ),
      HOUR,
      'finish by cancel',
    ],
    [
      'given an open question, when cancelled, then the job ends unanswered',
      cancelled(given(ASKS).tried('exited').acts()),
      0,
      'finish by cancel',
    ],
    [
      'given it completed meanwhile, when cancelled, then the job ends by the cancel',
      cancelled(given().tried('completed')),
      0,
      'finish by cancel',
    ],
    [
      'given it was cancelled and the deadline passed too, then the cancel counts',
      cancelled(given({ deadline: NOON + 5000 }).tried('exited')),
      HOUR,
      'finish by cancel',
    ],
  ]);
});

describe('contract §5: the deadline and limits.wallClock', () => {
  const until = { deadline: NOON + 2 * HOUR * 1000, policy: { unmatched: 'escalate', rules: [relaunch('preempted')] } } as const;
  const wall = { policy: { rules: [requeue('preempted', 'supervisor')], limits: { wallClockSeconds: 2 * HOUR } } } as const;
  rows([
    ['given it runs, when the deadline is ahead, then it is waited for', () => given(until).running(), 0, `await ${2 * HOUR - 7} s`],
    [
      'given it runs, when the deadline passed, then what lives is cancelled',
      () => given(until).running(),
      2 * HOUR,
      'cancel for deadline',
    ],
    [
      'given it runs, when the wall clock from job_submitted passed, then what lives is cancelled',
      () => given(wall).running(),
      2 * HOUR,
      'cancel for wall_clock',
    ],
    ['given a wall clock, when one second of it is left, then it is waited for', () => given(wall).running(), 2 * HOUR - 7, 'await 1 s'],
    [
      'given it waits at its gate, when the deadline passed, then it is never released',
      () => given(until).planned().bound(),
      2 * HOUR,
      'cancel for deadline',
    ],
    [
      'given a preemption, when the deadline passed, then no rule is asked',
      () => given(until).tried('preempted'),
      2 * HOUR,
      'finish by deadline',
    ],
    [
      'given a decided relaunch, when the deadline passed, then nothing is planned',
      () => given(until).tried('preempted').acts(),
      2 * HOUR,
      'finish by deadline',
    ],
    [
      'given a decided requeue, when the wall clock passed, then nothing is requeued',
      () => given(wall).tried('preempted').acts(),
      2 * HOUR,
      'finish by wall_clock',
    ],
    [
      'given an open question, when the deadline passed, then the job ends unanswered',
      () => given(until).tried('exited').acts(),
      2 * HOUR,
      'finish by deadline',
    ],
    ['given nothing was planned, when the deadline passed, then the job ends', () => given(until), 2 * HOUR, 'finish by deadline'],
    [
      'given it completed, when the deadline passed before anybody looked, then it completed',
      () => given(until).tried('completed'),
      2 * HOUR,
      'finish by completed',
    ],
    [
      'given it was accepted in time, when the cluster was unreachable until after the deadline, then the answer counts',
      () => given(until).tried('exited').acts().answered('accept_success'),
      2 * HOUR,
      'finish by answer accept_success',
    ],
    [
      'given it was accepted after the deadline, then the deadline counts',
      () =>
        given(until)
          .tried('exited')
          .acts()
          .after(2 * HOUR)
          .answered('accept_success'),
      0,
      'finish by deadline',
    ],
  ]);

  test('given an open question, when the deadline passed, then the next commit withdraws it and the job ends failed/deadline', () => {
    const job = given(until)
      .tried('exited')
      .acts()
      .after(2 * HOUR)
      .acts();
    expect(job.lastEvents).toEqual(['escalation_withdrawn', 'job_ended']);
    expect(job.view.ended?.outcome).toMatchObject({ state: 'failed', cause: 'deadline' });
    expect(job.attempt.outcome).toMatchObject({ state: 'failed', cause: 'exited' });
  });
});

describe('P9 an open blocking question holds back submit, release, requeue, decide and finish; settle, discard and cancel go on', () => {
  const second = () => given().planned().bound().duplicate('9', true).acts();
  rows([
    ['given a question about a second object, then no release, and the object is discarded', second, 0, 'discard 1'],
    ['given the second object is gone, then the release goes on', () => second().discarded('9'), 0, 'release 1'],
    ['given the question, when a cancel was requested, then cancel goes on', () => second().cancelRequested(), 0, 'cancel for request'],
    ['given the question, when patience ends, then cancel goes on', () => second(), 7 * DAY - 1, 'expire q1'],
    [
      'given an unmatched end, then no decision before the answer',
      () =>
        given({ policy: { unmatched: 'escalate' } })
          .tried('exited')
          .acts(),
      DAY,
      'await the answer to q1',
    ],
    [
      'given a deferred attempt and the question, then it is not sent again',
      () => given().planned().deferred().duplicate('9', true),
      0,
      'ask duplicate_attempts',
    ],
    [
      'given a deferred attempt and the open question, then its object is discarded',
      () => given().planned().deferred(0).duplicate('9', true).acts(),
      0,
      'discard 1',
    ],
    ['given stop was answered, then what lives is cancelled', () => second().answered('stop'), 0, 'cancel for request'],
    [
      'given stop was answered and it ended, then the job ends by the answer',
      () => second().answered('stop').cancelIntended('request').ended('cancelled_by_dispatch'),
      0,
      'finish by answer stop',
    ],
    ['given wait was answered, then the release still waits until the object is gone', () => second().answered('wait'), 0, 'discard 1'],
    [
      'given wait was answered and the object is still there after 72 h, then it is asked again',
      () => second().answered('wait'),
      72 * HOUR,
      'ask duplicate_attempts',
    ],
  ]);
  rows([
    ['given a second object that is gated, then it is discarded unasked', () => given().running().duplicate('9'), 0, 'discard 1'],
    [
      'given a second object that could not be discarded for 15 min, then people are asked',
      () => given().running().duplicate('9'),
      15 * MINUTE,
      'ask duplicate_attempts',
    ],
    [
      'given it outlives the attempt, then no decision before it is gone',
      () =>
        given({ policy: { rules: [relaunch('any')] } })
          .running()
          .duplicate('9')
          .ended('preempted'),
      0,
      'discard 1',
    ],
    [
      'given it outlives the attempt for 15 min, then people are asked',
      () => given().running().duplicate('9').ended('exited'),
      15 * MINUTE,
      'ask duplicate_attempts',
    ],
    [
      'given wait was answered about it and it is gone, then that answer delays no decision',
      () =>
        given({ policy: { rules: [relaunch('any')] } })
          .running()
          .duplicate('9', true)
          .ended('preempted')
          .acts()
          .answered('wait')
          .discarded('9'),
      0,
      'relaunch from checkpoint',
    ],
    [
      'given another question is open, then it is only discarded',
      () => given(ASKS).tried('exited').acts().duplicate('9', true),
      0,
      'discard 1',
    ],
    [
      'given a cancel was requested, then nobody is asked about it',
      () => given().running().duplicate('9', true).cancelRequested().cancelIntended('request').cancelSent(),
      0,
      'discard 1',
    ],
  ]);
});

describe('patience: only where an unstarted attempt does not destroy itself (contract §5, plan)', () => {
  const spec = { patienceSeconds: HOUR } as const;
  const bound = () => given(spec).planned().bound().released();
  rows([
    ['given it waits, then until its patience from the receipt is over', bound, 0, `await ${2 * MINUTE} s`],
    ['given it is queued for its patience, then it is cancelled', () => bound().seen('queued'), HOUR, 'cancel for patience'],
    [
      'given its gate destroys it, then the scheduler owns its patience',
      () => given(spec).planned({ selfDestructs: true }).bound().released().seen('queued'),
      HOUR + 9 * MINUTE,
      'await 56 s',
    ],
    [
      'given the scheduler has evidently not looked ten minutes after that, then it is cancelled',
      () => given(spec).planned({ selfDestructs: true }).bound().released().seen('queued'),
      HOUR + 10 * MINUTE,
      'cancel for patience',
    ],
    ['given it started once, then patience is over', () => bound().seen('queued').seen('running').seen('queued'), 30 * DAY, 'await'],
    [
      'given a requeued run, then it has no patience',
      () =>
        given({ ...spec, policy: { rules: [requeue('any', 'supervisor')] } })
          .tried('preempted')
          .acts()
          .requeueIntended()
          .requeued(),
      30 * DAY,
      'await',
    ],
  ]);
  test.each([
    ['an hour ahead', HOUR],
    ['an hour behind', -HOUR],
  ])('given a cluster whose clock is %s, then patience is still an hour of ours', (_, skew) => {
    const job = given(spec);
    job.skewMs = skew * 1000;
    job.planned().bound();
    const from = job.attempt.receipt!.submittedAt - job.skewMs;
    job.released().seen('queued');
    expect(job.next((from + HOUR * 1000 - job.now) / 1000 - 0.001).do).toBe('await');
    expect(job.next((from + HOUR * 1000 - job.now) / 1000).do).toBe('cancel');
  });
});

describe('P4.3 release is repeated while the object is seen gated', () => {
  const released = () => given().planned().bound().released();
  rows([
    ['given it was released, then not again for 2 min', released, 119, 'await 1 s'],
    ['given no look saw it leave its gate for 2 min, then it is released again', released, 120, 'release 1'],
    ['given a look sees it gated still, then it is released again', () => released().seen('gated'), 120, 'release 1'],
    ['given it is queued, then never again', () => released().seen('queued'), 6 * DAY, `await ${DAY - 4} s`],
    [
      'given it left its gate and is gated again, then a hold is others’: people are asked',
      () => released().seen('queued').seen('gated', { finding: 'held' }),
      0,
      'ask foreign_change',
    ],
    [
      'given it left its gate and is gated again, when 2 min passed, then it is not released again',
      () => released().seen('queued').seen('gated', { finding: 'held' }).acts(),
      120,
      'await 259079 s',
    ],
    [
      'given it left its gate and is gated again, then it is never released by us',
      () => released().seen('queued').seen('gated', { finding: 'held' }).acts(),
      6 * DAY,
      'expire q1',
    ],
    [
      'given a stranger let it go before us, then it is released: without its mark the guard refuses it',
      () => given().planned().bound().seen('queued', { finding: 'released' }).acts(),
      0,
      'release 1',
    ],
  ]);
});

describe('contract §10 stuck', () => {
  const cancelling = () => given().running().cancelRequested().cancelIntended('request').cancelSent();
  const queuedAs = (pending: 'held' | 'blocked' | 'admitted' | 'waiting') =>
    given().planned().bound().released().seen('queued', { pending });
  const ending = () => given().running().seen('ending');
  rows([
    ['given a cancel, when it has not ended for 15 min, then people are asked', cancelling, 15 * MINUTE, 'ask stuck'],
    ['given a cancel, when 14 min passed, then it is sent again', cancelling, 14 * MINUTE, 'cancel for request'],
    [
      'given a cancel that the cluster refuses, when 15 min passed, then people are asked',
      () => given().running().cancelRequested().cancelIntended('request'),
      15 * MINUTE,
      'ask stuck',
    ],
    [
      'given they were asked, then the cancel goes on',
      () =>
        cancelling()
          .after(15 * MINUTE)
          .acts(),
      0,
      'cancel for request',
    ],
    [
      'given nobody answers, then the question expires although a cancel was requested',
      () =>
        cancelling()
          .after(15 * MINUTE)
          .acts(),
      72 * HOUR,
      'expire q1',
    ],
    [
      'given wait was answered, then it is asked again after 72 h',
      () =>
        cancelling()
          .after(15 * MINUTE)
          .acts()
          .answered('wait'),
      72 * HOUR,
      'ask stuck',
    ],
    [
      'given cancel was answered, then it is not asked again at once',
      () =>
        cancelling()
          .after(15 * MINUTE)
          .acts()
          .answered('cancel'),
      1,
      'cancel for request',
    ],
    ['C014 given it is ending for an hour, then people are asked', ending, HOUR, 'ask stuck'],
    ['C014 given it is ending for less, then not yet', ending, HOUR - 1, 'await 1 s'],
    [
      'given a finding comes while it is ending, then its hour still counts from the start',
      () =>
        ending()
          .after(HOUR / 2)
          .seen('ending', { finding: 'edited' })
          .acts(),
      HOUR / 2,
      'ask stuck',
    ],
    [
      'given cancel was answered about an ending one, when the cancel gets nowhere either, then it is asked again',
      () => ending().after(HOUR).acts().answered('cancel').cancelIntended('request').cancelSent(),
      15 * MINUTE,
      'ask stuck',
    ],
    ['given it was admitted and does not start for 20 min, then people are asked', () => queuedAs('admitted'), 20 * MINUTE, 'ask stuck'],
    ['C015 given it is held in the queue for 20 min, then people are asked', () => queuedAs('held'), 20 * MINUTE, 'ask stuck'],
    [
      'C016 given its partition is down for 20 min, then people are asked and nothing is cancelled',
      () => queuedAs('blocked'),
      20 * MINUTE,
      'ask stuck',
    ],
    ['C016 given it only waits its turn, then nobody is asked', () => queuedAs('waiting'), DAY, `await ${6 * DAY - 4} s`],
  ]);
});

describe('C015, C016: pending for a reason that no waiting cures', () => {
  const pending = (group: 'never' | 'launch_failed' | 'concurrency') => () =>
    given().planned().bound().released().seen('queued', { pending: group });
  rows([
    ['given it can never start, then it is cancelled at once', pending('never'), 0, 'cancel for never'],
    ['given its launch failed and it is held, then it is cancelled at once', pending('launch_failed'), 0, 'cancel for never'],
    ['given a limit on concurrency, then it waits', pending('concurrency'), 0, `await ${7 * DAY - 4} s`],
  ]);
});

describe('contract §5 stalledAfter', () => {
  const spec = { policy: { limits: { stalledAfterSeconds: 600 } } } as const;
  rows([
    [
      'given it runs and a look found it silent, then it is cancelled as stalled',
      () => given(spec).running().seen('running', { finding: 'silent_since' }),
      0,
      'cancel for stall',
    ],
    [
      'given no such limit, then silence is nobody’s business',
      () => given().running().seen('running', { finding: 'silent_since' }),
      0,
      'await',
    ],
    [
      'given the scheduler began another run meanwhile, then the silence was the old run’s',
      () => given(spec).running().seen('running', { finding: 'silent_since' }).seen('running', { run: 1 }),
      0,
      'await',
    ],
    [
      'given it stalled, was cancelled and requeued, then the new run is left alone',
      () =>
        given({ policy: { ...spec.policy, rules: [requeue('stalled', 'supervisor')] } })
          .running()
          .cancelIntended('stall')
          .cancelSent()
          .ended('stalled')
          .acts()
          .requeueIntended()
          .requeued()
          .seen('running'),
      DAY,
      'await',
    ],
  ]);
});

describe('contract §5 requeue by the scheduler', () => {
  const spec = { policy: { rules: [requeue('preempted', 'scheduler', 2), requeue('node_lost', 'scheduler', 1)] } } as const;
  const runs =
    (...causes: readonly ('preempted' | 'node_lost')[]) =>
    () =>
      causes.reduce((job, cause, i) => job.seen('queued', { run: i + 1, lastRunCause: cause }).seen('running'), given(spec).running());
  rows([
    ['given max runs, then they go on', runs('preempted', 'preempted'), 0, 'await'],
    ['given run max + 1, then it is cancelled, with why limit', runs('preempted', 'preempted', 'preempted'), 0, 'cancel for limit'],
    ['given each rule below its own max, then they go on', runs('preempted', 'node_lost', 'preempted'), 0, 'await'],
    ['given the second rule beyond its max, then it is cancelled', runs('node_lost', 'node_lost'), 0, 'cancel for limit'],
    [
      'given it was cancelled for that, then the rule is used up',
      () => runs('node_lost', 'node_lost')().cancelIntended('limit', 'too often').ended('cancelled_by_dispatch'),
      0,
      'finish by limit: too often',
    ],
  ]);
});

describe('contract §10 foreign_change', () => {
  const held = () => given().running().seen('suspended', { finding: 'edited', said: 'TimeLimit' });
  rows([
    ['given others changed it, then people are asked, and nothing else waits', held, 0, 'ask foreign_change'],
    ['given they were asked, then the job goes on', () => held().acts(), 0, 'await 259199 s'],
    [
      'given a later look says the same, then it is not asked again',
      () =>
        held()
          .acts()
          .commit({ type: 'escalation_withdrawn', id: 'q1', moot: 'x' })
          .seen('running', { finding: 'edited', said: 'TimeLimit' }),
      0,
      'await',
    ],
    ['given wait was answered, then it is asked again after 72 h', () => held().acts().answered('wait'), 72 * HOUR, 'ask foreign_change'],
    [
      'given wait was answered, when others change something else, then it is asked at once',
      () => held().acts().answered('wait').seen('suspended', { finding: 'held' }),
      0,
      'ask foreign_change',
    ],
    ['given cancel was answered, then it is cancelled', () => held().acts().answered('cancel'), 0, 'cancel for request'],
    [
      'given its object is active again after its end, then people are asked',
      () => given(ASKS).tried('exited').acts().seen('running', { finding: 'active_after_end' }),
      0,
      'ask foreign_change',
    ],
    [
      'given they were asked about that, then the other question is still awaited',
      () => given(ASKS).tried('exited').acts().seen('running', { finding: 'active_after_end' }).acts(),
      0,
      'await the answer to q1',
    ],
  ]);
  test('given the clock of the cluster is far ahead, then a finding is asked about once', () => {
    const job = given().running();
    job.skewMs = DAY * 1000;
    expect(job.seen('suspended', { finding: 'edited' }).acts().answered('wait').says(0)).toBe(`await ${72 * HOUR} s`);
  });
});

describe('what cannot be done at once hides nothing', () => {
  test('given a cancel and a second object that both get nowhere, then they take turns', () => {
    const job = given().running().duplicate('9').cancelRequested().cancelIntended('request').cancelSent();
    const steps = Array.from({ length: 12 }, (_, i) => job.says(TIMING.cancelAgainSeconds + i * 60));
    expect(new Set(steps)).toEqual(new Set(['cancel for request', 'discard 1']));
  });
});

describe('a rule that asks, or stops', () => {
  rows([
    [
      'given a rule that asks, then people are asked its own question',
      () => given({ policy: { rules: [asks('exited', ['stop', 'relaunch'], 'relaunch')] } }).tried('exited'),
      0,
      'ask rule_asks',
    ],
    [
      'given nobody answered until its own expiry, then it expires',
      () =>
        given({ policy: { rules: [asks('exited', ['stop', 'relaunch'], 'relaunch')] } })
          .tried('exited')
          .acts(),
      DAY,
      'expire q1',
    ],
    [
      'given a rule that stops, then the job ends by it',
      () => given({ policy: { rules: [stop('exited')] } }).tried('exited'),
      0,
      'finish by rule 0',
    ],
  ]);
});
