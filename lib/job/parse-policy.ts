/**
 * Reads `policy`: recovery rules as users write them, durations and memory as text, into the form the record keeps (contract §5).
 * Guards: `unmatched` and `limits.attempts` have no default guess; every cause, class and answer is a known name.
 * What a rule can do on one cluster is the plan's question (plan.ts), not this file's.
 */
import { CAUSE_CLASSES, CAUSE_NAMES } from './cause.ts';
import { duration, memory } from './parse-quantity.ts';
import {
  checked,
  choice,
  factor,
  isObject,
  listOf,
  object,
  oneOrMany,
  optional,
  type Read,
  required,
  text,
  unique,
  unknownSays,
  whole,
  withDefault,
} from './parse-value.ts';
import { type Backoff, type Policy, RULE_ANSWERS, type Rule } from './policy.ts';
import { childPath, kindOf, refuse } from './refusal.ts';
import { TIMING } from './timing.ts';

export const MOST_RULES = 32;
export const MOST_ATTEMPTS = 1000;
export const MESSAGE_CHARACTERS = 200;
export const LONGEST_QUESTION_SECONDS = 30 * 86_400;
/** Where memory ran out, as the cause table says it. */
export const SCOPES = ['job', 'step', 'container', 'child', 'node'] as const;
const MATCHES = ['any', ...CAUSE_CLASSES, ...CAUSE_NAMES] as const;
const ACTIONS = ['relaunch', 'requeue', 'escalate', 'stop'] as const;

const uses = whole(1, MOST_ATTEMPTS);

const backoffForm = object({
  initial: withDefault(duration(undefined, 'zero_allowed'), () => TIMING.backoffSeconds as number),
  factor: withDefault(factor({ from: 1, most: 10 }), () => TIMING.backoffFactor as number),
  max: optional(duration()),
});
const backoff: Read<Backoff> = checked(backoffForm, ({ initial, factor, max }, path, faults) => {
  // A first wait above the default most raises it; only a most that was written can contradict.
  const most = max ?? Math.max(TIMING.backoffMostSeconds, initial);
  if (most < initial) return refuse(faults, childPath(path, 'max'), 'conflict', 'is shorter than initial; make it at least as long');
  return { initialSeconds: initial, factor, maxSeconds: most };
});
const defaultBackoff = (): Backoff => ({
  initialSeconds: TIMING.backoffSeconds,
  factor: TIMING.backoffFactor,
  maxSeconds: TIMING.backoffMostSeconds,
});

const by = required(factor({ above: 1, most: 10 }));
const scaleForm = object({
  memoryPerNode: optional(object({ by, upTo: required(memory) })),
  timeLimit: optional(object({ by, upTo: required(duration()) })),
});
const scale = checked(scaleForm, ({ memoryPerNode, timeLimit }, path, faults) => {
  if (!memoryPerNode && !timeLimit) return refuse(faults, path, 'missing', 'needs memoryPerNode or timeLimit; or leave scale out');
  return {
    ...(memoryPerNode && { memoryPerNode: { by: memoryPerNode.by, upToMi: memoryPerNode.upTo } }),
    ...(timeLimit && { timeLimit: { by: timeLimit.by, upToSeconds: timeLimit.upTo } }),
  };
});

const relaunch = object(
  {
    max: required(uses),
    backoff: withDefault(backoff, defaultBackoff),
    // No default: whether work that was saved may be thrown away is the user's word, never a guess.
    from: required(choice(['checkpoint', 'scratch'] as const, 'start'), 'checkpoint or scratch'),
    excludeNodes: optional(object({ max: withDefault(whole(1, 64), () => 8) })),
    scale: optional(scale),
  },
  { onCluster: 'moving to another cluster is not possible yet; leave it out' },
);

const answers = unique(listOf(choice(RULE_ANSWERS, 'answer'), 16));
const escalateForm = object({
  options: required(answers),
  expiresAfter: withDefault(duration(LONGEST_QUESTION_SECONDS), () => TIMING.questionSeconds as number),
  onExpiry: required(choice(RULE_ANSWERS, 'answer'), 'one of the options'),
});
const escalate = checked(escalateForm, ({ options, expiresAfter, onExpiry }, path, faults) => {
  if (!options.includes(onExpiry))
    return refuse(
      faults,
      childPath(path, 'onExpiry'),
      'conflict',
      `"${onExpiry}" is not among options; add it there or choose one of them`,
    );
  return { options, expiresAfterSeconds: expiresAfter, onExpiry };
});

const actionForm = object({
  relaunch: optional(relaunch),
  requeue: optional(
    object({ max: required(uses), by: required(choice(['scheduler', 'supervisor'] as const, 'enforcer'), 'scheduler or supervisor') }),
  ),
  escalate: optional(escalate),
  stop: optional(object({})),
});
/** Exactly one action; counted before its contents are read, so that a faulty one still counts. */
const action: Read<Rule['do']> = (value, path, faults) => {
  if (isObject(value)) {
    const named = ACTIONS.filter((name) => Object.hasOwn(value, name));
    if (named.length > 1) refuse(faults, path, 'conflict', `has ${named.join(' and ')}; keep one action per rule`);
    else if (named.length === 0 && Object.keys(value).length === 0)
      refuse(faults, path, 'missing', `needs one action: ${ACTIONS.join(', ')}`);
  } else if (typeof value === 'string') {
    const fix = value === 'stop' ? 'write {"stop": {}}' : unknownSays(value, ACTIONS, 'action');
    return refuse(faults, path, 'wrong_type', `is text; write an object with one action; ${fix}`);
  }
  const before = faults.met;
  const given = actionForm(value, path, faults);
  if (!given || faults.met !== before) return undefined;
  if (given.relaunch) return { relaunch: given.relaunch };
  if (given.requeue) return { requeue: given.requeue };
  if (given.escalate) return { escalate: given.escalate };
  return given.stop && { stop: {} };
};

const whenForm = object({
  exitCode: optional(oneOrMany(whole(0, 255), 256)),
  signal: optional(oneOrMany(whole(1, 64), 64)),
  scope: optional(oneOrMany(choice(SCOPES, 'scope'), SCOPES.length)),
  message: optional(text({ most: MESSAGE_CHARACTERS })),
});
const when: Read<NonNullable<Rule['when']>> = checked(whenForm, (given, path, faults) =>
  Object.keys(given).length > 0 ? given : refuse(faults, path, 'missing', 'has no condition; add one or leave when out'),
);

const on: Read<Rule['on']> = (value, path, faults) => {
  if (typeof value === 'string')
    return refuse(faults, path, 'wrong_type', `is text; write a list: ["${MATCHES.find((name) => name === value) ?? 'any'}"]`);
  return unique(listOf(choice(MATCHES, 'cause or class'), MATCHES.length))(value, path, faults);
};

const rule: Read<Rule> = object({ on: required(on), when: optional(when), do: required(action) });

const limitsForm = object({
  attempts: required(whole(1, MOST_ATTEMPTS), 'a whole number from 1 to 1,000'),
  wallClock: optional(duration()),
  attemptsWithoutProgress: optional(uses),
  stalledAfter: optional(duration()),
});
const limits: Read<Policy['limits']> = checked(limitsForm, ({ attempts, wallClock, attemptsWithoutProgress, stalledAfter }) => ({
  attempts,
  ...(wallClock !== undefined && { wallClockSeconds: wallClock }),
  ...(attemptsWithoutProgress !== undefined && { attemptsWithoutProgress }),
  ...(stalledAfter !== undefined && { stalledAfterSeconds: stalledAfter }),
}));

const policyForm: Read<Policy> = object({
  rules: withDefault(listOf(rule, MOST_RULES, 0), () => [] as Rule[]),
  unmatched: required(
    choice(['escalate', 'stop', 'relaunch_once'] as const, 'answer to an unmatched end'),
    'escalate, stop or relaunch_once',
  ),
  limits: required(limits, '{"attempts": ...}'),
});

export const policy: Read<Policy> = (value, path, faults) => {
  if (Array.isArray(value))
    return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write {"rules": [...], "unmatched": ..., "limits": ...}`);
  return policyForm(value, path, faults);
};
