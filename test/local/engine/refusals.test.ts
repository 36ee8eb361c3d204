/** Whatever the engine does not implement is refused when the definition is loaded, naming the place. */

import { describe, expect, test } from 'vitest';
import { loadMachine } from '../../../lib/local/engine/load.ts';
import { type Fields, INVOKE, machineOf, task, wait } from './world.ts';

const pass = (more: Fields = {}): Fields => ({ Type: 'Pass', End: true, ...more });
const one = (state: Fields, more: Fields = {}): Fields => machineOf({ A: state }, more);
const retry = (more: Fields): Fields => one(task({ Retry: [{ ErrorEquals: ['X'], ...more }] }));
const caught = (more: Fields): Fields => machineOf({ A: task({ Catch: [{ ErrorEquals: ['X'], Next: 'B', ...more }] }), B: pass() });
const output = (text: string): Fields => one(pass({ Output: text }));
const rule = (more: Fields): Fields => machineOf({ A: { Type: 'Choice', Choices: [{ Condition: true, Next: 'B', ...more }] }, B: pass() });
const args = (more: Fields): Fields => one(task({ Arguments: { FunctionName: 'f', Payload: {}, ...more } }));

/** A text that a deployment replaces. */
const hole = (name: string): string => ['$', '{', name, '}'].join('');

type Row = readonly [what: string, definition: Fields, path: string];

const machine: Row[] = [
  ['JSONPath machine', { ...one(pass()), QueryLanguage: 'JSONPath' }, '$.QueryLanguage'],
  ['no query language', { ...one(pass()), QueryLanguage: undefined }, '$.QueryLanguage'],
  ['unknown field', one(pass(), { Flavour: 1 }), '$.Flavour'],
  ['unknown version', one(pass(), { Version: '2.0' }), '$.Version'],
  ['dangling start', one(pass(), { StartAt: 'Z' }), '$.StartAt'],
  ['no start', { ...one(pass()), StartAt: undefined }, '$.StartAt'],
  ['no states', { QueryLanguage: 'JSONata', StartAt: 'A' }, '$.States'],
  ['limit of 0 s', one(pass(), { TimeoutSeconds: 0 }), '$.TimeoutSeconds'],
  ['limit by expression', one(pass(), { TimeoutSeconds: '{% 1 %}' }), '$.TimeoutSeconds'],
  ['long name', machineOf({ ['a'.repeat(81)]: pass() }), `$.States.${'a'.repeat(81)}`],
  ['unreplaced text', args({ FunctionName: hole('Nobody') }), '$.States.A.Arguments.FunctionName'],
  ['unreplaced text deep inside', args({ Payload: { a: [{ b: `x ${hole('Nobody')} y` }] } }), '$.States.A.Arguments.Payload.a[0].b'],
  ['unreplaced name of a field', args({ Payload: { [hole('Nobody')]: 1 } }), `$.States.A.Arguments.Payload.${hole('Nobody')}`],
];

const state: Row[] = [
  ['Map', one({ Type: 'Map', End: true }), '$.States.A.Type'],
  ['Parallel', one({ Type: 'Parallel', End: true }), '$.States.A.Type'],
  ['no type', one({ End: true }), '$.States.A.Type'],
  ['null', machineOf({ A: null }), '$.States.A.Type'],
  ['JSONPath state', one(pass({ QueryLanguage: 'JSONPath' })), '$.States.A.QueryLanguage'],
  ['dangling Next', one(pass({ Next: 'Z', End: undefined })), '$.States.A.Next'],
  ['neither Next nor End', one({ Type: 'Pass' }), '$.States.A'],
  ['both', machineOf({ A: pass({ Next: 'B' }), B: pass() }), '$.States.A'],
  ['End false', one(pass({ End: false })), '$.States.A.End'],
  ...['InputPath', 'OutputPath', 'ResultPath', 'Parameters', 'ResultSelector', 'Result'].map(
    (field): Row => [field, one(pass({ [field]: '$' })), `$.States.A.${field}`],
  ),
  ['JSONPath in a template', one(pass({ Output: { 'a.$': '$.b' } })), '$.States.A.Output.a.$'],
  ['Next on Succeed', machineOf({ A: { Type: 'Succeed', Next: 'B' }, B: pass() }), '$.States.A.Next'],
  ['Retry on Pass', one(pass({ Retry: [] })), '$.States.A.Retry'],
  ['Wait without a time', one({ Type: 'Wait', End: true }), '$.States.A'],
  ['Wait with two', one({ Type: 'Wait', Seconds: 1, Timestamp: '2026-01-01T00:00:00Z', End: true }), '$.States.A'],
  ['negative Wait', one({ Type: 'Wait', Seconds: -1, End: true }), '$.States.A.Seconds'],
  ['CausePath', one({ Type: 'Fail', CausePath: '$' }), '$.States.A.CausePath'],
];

const choice: Row[] = [
  ['no rules', one({ Type: 'Choice', Choices: [] }), '$.States.A.Choices'],
  ['JSONPath comparison', rule({ Variable: '$.a', StringEquals: 'b' }), '$.States.A.Choices[0].Variable'],
  ['text as condition', rule({ Condition: 'true' }), '$.States.A.Choices[0].Condition'],
  ['no condition', rule({ Condition: undefined }), '$.States.A.Choices[0].Condition'],
  ['dangling rule', rule({ Next: 'Z' }), '$.States.A.Choices[0].Next'],
  ['dangling Default', machineOf({ A: { Type: 'Choice', Choices: [{ Condition: true, Next: 'A' }], Default: 'Z' } }), '$.States.A.Default'],
  [
    'Output beside Choices',
    machineOf({ A: { Type: 'Choice', Choices: [{ Condition: true, Next: 'A' }], Output: 1 } }),
    '$.States.A.Output',
  ],
];

const tasks: Row[] = [
  ...[
    'lambda:invoke.sync',
    'states:startExecution.sync:2',
    'states:startExecution.waitForTaskToken',
    'sqs:sendMessage',
    'aws-sdk:sfn:startExecution',
  ].map((resource): Row => [resource, one(task({ Resource: `arn:aws:states:::${resource}` })), '$.States.A.Resource']),
  ['plain function', one(task({ Resource: 'arn:aws:lambda:us-east-1:000000000000:function:f' })), '$.States.A.Resource'],
  ['no Arguments', one(task({ Arguments: undefined })), '$.States.A.Arguments'],
  ['Arguments as expression', one(task({ Arguments: '{% $states.input %}' })), '$.States.A.Arguments'],
  ['no Payload', one(task({ Arguments: { FunctionName: 'f' } })), '$.States.A.Arguments'],
  ['InvocationType', args({ InvocationType: 'Event' }), '$.States.A.Arguments.InvocationType'],
  ['unknown function', args({ FunctionName: 'g' }), '$.States.A.Arguments.FunctionName'],
  ['function by expression', args({ FunctionName: "{% 'f' %}" }), '$.States.A.Arguments.FunctionName'],
  ['limit of 0 s', one(task({ TimeoutSeconds: 0 })), '$.States.A.TimeoutSeconds'],
  ['fraction of a second', one(task({ TimeoutSeconds: 1.5 })), '$.States.A.TimeoutSeconds'],
  ['limit as text', one(task({ TimeoutSeconds: '60' })), '$.States.A.TimeoutSeconds'],
  ['limit by JSONPath', one(task({ TimeoutSecondsPath: '$.t' })), '$.States.A.TimeoutSecondsPath'],
  ['heartbeat as long as the limit', one(task({ TimeoutSeconds: 60, HeartbeatSeconds: 60 })), '$.States.A.HeartbeatSeconds'],
  ['heartbeat of 0 s', one(task({ HeartbeatSeconds: 0 })), '$.States.A.HeartbeatSeconds'],
  ['Credentials', one(task({ Credentials: {} })), '$.States.A.Credentials'],
  [
    'startExecution without Name',
    one(task({ Resource: 'arn:aws:states:::states:startExecution', Arguments: { StateMachineArn: 'm', Input: {} } })),
    '$.States.A.Arguments',
  ],
];

const handling: Row[] = [
  ['empty Retry', one(task({ Retry: [] })), '$.States.A.Retry'],
  ['no ErrorEquals', one(task({ Retry: [{ MaxAttempts: 1 }] })), '$.States.A.Retry[0].ErrorEquals'],
  ['unknown field', retry({ Patience: 1 }), '$.States.A.Retry[0].Patience'],
  ['interval of 0', retry({ IntervalSeconds: 0 }), '$.States.A.Retry[0].IntervalSeconds'],
  ['shrinking delay', retry({ BackoffRate: 0.5 }), '$.States.A.Retry[0].BackoffRate'],
  ['negative attempts', retry({ MaxAttempts: -1 }), '$.States.A.Retry[0].MaxAttempts'],
  ['cap below the interval', retry({ IntervalSeconds: 5, MaxDelaySeconds: 5 }), '$.States.A.Retry[0].MaxDelaySeconds'],
  ['half jitter', retry({ JitterStrategy: 'HALF' }), '$.States.A.Retry[0].JitterStrategy'],
  ['States.ALL with another', retry({ ErrorEquals: ['States.ALL', 'X'] }), '$.States.A.Retry[0].ErrorEquals'],
  [
    'States.ALL before another',
    one(task({ Retry: [{ ErrorEquals: ['States.ALL'] }, { ErrorEquals: ['X'] }] })),
    '$.States.A.Retry[0].ErrorEquals',
  ],
  ['dangling Catch', caught({ Next: 'Z' }), '$.States.A.Catch[0].Next'],
  ['ResultPath in Catch', caught({ ResultPath: '$.e' }), '$.States.A.Catch[0].ResultPath'],
  ['Assign of a list', one(pass({ Assign: [] })), '$.States.A.Assign'],
  ['no name of a variable', one(pass({ Assign: { 'a-b': 1 } })), '$.States.A.Assign.a-b'],
  ['variable called states', caught({ Assign: { states: 1 } }), '$.States.A.Catch[0].Assign.states'],
  ['variable that hides a function', rule({ Assign: { string: 1 } }), '$.States.A.Choices[0].Assign.string'],
];

const expressions: Row[] = [
  ...[
    '{% 1',
    '1 %}',
    ' {% 1 %}',
    '{%}',
    '{% %}',
    '{% 1 + %}',
    '{% $ %}',
    '{% $$ %}',
    '{% loops %}',
    '{% $nobody %}',
    '{% $states %}',
    '{% $states.inputs %}',
    '{% $states.result %}',
    '{% $states.errorOutput %}',
    '{% $states.context.Task.Token %}',
    '{% $states.context.Execution.RoleArn %}',
    '{% $states.context.Execution.Id.x %}',
    '{% $states.context.State.retrycount %}',
    '{% $states.context.Map %}',
    '{% $states.input[0] %}',
    '{% $states.input.* %}',
    '{% $states.input.** %}',
    '{% $states.input.a[] %}',
    '{% $states.input^(a) %}',
    '{% $states.input{a: b} %}',
    '{% $states.input.(a) %}',
    '{% $states.input@$v.a %}',
    '{% $states.input#$i %}',
    '{% $states.input.a.% %}',
    '{% $x := 1 %}',
    '{% ($x := 1; $x) %}',
    '{% function($x){ $x } %}',
    '{% $map($states.input, $string) %}',
    '{% $states.input ~> $string %}',
    '{% $states.input ~> |a|{}| %}',
    '{% /a/ %}',
    '{% [1..3] %}',
    '{% $states.input ? 1 %}',
    '{% $now() %}',
    '{% $millis() %}',
    '{% $random() %}',
    '{% $uuid() %}',
    '{% $eval("1") %}',
    '{% $string %}',
  ].map((text): Row => [text, output(text), '$.States.A.Output']),
  ['deep inside', one(pass({ Output: { a: [1, { b: '{% $now() %}' }] } })), '$.States.A.Output.a[1].b'],
  ['result in Arguments', args({ Payload: '{% $states.result %}' }), '$.States.A.Arguments.Payload'],
  ['token where none is made', args({ Payload: '{% $states.context.Task.Token %}' }), '$.States.A.Arguments.Payload'],
  ['token in Output', one(wait({ Output: '{% $states.context.Task.Token %}' })), '$.States.A.Output'],
  ['error in Output', one(task({ Output: '{% $states.errorOutput %}' })), '$.States.A.Output'],
  ['result in Catch', caught({ Output: '{% $states.result %}' }), '$.States.A.Catch[0].Output'],
  ['result in a limit', one(task({ TimeoutSeconds: '{% $states.result %}' })), '$.States.A.TimeoutSeconds'],
  ['unknown variable in a condition', rule({ Condition: '{% $nobody = 1 %}' }), '$.States.A.Choices[0].Condition'],
  ['in a Wait', one({ Type: 'Wait', Seconds: '{% $now() %}', End: true }), '$.States.A.Seconds'],
  ['in a Fail', one({ Type: 'Fail', Error: '{% $now() %}' }), '$.States.A.Error'],
];

describe.each(Object.entries({ machine, state, choice, tasks, handling, expressions }))('refused at load: %s', (_group, rows) => {
  test.each(rows)('%s', (_what, definition, path) => {
    expect(() => loadMachine(definition, {}, new Set(['f']))).toThrow(expect.objectContaining({ name: 'MachineRefused', path }));
  });
});

describe('accepted', () => {
  test('substitutions replace whole and partial texts', () => {
    const definition = one(task({ Arguments: { FunctionName: hole('F'), Payload: `x ${hole('F')} y` } }));
    expect(() => loadMachine(definition, { F: 'f' }, new Set(['f']))).not.toThrow();
    expect(JSON.stringify(definition)).toContain(hole('F'));
  });

  test('the definition as text', () => {
    expect(loadMachine(JSON.stringify(one(pass()))).startAt).toBe('A');
  });

  test.each([
    '{% $states.input.a.b + 1 %}',
    "{% $states.context.Execution.Input.job & '-' & $string(1) %}",
    '{% $states.input.a = 1 and $not($exists($states.input.b)) or false %}',
    '{% ($states.input.a - -1) * 2 / 4 % 3 %}',
    "{% $states.input.a > 1 ? 'x' : null %}",
    '{% {"a": [1, $states.input.`b c`]} %}',
    '{% $states.context.Execution.Input.anything.at.all %}',
  ])('%s', (text) => {
    expect(() => loadMachine(output(text))).not.toThrow();
  });

  test('an error says where and what', () => {
    expect(() => loadMachine(one(task({ Resource: `${INVOKE}.sync` })))).toThrow(
      '$.States.A.Resource: arn:aws:states:::lambda:invoke.sync is not implemented here',
    );
  });
});
