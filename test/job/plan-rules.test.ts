import { describe, expect, test } from 'vitest';
import { CAUSE_NAMES, CAUSES, outcomeOf } from '../../lib/job/cause.ts';
import { matchingRule } from '../../lib/job/limit.ts';
import { possibleCauses, reachOf } from '../../lib/job/plan-match.ts';
import { BY_SCHEDULER, BY_SUPERVISOR, type Given, parsed, planned, policy, RELAUNCH, SCALED, STOP, said, written } from './plan-given.ts';

const ASK = { escalate: { options: ['stop'], onExpiry: 'stop' } };
type RuleWritten = { on: string[]; when?: Record<string, unknown>; do: unknown };

const given = (rules: RuleWritten[], more: Omit<Given, 'spec'> = {}, changes: Record<string, unknown> = {}): Given => ({
  spec: written({ policy: policy(rules, changes) }),
  ...more,
});
const enforcers = (rules: RuleWritten[], more: Omit<Given, 'spec'> = {}): string[] =>
  planned(given(rules, more)).rules.map((rule) => rule.enforcer);
const relaunchOf = (changes: Record<string, unknown>) => ({ relaunch: { max: 3, from: 'checkpoint', ...changes } });

describe('who enforces a rule (contract §6)', () => {
  test.each<[string, RuleWritten, Omit<Given, 'spec'>, string]>([
    ['relaunch', { on: ['preempted'], do: RELAUNCH }, {}, 'supervisor'],
    ['escalate', { on: ['preempted'], do: ASK }, {}, 'supervisor'],
    ['stop', { on: ['preempted'], do: STOP }, {}, 'supervisor'],
    ['requeue by supervisor', { on: ['preempted'], do: BY_SUPERVISOR }, {}, 'supervisor'],
    ['requeue by scheduler', { on: ['infrastructure'], do: BY_SCHEDULER }, {}, 'scheduler'],
    ['requeue where there is none', { on: ['preempted'], do: BY_SUPERVISOR }, { can: { requeue_in_place: 'no' } }, 'nobody'],
    ['a cause that cannot be told apart', { on: ['preempted'], do: RELAUNCH }, { can: { detects_preemption: 'no' } }, 'nobody'],
    ['success', { on: ['completed'], do: STOP }, {}, 'nobody'],
  ])('%s', (_, rule, more, enforcer) => expect(enforcers([rule], more)).toEqual([enforcer]));
});

describe('how a cause is told apart (contract §6, §7)', () => {
  test.each<[RuleWritten, string[]]>([
    [{ on: ['preempted'], do: RELAUNCH }, ['detects_preemption']],
    [{ on: ['node_lost'], do: RELAUNCH }, ['detects_node_loss']],
    [{ on: ['out_of_memory'], do: SCALED }, ['detects_out_of_memory', 'detects_child_out_of_memory']],
    [{ on: ['out_of_memory'], when: { scope: 'child' }, do: SCALED }, ['detects_child_out_of_memory']],
    [{ on: ['out_of_memory'], when: { scope: ['step', 'node'] }, do: SCALED }, ['detects_out_of_memory']],
    [{ on: ['stalled'], do: RELAUNCH }, ['detects_progress']],
    [{ on: ['exited'], when: { exitCode: 3 }, do: RELAUNCH }, ['exact_exit_codes']],
    [{ on: ['time_limit'], do: RELAUNCH }, ['time_limit']],
    [{ on: ['unsatisfiable'], do: ASK }, ['says_why_pending']],
    [{ on: ['no_capacity'], do: RELAUNCH }, ['dispatch']],
    [{ on: ['boot_failed'], do: RELAUNCH }, ['scheduler']],
    [{ on: ['cancelled_by_admin'], do: RELAUNCH }, ['outcome_survives_purge']],
  ])('%j', (rule, by) => expect(planned(given([rule])).rules[0]?.detects.by.map((told) => told.by)).toEqual(by));

  test('the evidence of the probe stands beside it', () => {
    expect(planned(given([{ on: ['preempted'], do: RELAUNCH }], { can: { detects_preemption: 'partly' } })).rules[0]?.detects).toEqual({
      support: 'partly',
      by: [{ by: 'detects_preemption', causes: ['preempted'], support: 'partly', evidence: 'seen: detects_preemption' }],
    });
  });
});

interface Case {
  readonly rules: RuleWritten[];
  readonly more?: Omit<Given, 'spec'>;
  readonly changes?: Record<string, unknown>;
  readonly warnings?: string[];
  readonly refusals?: string[];
}
const judged = ({ rules, more, changes, warnings = [], refusals = [] }: Case): void => {
  const made = planned(given(rules, more, changes));
  expect({ warnings: said(made.warnings), refusals: said(made.refusals) }).toEqual({ warnings, refusals });
};
const table = (cases: Record<string, Case>): [string, Case][] => Object.entries(cases);

describe('what a rule can match', () => {
  test.each(
    table({
      'success matches no rule': {
        rules: [{ on: ['preempted', 'completed'], do: STOP }],
        refusals: ['policy.rules[0].on[1]: "completed" matches no rule: success ends the job; leave it out'],
      },
      'the class success neither': {
        rules: [{ on: ['success'], do: STOP }],
        refusals: ['policy.rules[0].on[0]: "success" matches no rule: success ends the job; leave it out'],
      },
      'the deadline asks no rule': {
        rules: [{ on: ['deadline'], do: STOP }],
        warnings: ['policy.rules[0].on: deadline never comes to a rule: no rule is asked once the deadline or the wall clock has passed'],
      },
      'a class that holds such a cause is fine': { rules: [{ on: ['limit'], do: STOP }] },
      'C029: an exit code after a preemption': {
        rules: [{ on: ['preempted'], when: { exitCode: 143 }, do: RELAUNCH }],
        warnings: ['policy.rules[0].when.exitCode: cannot match preempted, which carries no exitCode'],
      },
      'C029: an exit code for some of its causes': {
        rules: [{ on: ['exited', 'preempted', 'node_lost'], when: { exitCode: [1, 143] }, do: RELAUNCH }],
        warnings: ['policy.rules[0].when.exitCode: cannot match preempted, node_lost, which carry no exitCode'],
      },
      'a signal of an exit': {
        rules: [{ on: ['exited'], when: { signal: 9 }, do: STOP }],
        warnings: ['policy.rules[0].when.signal: cannot match exited, which carries no signal'],
      },
      'a rule behind `any`': {
        rules: [
          { on: ['any'], do: ASK },
          { on: ['exited'], do: STOP },
        ],
        warnings: ['policy.rules[1]: never used: rule 0 before it takes everything that it names'],
      },
      'a rule behind two that share its causes': {
        rules: [
          { on: ['node_lost'], do: STOP },
          { on: ['preempted'], do: ASK },
          { on: ['preempted', 'node_lost'], do: STOP },
        ],
        warnings: ['policy.rules[2]: never used: rule 1, 0 before it takes everything that it names'],
      },
      'a narrower condition behind a wider one': {
        rules: [
          { on: ['exited'], when: { exitCode: [1, 2] }, do: STOP },
          { on: ['exited'], when: { exitCode: 2 }, do: ASK },
        ],
        warnings: ['policy.rules[1]: never used: rule 0 before it takes everything that it names'],
      },
      'a wider condition behind a narrower one is used': {
        rules: [
          { on: ['exited'], when: { exitCode: 2 }, do: STOP },
          { on: ['exited'], when: { exitCode: [1, 2] }, do: ASK },
          { on: ['exited'], do: ASK },
        ],
      },
      'people are not in `any`': {
        rules: [
          { on: ['any'], do: ASK },
          { on: ['cancelled_by_admin'], do: ASK },
        ],
      },
      'stalled without a limit': {
        rules: [{ on: ['stalled'], do: STOP }],
        warnings: ['policy.rules[0].on: stalled never happens without policy.limits.stalledAfter'],
      },
      'stalled with one': { rules: [{ on: ['stalled'], do: STOP }], changes: { limits: { attempts: 3, stalledAfter: '1h' } } },
    }),
  )('%s', (_, row) => judged(row));

  test('the plan and the decision agree on every cause, for every single rule', () => {
    const rules = parsed(
      written({
        policy: policy([
          ...[...CAUSE_NAMES, ...new Set(Object.values(CAUSES)), 'any'].slice(0, 30).map((on) => ({ on: [on], do: STOP })),
          { on: ['any', 'people'], do: STOP },
        ]),
      }),
    ).policy.rules;
    for (const rule of rules)
      for (const cause of CAUSE_NAMES.filter((name) => name !== 'deadline' && name !== 'cancelled_by_dispatch'))
        expect([rule.on, cause, possibleCauses(rule).includes(cause)]).toEqual([
          rule.on,
          cause,
          matchingRule([rule], outcomeOf(cause, { observedAt: 1 })) === 0,
        ]);
  });

  test('a cause that a rule is said to own comes to it', () => {
    const rules = parsed(
      written({
        policy: policy([
          { on: ['node_lost'], do: STOP },
          { on: ['infrastructure'], do: ASK },
          { on: ['any'], do: ASK },
        ]),
      }),
    ).policy.rules;
    for (const [i, reach] of reachOf(rules).entries())
      for (const cause of reach.causes) expect(matchingRule(rules, outcomeOf(cause, { observedAt: 1 }))).toBe(i);
  });
});

describe('what a cluster cannot tell apart', () => {
  test.each(
    table({
      'a rule on it alone is refused': {
        rules: [{ on: ['preempted'], do: RELAUNCH }],
        more: { can: { detects_preemption: 'no' } },
        refusals: ['policy.rules[0].on: nobody can enforce it: this cluster cannot tell preempted apart; leave it out'],
      },
      'a rule on it among others is warned of': {
        rules: [{ on: ['preempted', 'boot_failed'], do: RELAUNCH }],
        more: { can: { detects_preemption: 'no' } },
        warnings: ['policy.rules[0].on: preempted: detects_preemption is "no" here; it may read as another cause'],
      },
      'a memory kill of a child': {
        rules: [{ on: ['out_of_memory'], do: SCALED }],
        more: { can: { detects_child_out_of_memory: 'unknown' } },
        warnings: ['policy.rules[0].on: out_of_memory: detects_child_out_of_memory is "unknown" here; it may read as another cause'],
      },
      '`any` does not care': { rules: [{ on: ['any'], do: ASK }], more: { can: { detects_preemption: 'no', exact_exit_codes: 'no' } } },
    }),
  )('%s', (_, row) => judged(row));
});

const NODE_LOST = "after node_lost an earlier run may live on: dispatch fences its publications, not the program's own files";

describe('what an action promises', () => {
  test.each(
    table({
      'C033: memory without scale': {
        rules: [{ on: ['out_of_memory'], do: RELAUNCH }],
        warnings: [
          'policy.rules[0].do.relaunch: out_of_memory without scale.memoryPerNode: a second end at the same memory is limit_reached',
        ],
      },
      'memory with scale': { rules: [{ on: ['out_of_memory'], do: SCALED }] },
      'memory taken by an earlier rule': {
        rules: [
          { on: ['out_of_memory'], do: SCALED },
          { on: ['limit'], do: relaunchOf({}) },
        ],
      },
      'scale that is no increase': {
        rules: [{ on: ['out_of_memory'], do: relaunchOf({ scale: { memoryPerNode: { by: 2, upTo: '240Gi' } } }) }],
        refusals: ['policy.rules[0].do.relaunch.scale.memoryPerNode.upTo: is not above resources.memoryPerNode, 240Gi; raise it'],
      },
      'time limit from scratch without scale': {
        rules: [{ on: ['time_limit'], do: relaunchOf({ from: 'scratch' }) }],
        warnings: [
          'policy.rules[0].do.relaunch: time_limit without scale.timeLimit and without a checkpoint: the next attempt ends the same way',
        ],
      },
      'time limit from a checkpoint': { rules: [{ on: ['time_limit'], do: RELAUNCH }] },
      'time limit scaled to the partition’s': {
        rules: [{ on: ['time_limit'], do: relaunchOf({ scale: { timeLimit: { by: 2, upTo: '24h' } } }) }],
      },
      'time limit scaled beyond the partition’s': {
        rules: [{ on: ['time_limit'], do: relaunchOf({ scale: { timeLimit: { by: 2, upTo: '25h' } } }) }],
        refusals: ['policy.rules[0].do.relaunch.scale.timeLimit.upTo: 25h is longer than partition gpu allows, 1d; lower it'],
      },
      'time limit scaled to less': {
        rules: [{ on: ['time_limit'], do: relaunchOf({ scale: { timeLimit: { by: 2, upTo: '12h' } } }) }],
        refusals: ['policy.rules[0].do.relaunch.scale.timeLimit.upTo: is not above timeLimit, 12h; raise it'],
      },
      'node loss': { rules: [{ on: ['node_lost'], do: RELAUNCH }], warnings: [`policy.rules[0].do.relaunch: ${NODE_LOST}`] },
      'nodes that cannot be excluded': {
        rules: [{ on: ['boot_failed'], do: relaunchOf({ excludeNodes: {} }) }],
        more: { can: { excludes_nodes: 'no' } },
        refusals: ['policy.rules[0].do.relaunch.excludeNodes: nobody can enforce it: this cluster excludes no nodes; leave it out'],
      },
      'a relaunch with one attempt': {
        rules: [{ on: ['preempted'], do: RELAUNCH }],
        changes: { limits: { attempts: 1 } },
        warnings: ['policy.rules[0].do.relaunch: never happens: limits.attempts is 1; raise it'],
      },
      'stop on class evidence': {
        rules: [{ on: ['vanished'], do: STOP }],
        changes: { unmatched: 'escalate' },
        warnings: ['policy.rules[0].do.stop: vanished ends a job only by an answer or by unmatched: stop; a question is asked instead'],
      },
      'stop on class evidence, unmatched: stop': { rules: [{ on: ['evidence'], do: STOP }] },
    }),
  )('%s', (_, row) => judged(row));

  test('without a declared checkpoint, and without memory to scale', () => {
    const spec = written({ checkpoint: undefined, resources: { nodes: 1 }, policy: policy([{ on: ['out_of_memory'], do: SCALED }]) });
    const made = planned({ spec });
    expect(said(made.warnings)).toEqual([
      'policy.rules[0].do.relaunch.from: the spec has no checkpoint: unless the program publishes by itself, it starts from scratch',
    ]);
    expect(said(made.refusals)).toEqual([
      'policy.rules[0].do.relaunch.scale.memoryPerNode: has nothing to multiply; set resources.memoryPerNode',
    ]);
  });
});

describe('one enforcer per event (C026)', () => {
  const others = 'evicted, scheduler_failed, revoked, never_landed';
  const scheduled = `policy.rules[0].do.requeue: the scheduler requeues after preempted, node_lost, launch_failed, boot_failed only, never after ${others}`;
  const all = ['preempted', 'node_lost', 'boot_failed', 'launch_failed'];

  test.each(
    table({
      'everything the scheduler requeues after is its own': { rules: [{ on: all, do: BY_SCHEDULER }] },
      'a class holds more than the scheduler does': { rules: [{ on: ['infrastructure'], do: BY_SCHEDULER }], warnings: [scheduled] },
      'C026: requeue by the scheduler and relaunch after a lost node': {
        rules: [
          { on: ['preempted', 'boot_failed', 'launch_failed'], do: BY_SCHEDULER },
          { on: ['node_lost'], do: RELAUNCH },
        ],
        warnings: [`policy.rules[1].do.relaunch: ${NODE_LOST}`],
        refusals: [
          'policy.rules[1].do: two enforcers: rule 0 lets the scheduler requeue after node_lost too; name it in rule 0, or use requeue by supervisor there',
        ],
      },
      'by the supervisor, both may stand': {
        rules: [
          { on: ['preempted'], do: BY_SUPERVISOR },
          { on: ['boot_failed'], do: RELAUNCH },
        ],
      },
      'what no rule takes is requeued all the same': {
        rules: [{ on: ['preempted', 'node_lost'], do: BY_SCHEDULER }],
        warnings: [
          'policy.unmatched: rule 0 lets the scheduler requeue after boot_failed, launch_failed too, which no rule takes whole; such a requeue happens before anybody is asked',
        ],
      },
      'and relaunch_once would be a second enforcer': {
        rules: [{ on: ['preempted', 'node_lost', 'boot_failed'], do: BY_SCHEDULER }],
        changes: { unmatched: 'relaunch_once' },
        refusals: [
          'policy.unmatched: two enforcers: rule 0 lets the scheduler requeue after launch_failed too, which no rule takes whole; name them in rule 0, or use requeue by supervisor',
        ],
      },
      'no scheduler requeues after an exit': {
        rules: [
          { on: ['exited'], do: { requeue: { max: 1, by: 'scheduler' } } },
          { on: all, do: BY_SCHEDULER },
        ],
        refusals: [
          'policy.rules[0].do.requeue: nobody can enforce it: no scheduler requeues after exited; use by: supervisor, or relaunch',
        ],
      },
      'unless the cluster requeues by that code': {
        rules: [
          { on: ['exited'], when: { exitCode: 88 }, do: BY_SCHEDULER },
          { on: all, do: BY_SCHEDULER },
        ],
        more: { facts: { requeueExitCodes: [88] } },
      },
      'requeue where the cluster cannot': {
        rules: [{ on: ['preempted'], do: BY_SUPERVISOR }],
        more: { can: { requeue_in_place: 'no' } },
        refusals: ['policy.rules[0].do.requeue: nobody can enforce it: requeue_in_place is "no" here; use relaunch'],
      },
      'requeue where nobody knows': {
        rules: [{ on: ['preempted'], do: BY_SUPERVISOR }],
        more: { can: { requeue_in_place: 'unknown' } },
        refusals: ['policy.rules[0].do.requeue: nobody can enforce it: requeue_in_place is "unknown" here; use relaunch'],
      },
      'requeue in part': {
        rules: [{ on: ['preempted'], do: BY_SUPERVISOR }],
        more: { can: { requeue_in_place: 'partly' } },
        warnings: ['policy.rules[0].do.requeue: requeue_in_place is only "partly" here'],
      },
    }),
  )('%s', (_, row) => judged(row));

  test('requeue with an s3:// root that nodes may not reach', () => {
    const spec = written({ checkpoint: { root: 's3://bucket/runs' }, policy: policy([{ on: ['preempted'], do: BY_SUPERVISOR }]) });
    expect(said(planned({ spec, can: { checkpoint_files: 'unknown' } }).refusals)).toEqual([
      'policy.rules[0].do.requeue: nobody can resume the next run from an s3:// root: checkpoint_files is "unknown" here; use relaunch',
    ]);
    expect(planned({ spec }).refusals).toEqual([]);
  });
});

describe('clusters that requeue by exit code (C026)', () => {
  const more = { facts: { requeueExitCodes: [88, 89] } };
  test.each(
    table({
      'a rule on that very code': {
        rules: [{ on: ['exited'], when: { exitCode: [3, 88] }, do: RELAUNCH }],
        more,
        refusals: ['policy.rules[0].when.exitCode: two enforcers: the cluster itself requeues after exit code 88; leave it out'],
      },
      'a rule on other codes': { rules: [{ on: ['exited'], when: { exitCode: 3 }, do: RELAUNCH }], more },
      'a rule on every exit': {
        rules: [{ on: ['application'], do: RELAUNCH }],
        more,
        warnings: ['policy.rules[0].on: the cluster itself requeues after exit code 88, 89'],
      },
      'no rule at all': {
        rules: [],
        more,
        warnings: ['policy: the cluster itself requeues after exit code 88, 89, whatever the policy says'],
      },
      'our reserved code': {
        rules: [{ on: ['exited'], when: { exitCode: 3 }, do: STOP }],
        more: { facts: { requeueExitCodes: [79] } },
        refusals: ['cluster: it requeues jobs that exit with 79, by which a guard refuses to start; take it off that list'],
      },
    }),
  )('%s', (_, row) => judged(row));
});
