/** What a policy makes of an end: given this policy and this history, then this verdict (contract §5, §10). */
import { describe, expect, test } from 'vitest';
import type { Cause } from '../../lib/job/cause.ts';
import { CAUSE_NAMES, CAUSES } from '../../lib/job/cause.ts';
import type { Rule } from '../../lib/job/policy.ts';
import { decide } from '../../lib/job/recovery.ts';
import { asks, DAY, type EndedAs, type Given, given, HOUR, outcomeNow, relaunch, requeue, savedBy, stop } from './given.ts';

const rows = (table: readonly (readonly [string, () => Given, string])[]): void => {
  test.each(table)('%s', (_, build, then) => {
    expect(build().says()).toBe(then);
  });
};
/** One attempt that ended so, under these rules; whatever no rule matches stops. */
const end = (cause: Cause, rules: readonly Rule[], its: EndedAs = {}) => given({ policy: { rules } }).tried(cause, its);
/** Carries the decided relaunch out: the next attempt, which ends so. */
const again = (job: Given, cause: Cause, its: EndedAs = {}) => job.acts().after(HOUR).tried(cause, its);

describe('contract §5: the first rule that matches acts', () => {
  rows([
    ['given two rules for it, then the first', () => end('exited', [stop('exited'), relaunch('exited')]), 'finish by rule 0'],
    [
      'given a rule for its class, then that one',
      () => end('node_lost', [stop('exited'), relaunch('infrastructure')]),
      'relaunch from checkpoint',
    ],
    ['given a rule for another class, then none', () => end('node_lost', [relaunch('application')]), 'finish by unmatched'],
    ['given from scratch, then from scratch', () => end('exited', [relaunch('exited', { from: 'scratch' })]), 'relaunch from scratch'],
    ['given a requeue, then a requeue', () => end('preempted', [requeue('preempted', 'supervisor')]), 'requeue by supervisor'],
    ['given a rule that asks, then people', () => end('exited', [asks('exited', ['stop'], 'stop')]), 'ask rule_asks'],
    ['P6.4 given no rule, then an application failure is not retried', () => end('exited', []), 'finish by unmatched'],
    [
      'C027 given the restart dies at once of itself, then the rule for lost nodes is not asked',
      () => again(end('node_lost', [relaunch('node_lost')]), 'exited'),
      'finish by unmatched',
    ],
  ]);
  test.each(CAUSE_NAMES)('given `any`, when it ended as %s', (cause) => {
    const matches = CAUSES[cause] !== 'success' && CAUSES[cause] !== 'people';
    const then = matches ? 'relaunch from checkpoint' : cause === 'completed' ? 'finish by completed' : 'finish by unmatched';
    expect(end(cause, [relaunch('any')]).says()).toBe(then);
  });
});

describe('contract §5: class people', () => {
  const people = (unmatched: 'escalate' | 'relaunch_once' | 'stop') => given({ policy: { unmatched } }).tried('cancelled_by_user');
  rows([
    ['given unmatched: stop, then the job ends', () => people('stop'), 'finish by unmatched'],
    ['given unmatched: escalate, then the job ends, unasked', () => people('escalate'), 'finish by unmatched'],
    ['given unmatched: relaunch_once, then the job ends, not relaunched', () => people('relaunch_once'), 'finish by unmatched'],
    [
      'given a rule that names the cause, then it acts',
      () => end('cancelled_by_admin', [relaunch('cancelled_by_admin')]),
      'relaunch from checkpoint',
    ],
    ['given a rule that names the class, then it acts', () => end('cancelled_by_admin', [relaunch('people')]), 'relaunch from checkpoint'],
  ]);
  test('given it is unmatched, then the job is cancelled', () => {
    expect(people('escalate').acts().state).toBe('cancelled');
  });
});

describe('contract §5: when', () => {
  const message = (text: string) => ({ evidence: [{ source: 'stderr', message: text }] });
  const matches = 'relaunch from checkpoint';
  const not = 'finish by unmatched';
  test.each([
    ['exitCode', { exitCode: [75, 143] }, 'exited', { detail: { code: 143 } }, matches],
    ['another exitCode', { exitCode: [75] }, 'exited', { detail: { code: 1 } }, not],
    ['C029 an exitCode, when a preemption left none', { exitCode: [143] }, 'preempted', {}, not],
    ['signal', { signal: [9] }, 'signalled', { detail: { signal: 9 } }, matches],
    ['another signal', { signal: [9] }, 'signalled', { detail: { signal: 11 } }, not],
    ['scope', { scope: ['node'] }, 'out_of_memory', { detail: { scope: 'node' } }, matches],
    ['another scope', { scope: ['node'] }, 'out_of_memory', { detail: { scope: 'step' } }, not],
    ['a message in the evidence', { message: 'NCCL timeout' }, 'exited', message('rank 3: NCCL timeout after'), matches],
    ['a message in other letters', { message: 'nccl timeout' }, 'exited', message('NCCL timeout'), not],
    ['a reason', { message: 'Prolog' }, 'launch_failed', { evidence: [{ source: 'squeue', reason: 'Prolog failed' }] }, matches],
    ['a message in the detail', { message: 'image' }, 'launch_failed', { detail: { message: 'no such image' } }, matches],
    ['no regular expression', { message: '.*' }, 'exited', message('anything'), not],
    ['two conditions of which one holds', { exitCode: [1], message: 'x' }, 'exited', { detail: { code: 1 }, ...message('y') }, not],
  ] satisfies [string, Rule['when'], Cause, EndedAs, string][])('given %s', (_, when, cause, its, then) => {
    expect(end(cause, [relaunch('any', {}, when)], its).says()).toBe(then);
  });
});

describe('contract §5: limits, each at its edge', () => {
  const limited = (attempts: number, max = 10) => given({ policy: { rules: [relaunch('any', { max })], limits: { attempts } } });
  const neverRan = { ran: 'no' } as const;
  rows([
    ['given 2 of 3 attempts, then one more', () => again(limited(3).tried('preempted'), 'preempted'), 'relaunch from checkpoint'],
    [
      'given 2 of 2 attempts, then none',
      () => again(limited(2).tried('preempted'), 'preempted'),
      'finish by limit: 2 of 2 attempts are used',
    ],
    ['given 1 of 1 attempts, then none', () => limited(1).tried('preempted'), 'finish by limit: 1 of 1 attempts are used'],
    [
      'given a rule with max 1 used once, then it is used up',
      () => again(limited(9, 1).tried('preempted'), 'node_lost'),
      'finish by limit: rule 0 was used 1 of 1 times',
    ],
    [
      'given a rule with max 2 used once, then once more',
      () => again(limited(9, 2).tried('preempted'), 'node_lost'),
      'relaunch from checkpoint',
    ],
    [
      'given it never ran, then it consumes no rule’s max',
      () => again(limited(9, 1).tried('launch_failed', neverRan), 'preempted'),
      'relaunch from checkpoint',
    ],
    [
      'given the rule is used up and it never ran, then one more',
      () => again(limited(9, 1).tried('preempted'), 'launch_failed', neverRan),
      'relaunch from checkpoint',
    ],
    [
      'given it never ran, then it consumes limits.attempts',
      () => again(limited(2, 1).tried('launch_failed', neverRan), 'launch_failed', neverRan),
      'finish by limit: 2 of 2 attempts are used',
    ],
    [
      'given whether it ran is unknown, then it consumes',
      () => again(limited(9, 1).tried('vanished', { ran: 'unknown' }), 'preempted'),
      'finish by limit: rule 0 was used 1 of 1 times',
    ],
    [
      'given another rule was used, then this one’s max is its own',
      () => again(end('preempted', [relaunch('preempted', { max: 1 }), relaunch('any', { max: 1 })]), 'node_lost'),
      'relaunch from checkpoint',
    ],
  ]);

  const idle = (count: number) =>
    given({
      checkpoint: { required: false },
      policy: { rules: [relaunch('any', { max: 9 })], limits: { attemptsWithoutProgress: count } },
    });
  rows([
    ['P6 given one attempt without progress of two, then one more', () => idle(2).tried('preempted'), 'relaunch from checkpoint'],
    [
      'given two in a row of two, then none',
      () => again(idle(2).tried('preempted'), 'preempted'),
      'finish by limit: 2 attempts in a row made no progress',
    ],
    [
      'given progress in between, then it counts from there',
      () => again(again(idle(2).tried('preempted'), 'preempted', { saved: 10 }), 'preempted'),
      'relaunch from checkpoint',
    ],
    [
      'given one that never ran in between, then it neither counts',
      () => again(idle(2).tried('preempted'), 'launch_failed', neverRan),
      'relaunch from checkpoint',
    ],
    [
      'given one that never ran in between, nor resets',
      () => again(again(idle(2).tried('preempted'), 'launch_failed', neverRan), 'preempted'),
      'finish by limit: 2 attempts in a row made no progress',
    ],
    [
      'given a publication at step 0, then that is progress from nothing',
      () => again(idle(2).tried('preempted'), 'preempted', { saved: 0 }),
      'relaunch from checkpoint',
    ],
    [
      'given a new epoch at the step it began from, then that is none',
      () => idle(1).tried('preempted', { resume: savedBy(1, 0, 50), saved: 50 }),
      'finish by limit: 1 attempts in a row made no progress',
    ],
    [
      'given one step above its base, then that is progress',
      () => idle(1).tried('preempted', { resume: savedBy(1, 0, 50), saved: 51 }),
      'relaunch from checkpoint',
    ],
  ]);

  test.each([
    [9499, 'recover'],
    [9500, 'end'],
  ])('contract §8 given a record of %i commits, then %s', (version, then) => {
    for (const rules of [[relaunch('any')], [requeue('any', 'supervisor')]]) {
      const job = end('preempted', rules);
      const verdict = decide(job.atVersion(version), job.attempt, job.attempt.outcome!);
      expect(verdict.kind).toBe(then);
      if (verdict.kind === 'end') expect(verdict.because).toEqual({ kind: 'limit', limit: 'the record holds 9500 commits' });
    }
  });
});

describe('C033 a second memory kill at the same memory', () => {
  const memory = { resources: { nodes: 1, tasksPerNode: 1, gpusPerNode: 0, memoryPerNodeMi: 1000 } };
  const scaled = (upToMi: number) =>
    given({ ...memory, policy: { rules: [relaunch('any', { max: 9, scale: { memoryPerNode: { by: 1.5, upToMi } } })] } });
  const same = () => given({ ...memory, policy: { rules: [relaunch('any', { max: 9 })] } });
  rows([
    ['given the first, then it is relaunched', () => same().tried('out_of_memory'), 'relaunch from checkpoint'],
    [
      'given the second, then the limit is reached',
      () => again(same().tried('out_of_memory'), 'out_of_memory'),
      'finish by limit: out of memory twice with 1000 MiB per node',
    ],
    [
      'given another end in between, then still',
      () => again(again(same().tried('out_of_memory'), 'node_lost'), 'out_of_memory'),
      'finish by limit: out of memory twice with 1000 MiB per node',
    ],
    [
      'given more memory the second time, then it is relaunched',
      () => again(scaled(9000).tried('out_of_memory'), 'out_of_memory'),
      'relaunch from checkpoint',
    ],
    [
      'given its top was reached, then the second at the top is the limit',
      () => again(again(scaled(1200).tried('out_of_memory'), 'out_of_memory'), 'out_of_memory'),
      'finish by limit: out of memory twice with 1200 MiB per node',
    ],
    [
      'given a requeue, which changes no memory, then the second is the limit',
      () =>
        given({ policy: { rules: [requeue('any', 'supervisor')] } })
          .tried('out_of_memory')
          .acts()
          .requeueIntended()
          .requeued()
          .seen('running')
          .ended('out_of_memory'),
      'finish by limit: out of memory twice with the same memory',
    ],
  ]);
});

describe('contract §4 checkpoint.required', () => {
  const required = (more: Partial<Parameters<typeof given>[0]> = {}) =>
    given({
      checkpoint: { required: true },
      policy: { unmatched: 'relaunch_once', rules: [relaunch('preempted'), relaunch('node_lost', { from: 'scratch' })] },
      ...more,
    });
  const none = 'finish by limit: a checkpoint is required and none was published';
  rows([
    ['given no publication, then the limit is reached instead of a start from scratch', () => required().tried('preempted'), none],
    ['given one, then it is relaunched', () => required().tried('preempted', { saved: 0 }), 'relaunch from checkpoint'],
    [
      'given none of its own but one to resume from, then it is relaunched',
      () => required().tried('preempted', { resume: savedBy(1, 0, 5) }),
      'relaunch from checkpoint',
    ],
    ['given a rule from scratch, then nothing is required', () => required().tried('node_lost'), 'relaunch from scratch'],
    [
      'given a new branch without one, then an earlier branch’s does not count',
      () => again(required().tried('node_lost', { saved: 9 }), 'preempted'),
      none,
    ],
    ['given relaunch_once, then it is required too', () => required().tried('exited'), none],
  ]);
});

describe('contract §5 unmatched', () => {
  const once = (attempts = 9) => given({ policy: { unmatched: 'relaunch_once', rules: [stop('node_lost')], limits: { attempts } } });
  rows([
    ['given stop, then the job ends', () => given().tried('exited'), 'finish by unmatched'],
    ['given escalate, then people are asked', () => given({ policy: { unmatched: 'escalate' } }).tried('exited'), 'ask unmatched_outcome'],
    ['given relaunch_once, then once', () => once().tried('exited'), 'relaunch from checkpoint'],
    [
      'given relaunch_once, when it was used, then not again in this job',
      () => again(once().tried('exited'), 'signalled'),
      'finish by limit: relaunch_once was used',
    ],
    ['given relaunch_once, then within the limits', () => once(1).tried('exited'), 'finish by limit: 1 of 1 attempts are used'],
    ['given relaunch_once, when a rule matches, then the rule', () => once().tried('node_lost'), 'finish by rule 0'],
  ]);
  rows([
    [
      'given a limit that is used up and escalate, then people are asked',
      () => given({ policy: { unmatched: 'escalate', rules: [relaunch('any')], limits: { attempts: 1 } } }).tried('exited'),
      'ask limit_reached',
    ],
    [
      'given they answered relaunch, then one attempt beyond the limit, at once',
      () =>
        given({ policy: { unmatched: 'escalate', rules: [relaunch('any')], limits: { attempts: 1 } } })
          .tried('exited')
          .acts()
          .answered('relaunch'),
      'submit 2',
    ],
    [
      'given that one ends too, then they are asked again',
      () =>
        given({ policy: { unmatched: 'escalate', rules: [relaunch('any')], limits: { attempts: 1 } } })
          .tried('exited')
          .acts()
          .answered('relaunch')
          .tried('exited'),
      'ask limit_reached',
    ],
    [
      'given a rule used up by a scheduler’s requeues, when they answered relaunch, then the new attempt is left alone',
      () =>
        given({ policy: { unmatched: 'escalate', rules: [requeue('any', 'scheduler', 1)] } })
          .running()
          .seen('queued', { run: 2 })
          .cancelIntended('limit', 'twice')
          .ended('cancelled_by_dispatch')
          .acts()
          .answered('relaunch')
          .running(),
      'await',
    ],
  ]);
  test('contract §8 given a scheduler’s long refusal, then what the record keeps of the limit still fits', () => {
    const job = given({ policy: { rules: [requeue('any', 'supervisor')] } })
      .tried('preempted')
      .acts()
      .requeueIntended()
      .requeueRefused('x'.repeat(1024));
    expect(job.acts().state).toBe('failed');
  });
});

describe('contract §3: class evidence ends a job only by an answer or by unmatched: stop', () => {
  const vanished =
    (unmatched: 'stop' | 'escalate' | 'relaunch_once', rules: readonly Rule[] = []) =>
    () =>
      given({ policy: { unmatched, rules, limits: { attempts: 2 } } }).tried('vanished', { ran: 'unknown' });
  rows([
    ['given stop, then it ends the job', vanished('stop'), 'finish by unmatched'],
    ['given escalate, then people are asked', vanished('escalate'), 'ask outcome_unknown'],
    ['given a rule that stops, then people are asked instead', vanished('escalate', [stop('vanished')]), 'ask outcome_unknown'],
    ['given a rule that stops and unmatched: stop, then it ends the job', vanished('stop', [stop('any')]), 'finish by unmatched'],
    ['given a rule that relaunches, then it does', vanished('escalate', [relaunch('evidence')]), 'relaunch from checkpoint'],
    ['given relaunch_once, then it is relaunched once', vanished('relaunch_once'), 'relaunch from checkpoint'],
    ['given relaunch_once was used, then people are asked', () => again(vanished('relaunch_once')(), 'vanished'), 'ask outcome_unknown'],
    ['given it stayed unknown and stop, then the job is failed with that cause', () => vanished('stop')().acts(), 'done'],
  ]);
  test('given unmatched: stop, then the job is failed with that cause, the attempt stays unknown', () => {
    const job = vanished('stop')().acts();
    expect(job.view.ended?.outcome).toMatchObject({ state: 'failed', cause: 'vanished', class: 'evidence' });
    expect(job.attempt.outcome?.state).toBe('unknown');
  });
});

describe('contract §10: three submissions in a row that never landed', () => {
  const lost = (times: number, unmatched: 'escalate' | 'stop' = 'escalate') => {
    const job = given({ policy: { unmatched, rules: [relaunch('never_landed', { max: 9 })] } })
      .planned()
      .uncertain()
      .neverLanded();
    for (let i = 1; i < times; i++) job.acts().after(HOUR).planned().uncertain().neverLanded();
    return job;
  };
  rows([
    ['given two, then the rule acts', () => lost(2), 'relaunch from checkpoint'],
    ['given three, then people are asked whatever the rules say', () => lost(3), 'ask outcome_unknown'],
    ['given three and unmatched: stop, then the job ends', () => lost(3, 'stop'), 'finish by unmatched'],
    [
      'given another end in between, then it begins anew',
      () =>
        given({ policy: { rules: [relaunch('any', { max: 9 })] } })
          .planned()
          .neverLanded()
          .acts()
          .after(HOUR)
          .tried('preempted')
          .acts()
          .after(HOUR)
          .planned()
          .neverLanded(),
      'relaunch from checkpoint',
    ],
  ]);
});

describe('contract §5 requeue', () => {
  const rules = [requeue('any', 'supervisor', 2)];
  const once = (job: Given) => job.acts().requeueIntended().requeued().seen('running');
  const scheduler = () => given({ policy: { rules: [requeue('any', 'scheduler', 1)] } }).tried('preempted');
  rows([
    ['given it was requeued once of two, then once more', () => once(end('preempted', rules)).ended('preempted'), 'requeue by supervisor'],
    [
      'given it was requeued twice of two, then the rule is used up',
      () => once(once(end('preempted', rules)).ended('preempted')).ended('preempted'),
      'finish by limit: rule 0 was used 2 of 2 times',
    ],
    [
      'given runs that never began, then each requeue still counts: nothing else bounds them',
      () =>
        once(once(end('launch_failed', rules, { ran: 'no' })).ended('launch_failed', { ran: 'no' })).ended('launch_failed', { ran: 'no' }),
      'finish by limit: rule 0 was used 2 of 2 times',
    ],
    [
      'given requeues, then they consume none of limits.attempts',
      () => once(given({ policy: { rules, limits: { attempts: 1 } } }).tried('preempted')).ended('preempted'),
      'requeue by supervisor',
    ],
    [
      'given it was refused, then the rule is used up',
      () => end('preempted', rules).acts().requeueIntended().requeueRefused('no'),
      'finish by limit: the requeue was refused: no',
    ],
    [
      'given it was refused, then it stays used up for the job',
      () =>
        given({ policy: { unmatched: 'escalate', rules } })
          .tried('preempted')
          .acts()
          .requeueIntended()
          .requeueRefused('no')
          .acts()
          .answered('relaunch')
          .tried('preempted'),
      'ask limit_reached',
    ],
    [
      'given it was refused, then another rule is not',
      () =>
        given({ policy: { rules: [requeue('preempted', 'supervisor'), requeue('node_lost', 'supervisor'), relaunch('any')] } })
          .tried('preempted')
          .acts()
          .requeueRefused('no')
          .commit({
            type: 'recovery_decided',
            n: 1,
            by: { kind: 'rule', rule: 2 },
            action: { kind: 'relaunch', from: 'checkpoint', resources: { timeLimitSeconds: DAY }, excludeNodes: [], counts: true },
            notBefore: 0,
          })
          .tried('node_lost'),
      'requeue by supervisor',
    ],
    [
      'given the scheduler requeued it after we saw its end, then that run counts',
      () => scheduler().acts().requeued().seen('running').ended('preempted'),
      'finish by limit: rule 0 was used 1 of 1 times',
    ],
    [
      'given the scheduler requeued it before we saw its end, then that run counts',
      () =>
        given({ policy: { rules: [requeue('any', 'scheduler', 1)] } })
          .running()
          .seen('running', { run: 1 })
          .ended('preempted'),
      'finish by limit: rule 0 was used 1 of 1 times',
    ],
  ]);
});

/** What the next attempt would be given. */
const action = (job: Given) => {
  const step = job.next();
  if (step.do !== 'decide' || step.verdict.action.kind !== 'relaunch') throw new Error(`no relaunch: ${step.do}`);
  return { ...step.verdict.action, delaySeconds: step.verdict.delaySeconds };
};

describe('contract §5 scale: the previous attempt’s value, up to upTo', () => {
  const memory = { nodes: 1, tasksPerNode: 1, gpusPerNode: 0, memoryPerNodeMi: 1000 };
  const scale = { memoryPerNode: { by: 1.5, upToMi: 2000 }, timeLimit: { by: 2, upToSeconds: 3 * DAY } };
  const job = (resources = memory) => given({ resources, policy: { rules: [relaunch('any', { max: 9, scale })] } });
  test.each([
    ['given the first, then by its factor', () => job().tried('out_of_memory'), { memoryPerNodeMi: 1500, timeLimitSeconds: 2 * DAY }],
    [
      'given the second, then from the previous value, up to the top',
      () => again(job().tried('out_of_memory'), 'out_of_memory'),
      { memoryPerNodeMi: 2000, timeLimitSeconds: 3 * DAY },
    ],
    [
      'given more than the top was asked for, then it is not lowered',
      () => job({ ...memory, memoryPerNodeMi: 5000 }).tried('time_limit'),
      { memoryPerNodeMi: 5000, timeLimitSeconds: 2 * DAY },
    ],
    [
      'given the cluster’s own default, then there is nothing to multiply',
      () => given({ policy: { rules: [relaunch('any', { scale: { memoryPerNode: { by: 2, upToMi: 9 } } })] } }).tried('out_of_memory'),
      { timeLimitSeconds: DAY },
    ],
  ])('%s', (_, build, resources) => {
    expect(action(build()).resources).toEqual(resources);
  });
});

describe('contract §5 excludeNodes: only nodes that the evidence names as failed (C002, C030)', () => {
  const job = (max?: number) =>
    given({ policy: { rules: [relaunch('any', { max: 9, ...(max === undefined ? {} : { excludeNodes: { max } }) })] } });
  const lost = (...failedNodes: string[]) => ({ detail: { failedNodes } });
  test.each([
    ['given a failed node, then that', () => job(2).tried('node_lost', lost('n3')), ['n3']],
    [
      'given only a list of its nodes, then none',
      () => job(2).tried('node_lost', { evidence: [{ source: 'sacct', nodes: 'n[1-4]' }] }),
      [],
    ],
    ['given a rule without it, then none', () => job().tried('node_lost', lost('n3')), []],
    ['given it happens again, then both', () => again(job(2).tried('node_lost', lost('n3')), 'node_lost', lost('n1')), ['n3', 'n1']],
    [
      'given more than max, then the oldest is dropped',
      () => again(job(2).tried('node_lost', lost('n3', 'n4')), 'node_lost', lost('n1')),
      ['n4', 'n1'],
    ],
    [
      'given the oldest fails again, then it is the newest',
      () => again(job(2).tried('node_lost', lost('n3', 'n4')), 'node_lost', lost('n3')),
      ['n4', 'n3'],
    ],
    ['given one node named twice, then it takes one place', () => job(2).tried('node_lost', lost('n3', 'n3', 'n4')), ['n3', 'n4']],
    ['given another end later, then it stays excluded', () => again(job(2).tried('node_lost', lost('n3')), 'exited'), ['n3']],
  ])('%s', (_, build, nodes) => {
    expect(action(build()).excludeNodes).toEqual(nodes);
  });
});

describe('contract §5 backoff: full jitter, seeded by job and attempt', () => {
  const job = () =>
    given({ policy: { rules: [relaunch('any', { max: 9, backoff: { initialSeconds: 100, factor: 10, maxSeconds: 5000 } })] } });
  test('given the same view, then the same delay', () => {
    expect(action(job().tried('preempted')).delaySeconds).toBe(action(job().tried('preempted')).delaySeconds);
  });
  test('given each further use, then up to its own ceiling, and never above max', () => {
    const from = job().tried('preempted');
    for (const ceiling of [100, 1000, 5000, 5000, 5000]) {
      const { delaySeconds } = action(from);
      expect(delaySeconds).toBeGreaterThanOrEqual(0);
      expect(delaySeconds).toBeLessThanOrEqual(ceiling);
      again(from, 'preempted');
    }
  });
  test('given many jobs, then the delays spread over the whole range', () => {
    const ended = job().tried('preempted');
    const delays = Array.from({ length: 200 }, (_, i) => {
      const verdict = decide({ ...ended.view, job: `${i}` }, ended.attempt, outcomeNow('preempted'));
      return verdict.kind === 'recover' ? verdict.delaySeconds : -1;
    });
    expect(Math.min(...delays)).toBeLessThan(10);
    expect(Math.max(...delays)).toBeGreaterThan(90);
  });
  test('given an initial of 0, then at once', () => {
    const rules = [relaunch('any', { backoff: { initialSeconds: 0, factor: 2, maxSeconds: 60 } })];
    expect(given({ policy: { rules } }).tried('preempted').acts().says()).toBe('submit 2');
  });
});
