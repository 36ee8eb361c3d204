/**
 * The counterexamples that model checking found before there was code (each a rule left out, and a trace that shows why it is there), and
 * the mutant of dispatch that leaves out the same rule: the simulator must find it again, with the real code.
 */
export interface Counterexample {
  readonly model: 'wake' | 'selective' | 'generation' | 'ask' | 'launch' | 'poll' | 'ckpt';
  readonly trace: string;
  /** Names of mutants. Empty: none, and `why`. */
  readonly mutants: readonly string[];
  readonly why?: string;
}

const of = (model: Counterexample['model'], trace: string, ...mutants: readonly string[]): Counterexample => ({ model, trace, mutants });
const none = (model: Counterexample['model'], trace: string, why: string): Counterexample => ({ model, trace, mutants: [], why });

const SHELL = 'shell code on the compute node; `test/checkpoint/publisher*.test.ts` run the real file under three shells';

export const COUNTEREXAMPLES: readonly Counterexample[] = [
  of('wake', 'W1 a reader repairs the head and nobody signals', 'repair-without-wake'),
  of('wake', 'W2 a late or retried Park overwrites the living token', 'park-out-of-order'),
  of('wake', 'W2 a Park of an older generation overwrites the living token', 'older-generation-parks'),
  of('wake', 'W3 the token is gone with the writer that took it, or with its answer', 'token-not-kept-owed', 'owed-wake-forgotten'),
  of('wake', 'W4 a dead token is put back, or a newer one removed blindly', 'owed-cleared-blindly'),
  of('wake', 'Park without a condition', 'park-without-condition'),
  of('wake', 'Advance does not repair the head', 'head-left-behind'),
  of('selective', 'W5 a token stored between reading and moving the head', 'token-ignored'),
  of('selective', 'W6 a writer died after its append; sweeps look at heads only', 'dead-writer-unseen'),
  of('selective', 'the head first, the token in an update of its own', 'head-then-token'),
  of('selective', 'an earlier moment is not judged', 'earlier-moment-missed'),
  of('selective', 'commits that bring work wake nobody', 'token-never-taken'),
  of('selective', 'E4 work comes up behind an open question and its writer dies', 'question-unswept'),
  none(
    'selective',
    'E5 a slow writer takes a token that already knew its commit',
    'costs an early wake and breaks nothing; `test/contract/core` counts transitions',
  ),
  none(
    'selective',
    'the judgement of the last event, or of the version before, instead of the fold',
    'the code has no such place: `mustWake` is handed the fold and nothing else',
  ),
  none(
    'selective',
    'the comparison with the head under skewed clocks',
    'the code compares with the token that it read, never with the head’s moment',
  ),
  of('generation', 'G1 a successor died before its first step', 'supervisor-unmissed'),
  of('generation', 'G2 the first event exists, the head does not', 'event-before-head', 'birth-given-up'),
  of('ask', 'E1 the closer of a question dies, or answers before the token is parked', 'question-never-woken', 'question-unswept'),
  of('ask', 'an answer without a condition', 'answer-without-condition'),
  of('ask', 'E2 an open question hides work', 'question-never-woken'),
  none(
    'ask',
    'E3 an answer accepted by token dies with its execution',
    'accepted by design: `escalation.closed` is the receipt (protocols §2.5)',
  ),
  of('launch', 'L1 a second object under the identity does the work', 'mark-without-id'),
  of('launch', 'L2 an ended object runs beside its successor', 'released-beside-another', 'look-before-fence'),
  of('launch', 'L2 an ended object runs after the end of its job', 'ended-without-stop'),
  of('launch', 'L3 a submission lands after a cancel ended the job', 'ended-unsettled'),
  of('launch', 'L4 a second sender’s submission lands', 'second-sender'),
  of('launch', 'L7 a release after a cancel', 'released-though-over'),
  of('launch', 'no landing bound', 'no-landing-bound'),
  of('launch', 'sent again without a look', 'uncertain-resent'),
  of('launch', 'an unreachable source is believed', 'absence-believed', 'outage-believed'),
  none(
    'launch',
    'a sweep that reads the log before it looks',
    'a poll has its look before it reads anything of a job: there is no other order to write down',
  ),
  none(
    'launch',
    'what a look found is judged by the record before the look',
    'the commit asks once more whether this release is still next, and a receipt never changes: the order cannot matter',
  ),
  none(
    'launch',
    'a refusal committed by a sender that is not the only one',
    'holds as long as there is one sender, which `second-sender` takes away',
  ),
  of('poll', 'P1 an older observation is committed over a newer one', 'old-look-believed'),
  of('ckpt', 'K1 the order of training steps alone', 'resumed-by-step'),
  of('ckpt', 'K1 a script that starts over outranks its predecessors; K2 stale runs lead back', 'below-the-point', 'late-resumed-from'),
  of('ckpt', 'K3 announced by the API alone', 'report-resumed-from'),
  of('ckpt', 'the newest directory', 'resumed-by-step'),
  none('ckpt', 'K3, announced before it is complete, or by the API first', SHELL),
  none('ckpt', 'K4 a requeued run begins at its attempt’s old point', `the wrapper resolves on the node: ${SHELL}`),
  none(
    'ckpt',
    'the collector counts what can never be picked',
    'worlds have too few saves that can never be picked: `test/checkpoint/collect.test.ts` draws histories for it',
  ),
];
