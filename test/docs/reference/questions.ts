/** Questions and answers, as docs/reference/escalations.md prints them. */
import { readFileSync } from 'node:fs';
import { CLUSTER_ANSWERS, CLUSTER_QUESTION_KINDS, type ClusterQuestionKind } from '../../../lib/job/cluster-event.ts';
import { ANSWERS, type Answer, QUESTION_KINDS, type QuestionKind } from '../../../lib/job/event.ts';
import { RULE_ANSWERS } from '../../../lib/job/policy.ts';
import { KINDS } from '../../../lib/job/question.ts';
import { TIMING } from '../../../lib/job/timing.ts';
import { code, codes, duration, table } from './markdown.ts';

const RAISED: Readonly<Record<QuestionKind, string>> = {
  unmatched_outcome: 'no rule matches, and `unmatched` is `escalate`',
  limit_reached: 'a rule’s `max` or a limit is used up, and `unmatched` is `escalate`',
  rule_asks: 'a rule says so',
  outcome_unknown:
    'after an outcome of class evidence: no rule matches it (`unmatched: escalate`), a rule would stop, or a limit is used up (`unmatched: relaunch_once`); or three submissions in a row never landed. Never with `unmatched: stop`',
  duplicate_attempts: `a second object of an attempt was seen running, or could not be discarded within ${duration(TIMING.undiscardedSeconds)}`,
  stuck: 'something takes longer than its bound: see [stuck](#stuck)',
  foreign_change: 'others held, released, edited or requeued an attempt, or its object is alive after its end',
};

export const kinds = (): string =>
  table(
    ['kind', 'blocks', 'answers, the default first', 'raised when'],
    QUESTION_KINDS.map((kind) => {
      const { blocks, options } = KINDS[kind];
      return [code(kind), blocks ? 'yes' : 'no', kind === 'rule_asks' ? 'the rule’s own' : codes(options), RAISED[kind]];
    }),
  );

export const ruleAnswers = (): string => codes(RULE_ANSWERS);

const OF_CLUSTER: Readonly<Record<ClusterQuestionKind, string>> = {
  cluster_unreachable: `it has not answered, or has been blocked, for ${duration(TIMING.clusterUnreachableSeconds)}; of a changed host key at once. Once per outage, whatever the number of jobs`,
  capability_lost: 'a probe says `no` to what the last one did not, and an active job relies on it',
};

export const clusterKinds = (): string =>
  table(
    ['kind', 'answers, the default first', 'raised when'],
    CLUSTER_QUESTION_KINDS.map((kind) => [code(kind), codes(CLUSTER_ANSWERS), OF_CLUSTER[kind]]),
  );

const EFFECT: Readonly<Record<Answer, string>> = {
  stop: 'the job ends with the last outcome; about a second object, what lives is cancelled first',
  relaunch: 'one more attempt, from the latest checkpoint',
  relaunch_from_scratch: 'one more attempt, from nothing: a new branch begins',
  accept_success: 'the job ends as `succeeded`; the attempt’s own outcome stays what it was',
  wait: `nothing happens; what still lasts is asked again ${duration(TIMING.questionSeconds)} later`,
  cancel: 'the job is cancelled, by whoever answered',
  block_submissions: 'nothing new is submitted to the cluster until it answers again or a preflight lifts the block',
};

export const answers = (): string =>
  table(
    ['answer', 'what it does'],
    ANSWERS.map((answer) => [code(answer), EFFECT[answer]]),
  );

export const stuck = (): string =>
  table(
    ['what lasts', 'asked after'],
    [
      ['it was cancelled and has not ended', duration(TIMING.stuckCancellingSeconds)],
      ['it is `ending`', duration(TIMING.stuckEndingSeconds)],
      ['it was admitted and does not start', duration(TIMING.stuckAdmittedSeconds)],
      ['it is `queued`, in the pending group `held` or `blocked`', duration(TIMING.stuckHeldSeconds)],
    ],
  );

/** What `escalation_withdrawn` says, and of which questions. */
const MOOT: Readonly<Record<string, string>> = {
  'the job ended': 'every kind',
  'a cancel was requested': 'every kind but `stuck` about a cancel',
  'the attempt ended': '`stuck`, `foreign_change`',
  'the attempt is active again': 'the kinds about an end, `foreign_change`',
  'a newer observation replaced the outcome': 'the kinds about an end',
  'the attempt is being cancelled': '`stuck`, `foreign_change`',
  'the attempt moved on': '`stuck`',
  'the second object is gone': '`duplicate_attempts`',
  'it is gone': '`foreign_change` about an object that was alive after its end',
  'the hold is over': '`foreign_change` about a hold',
  'the cluster answers again': '`cluster_unreachable`',
  'a probe found it again': '`capability_lost`',
};

export const withdrawals = (): string =>
  table(
    ['`moot` says', 'of'],
    [...Object.entries(MOOT), ['the job’s deadline, or its wall clock, has passed', 'every kind but `stuck` about a cancel']],
  );

/** Sentences of the code that make a question moot and are not in the table, or the other way round. */
export const untoldMoot = (): string[] => {
  const text = ['moot', 'cluster-command']
    .map((file) => readFileSync(new URL(`../../../lib/job/${file}.ts`, import.meta.url), 'utf8'))
    .join('\n');
  const judges = /const \w*[mM]oot\w*(?: =|By =)[\s\S]*?\n\};\n/g;
  const said = [...text.matchAll(judges)].flatMap(([body]) => [...body.matchAll(/'([a-z' ]{6,})'/g)].map(([, words]) => words!));
  const sentences = new Set(said.filter((words) => words.includes(' ')));
  return [...[...sentences].filter((words) => !(words in MOOT)), ...Object.keys(MOOT).filter((words) => !sentences.has(words))];
};
