/**
 * Mutants of the source: a line of dispatch changed, named after what goes missing, by the rules of the protocols in their order. A rule
 * is taken out where it is used and not where it is defined, wherever the simulator judges by the same definition.
 */
import type { SourceChange } from './mutate.ts';

export interface SourceMutant {
  readonly name: string;
  /** The rule that is missing. */
  readonly without: string;
  readonly source: SourceChange;
}

const of = (
  name: string,
  without: string,
  file: string,
  from: string,
  to: string,
  ...more: readonly (readonly [string, string])[]
): SourceMutant => ({
  name,
  without,
  source: { file, lines: [[from, to], ...more] },
});

const COMMIT = 'lib/app/commit.ts';
const WAKE = 'lib/app/wake.ts';
const ADVANCE = 'lib/app/advance.ts';
const RECONCILE = 'lib/app/reconcile.ts';
const SUBMIT = 'lib/app/step/submit.ts';
const SETTLE = 'lib/app/step/settle.ts';
const RELEASE = 'lib/app/step/release.ts';
const FINISH = 'lib/app/step/finish.ts';
const SWEEP = 'lib/app/sweep.ts';
const DIGEST = 'lib/app/digest.ts';
const NEXT = 'lib/job/next-step.ts';
const RECOVERY = 'lib/job/recovery.ts';
const LIMIT = 'lib/job/limit.ts';
const ATTRIBUTION = 'lib/job/attribution.ts';

export const SOURCE_MUTANTS: readonly SourceMutant[] = [
  of(
    'conflict-believed',
    'P1.2: a conflict drops the decision',
    COMMIT,
    "if ((await ports.store.append(made)) === 'appended') {",
    'await ports.store.append(made);\n    {',
  ),
  of(
    'release-unintended',
    'P1.3: the intention to release is committed before the release',
    RELEASE,
    'if (attemptOf(view, n).releaseIntendedAt === undefined) {',
    'if (attemptOf(view, n).n < 0) {',
  ),
  of(
    'cancel-unintended',
    'P1.3: the intention to cancel is committed before the cancel',
    'lib/app/step/cancel.ts',
    '  if (!attempt.cancel) {\n',
    '  if (!attempt.cancel) {\n    const bound = attempt.receipt;\n    if (bound) await withSession(ports, attempt.cluster, attempt.login, (session) => session.cancel(bound));\n',
  ),
  of(
    'birth-given-up',
    'P1.5: a birth is removed only without a first event',
    RECONCILE,
    'if (head.version === 0 && !next) return unfinishedBirth',
    'if (head.version === 0) return unfinishedBirth',
  ),
  of(
    'event-before-head',
    'P1.5: the head comes before the first event',
    'lib/app/submit-job.ts',
    'const born = await ports.store.createHead(headOf(ports, submitted, claim.job));',
    "const born = 'created' as string;",
  ),
  of(
    'head-left-behind',
    'P2.1: Advance brings the head to the version it decided from',
    ADVANCE,
    '  if (view) await publish(ports, view);\n',
    '',
  ),
  of(
    'token-never-taken',
    'P2.3: a writer takes the token of a supervisor that must look earlier',
    WAKE,
    'const take = parked !== undefined && mustWake(view, parked, at);',
    'const take = false as boolean;',
  ),
  of(
    'earlier-moment-missed',
    'P2.3: a supervisor promised a later moment than the record now awaits is woken',
    WAKE,
    'const take = parked !== undefined && mustWake(view, parked, at);',
    "const take = parked !== undefined && nextStep(view, at).do !== 'await';",
  ),
  of('head-then-token', 'P2.3: the same update moves the head and takes the token', WAKE, '      take,\n', '      take: false,\n', [
    "if (take) await signal(ports, view.job, '', parked.token);",
    "if (take && (await ports.store.takeWake(view.job, '', parked.token, at, view.version)) === 'taken') await signal(ports, view.job, '', parked.token);",
  ]),
  of(
    'repair-without-wake',
    'P2.3: whoever repairs a lagging head is a writer, over however many versions',
    WAKE,
    'const take = parked !== undefined && mustWake(view, parked, at);',
    'const take = parked !== undefined && head?.version === view.version - 1 && mustWake(view, parked, at);',
  ),
  of(
    'question-never-woken',
    'P2.5: the token of a question that no longer holds the job back is taken',
    WAKE,
    "  if (wake?.state !== 'parked' || wake.version >= view.version || !mustWake(view, wake, now)) return false;",
    "  if (wake?.state !== 'parked' || now > 0) return false;",
  ),
  of(
    'question-unswept',
    'P2.5: what a dead closer left parked is found by reconcile (E1, E4)',
    RECONCILE,
    '  if (view) await (next ? publish(ports, view) : wakeQuestion(ports, view));\n',
    '  if (view && next) await publish(ports, view);\n',
    [
      '  if (left && (await wakeQuestion(ports, left))) return',
      '  if (left && now.version < 0 && (await wakeQuestion(ports, left))) return',
    ],
  ),
  of(
    'nonsense-answered',
    'P2.5: an invalid answer by token is ignored',
    'lib/job/command.ts',
    'const choice = question.options.find((option) => option === command.answer);',
    'const choice = command.answer as Answer | undefined;',
  ),
  of(
    'token-in-the-log',
    'P2.6: a token appears in no log',
    WAKE,
    "ports.log('warn', 'wake stays owed', { job, slot, code: error.code });",
    "ports.log('warn', 'wake stays owed', { job, slot, token, code: error.code });",
  ),
  of(
    'notified-unsent',
    'P2.7: `notified` moves only once the bus keeps the notices',
    'lib/app/notify.ts',
    'count: notices.length, code: error.code });\n    return false;',
    'count: notices.length, code: error.code });\n    return true;',
  ),
  of(
    'notices-unswept',
    'P2.7: polls and reconcile send what a dead writer did not',
    'lib/app/notify.ts',
    '  const jobs = await ports.store.listUnnotified(ports.now() - olderThanMs, limit);',
    '  const jobs: readonly string[] = [];\n  if (limit < 0) await ports.store.listUnnotified(olderThanMs, limit);',
  ),
  of(
    'supervisor-unmissed',
    'P2.8: reconcile replaces a silent supervisor',
    RECONCILE,
    '  if (always) return true;\n',
    '  if (always || now > 0) return always;\n',
  ),
  of(
    'asked-counts-as-silent',
    'P2.8: a supervisor that waits for an answer as it was promised is not replaced',
    RECONCILE,
    'isSilent(now, [now.wake, asked], ports.now(), always)',
    'isSilent(now, [now.wake], ports.now(), always)',
  ),
  of(
    'older-machine-kept',
    'P2.9: whoever supervises by an older machine goes on by the newer one',
    ADVANCE,
    '(tooLong || input.machine < MACHINE)',
    'tooLong',
  ),
  of(
    'sent-under-another’s-plan',
    'P3.1: only the committer of attempt_planned sends',
    SUBMIT,
    '  if (!planned.commitId) return done(planned);\n',
    "  if (!planned.commitId && lastAttempt(planned.view)?.state !== 'planned') return done(planned);\n",
  ),
  of(
    'sent-without-look',
    'P3.2: the identity is looked up before it is sent',
    SUBMIT,
    '  const found = await session.find(view.job);\n',
    "  const found = { kind: 'absent' } as Awaited<ReturnType<typeof session.find>>;\n",
  ),
  of(
    'uncertain-resent',
    'P3.4: only a certain "not now" allows another try',
    SUBMIT,
    "if (answer.kind === 'uncertain' && answer.sent === 'no') return",
    "if (answer.kind === 'uncertain') return",
  ),
  of(
    'deferral-ignored',
    'P3.4: not sent again before the moment that was named',
    NEXT,
    "at(attempt.deferred.notBefore, now, () => ({ do: 'submit', n: attempt.n }));",
    "at(0, now, () => ({ do: 'submit', n: attempt.n }));",
  ),
  of(
    'settled-early',
    'P3.5: absence counts only after the settle time, by both clocks',
    SETTLE,
    'found.clusterNow > attempt.clusterSettleAt && now > settledAt(attempt)',
    'now > attempt.plannedAt && found.clusterNow > 0',
  ),
  of(
    'settled-by-one-look',
    'P3.5: a second look, 30 s later, decides',
    SETTLE,
    'const firstAt = watch.settle?.commit === attempt.plannedCommit ? watch.settle.absentAt : undefined;',
    'const firstAt = 0 as number | undefined;',
  ),
  of(
    'absent-create-believed',
    'P3.5: on Kubernetes nothing is ever said never to land',
    SETTLE,
    "attempt.gate.mechanism === 'suspend'\n    ? createAgain",
    'attempt.n < 0 ? createAgain',
  ),
  of(
    'sweep-takes-the-bound',
    'P4.1: what the record wants is never swept',
    SWEEP,
    "if (isBoundTo(attempt, object)) return isSettled(view, attempt, now) ? 'discard' : 'leave';",
    "if (isBoundTo(attempt, object)) return now > 0 ? 'discard' : 'leave';",
  ),
  of(
    'sweep-takes-the-unsettled',
    'P4.1: an attempt that is planned or uncertain is left to whoever settles it',
    SWEEP,
    "if (!attempt || attempt.state === 'planned' || attempt.state === 'uncertain') return 'leave';",
    "if (!attempt) return 'leave';",
  ),
  of(
    'sweep-sleeps',
    'P4.1: orphans of our tag are swept',
    SWEEP,
    '  for (const object of doomed) {',
    '  for (const object of doomed.slice(doomed.length)) {',
  ),
  of(
    'released-beside-another',
    'P4.3: nothing is released while another object of the job is alive',
    RELEASE,
    '  if (others.length > 0) return recordOthers(ports, view, attempt, others);\n',
    '',
  ),
  of(
    'released-on-a-partial-look',
    'P4.3: only a complete look shows that nobody else is alive',
    RELEASE,
    "  if (found.kind === 'found' && !found.complete) return nothing(view, 'not every source answered: another object may be alive');\n",
    '',
  ),
  of(
    'look-before-fence',
    'P4.3: fence, then look',
    RELEASE,
    '  const mark = await session.fence(view.job, { n: attempt.n, schedulerId: receipt.schedulerId });\n',
    '  const early = await session.find(view.job);\n  const mark = await session.fence(view.job, { n: attempt.n, schedulerId: receipt.schedulerId });\n',
    ['  const found = await session.find(view.job);\n', '  const found = early;\n'],
  ),
  of(
    'released-though-over',
    'P4.4: no release is intended after a cancel',
    NEXT,
    'if (over || attempt.cancel || !attempt.receipt || blockingQuestion(view)) return NEVER;',
    'if (!attempt.receipt || blockingQuestion(view)) return NEVER;',
  ),
  of(
    'run-begun-unrecorded',
    'P4.6: a later run is recorded as begun before it is recorded as ended',
    DIGEST,
    '  if (run <= attempt.run) return [];',
    '  if (run >= 0) return [];',
  ),
  of(
    'old-look-believed',
    'P5.2: an observation older than the one recorded is dropped',
    DIGEST,
    '  const same = attempt && attempt.n === target.n && attempt.receipt?.schedulerId === target.receipt.schedulerId;\n  return same && !isOlder(attempt, look) ? attempt : undefined;',
    '  const same = attempt && attempt.n === target.n && attempt.receipt?.schedulerId === target.receipt.schedulerId;\n  return same && (!isOlder(attempt, look) || look.now > 0) ? attempt : undefined;',
  ),
  of(
    'evidence-not-awaited',
    'P5.3: an end waits for its evidence',
    DIGEST,
    '    if (look.now - since < TIMING.evidenceWaitSeconds * 1000)\n',
    '    if (look.now - since < 0)\n',
  ),
  of(
    'cancel-says-never-ran',
    'P5.3: whether a program ran is the evidence’s word, never the cancel’s',
    ATTRIBUTION,
    "const ran = attempt.startedAt === undefined ? outcome.ran : 'yes';",
    "const ran = attempt.startedAt === undefined ? 'no' : 'yes';",
  ),
  of(
    'everything-attributed',
    'P5.3: an end is our cancel’s only where it looks like it',
    ATTRIBUTION,
    'if (!cancel || !looksLikeOurs(outcome) || endedBefore(attempt, outcome, cancel.intendedAt)) return outcome;',
    'if (!cancel) return outcome;',
  ),
  of(
    'nothing-attributed',
    'P5.3: what our own cancel ended takes its cause from why it was cancelled',
    ATTRIBUTION,
    'if (!cancel || !looksLikeOurs(outcome) || endedBefore(attempt, outcome, cancel.intendedAt)) return outcome;',
    'if (!cancel || attempt.n > 0) return outcome;',
  ),
  of(
    'another-reason-told',
    'P5.3: the cause is that of the cancel that was intended',
    ATTRIBUTION,
    "return as('stalled', { since: reason });",
    "return as('deadline', { by: reason });",
  ),
  of(
    'cancel-says-it-ran',
    'P5.3: whether a program ran is the evidence’s word',
    ATTRIBUTION,
    "const ran = attempt.startedAt === undefined ? outcome.ran : 'yes';",
    "const ran = attempt.startedAt === undefined ? 'yes' : 'yes';",
  ),
  of(
    'vanished-by-a-look',
    'P5.6: what a source still knows has not vanished',
    DIGEST,
    '  if (!attempt || observation.run < attempt.run) return unchanged(watch);\n',
    "  if (!attempt || observation.run < attempt.run) return unchanged(watch);\n  if (observation.kind === 'ended' && attempt.state !== 'ended' && observation.runs.length === 0)\n    return { events: [{ type: 'attempt_ended', n: attempt.n, outcome: outcomeOf('vanished', { observedAt: look.now, ran: 'unknown' }), processes: 'unknown', runs: [], look: lookOf(look) }], watch };\n",
  ),
  of(
    'one-record-costs-all',
    'P5.5: what is wrong with one record never costs the others',
    'lib/app/apart.ts',
    "    ports.log('error', 'one job was passed over', { job, error: says.slice(0, 1024) });\n    return undefined;\n",
    "    ports.log('error', 'one job was passed over', { job, error: says.slice(0, 1024) });\n    throw error;\n",
  ),
  of(
    'one-record-ends-preflight',
    'P5.5: what is wrong with one record never costs the others',
    'lib/app/cluster/preflight.ts',
    'await apart(ports, job, () => loadView(ports.store, job))',
    'await loadView(ports.store, job)',
  ),
  of(
    'vanished-at-once',
    'P5.6: an absence is believed only after the grace, over complete looks',
    DIGEST,
    '  if (now.looks < TIMING.vanishPolls || look.now - now.since < graceMs) return',
    '  if (now.looks < 1 || look.now - now.since < graceMs * 0) return',
  ),
  of(
    'planned-without-listing',
    'P5.7: nothing is planned while `pub/` cannot be read',
    SUBMIT,
    '  if (!listed) return undefined;\n  const fixed',
    '  if (!listed) return NOTHING(epochOf(n, 0));\n  const fixed',
  ),
  of(
    'blocked-connected',
    'P5.8: a blocked login is left to preflights',
    'lib/app/cluster/session.ts',
    '  const blocked = blockedFor(view, login) !== undefined;',
    '  const blocked = false;',
  ),
  of(
    'slots-ignored',
    'P5.8: a connection needs a slot',
    'lib/app/cluster/slot.ts',
    "  if (purpose === 'poll') return NOTHING_HELD;\n",
    "  if (purpose !== 'output') return NOTHING_HELD;\n",
  ),
  of(
    'max-not-counted',
    'P6.1: a rule acts at most `max` times',
    RECOVERY,
    '      ruleUsedUp(view, index, action.relaunch.max, outcome.ran) ??\n',
    '',
  ),
  of(
    'attempts-not-counted',
    'P6.1: attempts stay within limits',
    RECOVERY,
    '      exhausted(view, attempt) ??\n      ruleUsedUp',
    '      ruleUsedUp',
  ),
  of(
    'another-rule',
    'P6.1: the first rule that matches decides',
    RECOVERY,
    'const index = matchingRule(rules, outcome);',
    'const index = rules.length - 1;',
  ),
  of(
    'any-means-people',
    'P6.1: `any` is neither success nor people',
    LIMIT,
    "(on === 'any' && outcome.class !== 'success' && outcome.class !== 'people'),",
    "(on === 'any' && outcome.class !== 'success'),",
  ),
  of(
    'condition-ignored',
    'P6.1: a rule matches only under its own conditions',
    LIMIT,
    'if (!numberIn(when.exitCode, code) || !numberIn(when.signal, signal)) return false;',
    'if (!numberIn(when.exitCode, code) && !numberIn(when.signal, signal)) return false;',
  ),
  of(
    'last-rule-first',
    'P6.1: rules are matched in their order',
    LIMIT,
    "outcome.class === 'success' ? -1 : rules.findIndex(",
    "outcome.class === 'success' ? -1 : rules.findLastIndex(",
  ),
  of('uses-miscounted', 'P6.1: a rule acts at most `max` times, whoever counts', LIMIT, '  return uses >= max ?', '  return uses > max ?'),
  of(
    'always-from-scratch',
    'P6.1: it is done what the rule says',
    RECOVERY,
    '        from: action.relaunch.from,\n',
    "        from: 'scratch',\n",
  ),
  of(
    'answer-misread',
    'P6.1: it is done what the answer says',
    RECOVERY,
    "from: answer === 'relaunch' ? ('checkpoint' as const) : ('scratch' as const),",
    "from: answer === 'relaunch' ? ('scratch' as const) : ('checkpoint' as const),",
  ),
  of(
    'backoff-ignored',
    'P6.1: not before the moment that was decided',
    NEXT,
    "return at(decision.notBefore, now, () => ({ do: 'submit', n: attempt.n + 1 }));",
    "return { do: 'submit', n: attempt.n + 1 };",
  ),
  of(
    'resumed-by-step',
    'P6.2: the resume point follows the points fixed, not the greatest step',
    SUBMIT,
    '  return latest(lastFixed(fixed), listed.publications);',
    '  return listed.publications.toSorted((a, b) => a.step - b.step).at(-1) ?? latest(lastFixed(fixed), []);',
  ),
  of(
    'unknown-counts-as-gone',
    'P6.3: where processes may live, the mark fences them first',
    RELEASE,
    'if (fencesInMs > 0 && someRunMayLive(view, attempt, markedAt)) {',
    'if (fencesInMs > TIMING.fenceSeconds * 1000 && someRunMayLive(view, attempt, markedAt)) {',
  ),
  of(
    'retried-without-a-rule',
    'P6.4: nothing is retried without a rule that says so',
    RECOVERY,
    "  if (choice === 'stop') return { kind: 'end', because: { kind: 'unmatched' } };\n",
    '',
  ),
  of(
    'ended-without-stop',
    'P7: `stop` is written before a job ends',
    FINISH,
    "  const mark = await session.fence(view.job, 'stop');\n  if (mark.kind === 'unreachable') return mark.says;\n",
    '',
  ),
  of(
    'ended-unsettled',
    'P7: cancelling while planned or uncertain settles first',
    NEXT,
    "  if (isUnsettled(attempt)) return { do: 'settle', n: attempt.n };",
    "  if (isUnsettled(attempt)) return over ? { do: 'finish', because: over } : { do: 'settle', n: attempt.n };",
  ),
  of(
    'ended-without-look',
    'P7: a complete look at every object comes before the end of a job',
    FINISH,
    '  for (let looks = 0; looks < 2; looks++) {',
    '  for (let looks = 2; looks < 2; looks++) {',
  ),
  of(
    'ended-on-a-partial-look',
    'P7: only a complete look shows that nothing is alive',
    FINISH,
    "    if (!found.complete) return 'not every source answered';\n    const alive",
    '    const alive',
  ),
  of(
    'report-resumed-from',
    'P8.1: a report alone never becomes a resume point',
    SUBMIT,
    'latest(lastFixed(fixed), listed.publications);',
    'latest(lastFixed(fixed), [...listed.publications, ...(view.reported ? [view.reported] : [])]);',
  ),
  of(
    'late-resumed-from',
    'P8.2: what an earlier epoch adds after a later point was fixed is never picked',
    'lib/job/point.ts',
    '  publication.epoch >= fixed.epoch && publication.step >= fixed.point.step;',
    '  publication.epoch >= 0 && publication.step >= fixed.point.step;',
  ),
  of(
    'below-the-point',
    'P8.2: nothing below the point is ever picked',
    'lib/job/point.ts',
    '  publication.epoch >= fixed.epoch && publication.step >= fixed.point.step;',
    '  publication.epoch >= fixed.epoch && publication.step >= -1;',
  ),
  of(
    'live-run-collected',
    'P8.4: nothing of a run that may live is collected',
    'lib/app/collect-checkpoints.ts',
    'isLive: isLive(newest, ports.now())',
    'isLive: () => false',
  ),
  of(
    'asked-and-goes-on',
    'P9: an open blocking question holds the release back',
    NEXT,
    '!attempt.receipt || blockingQuestion(view)) return NEVER;',
    '!attempt.receipt) return NEVER;',
    // What is asked about can only be a second object, and discarding that comes first: as long as it does, nobody gets to the release.
    ['    () => inTurn(cancelling(attempt, now), discarding(attempt), now),\n', ''],
    [
      '    () => releasing(view, attempt, now, over),\n',
      '    () => releasing(view, attempt, now, over),\n    () => inTurn(cancelling(attempt, now), discarding(attempt), now),\n',
    ],
  ),
  of(
    'decides-while-asked',
    'P9: an open blocking question holds back what comes next',
    NEXT,
    '    () => (blockingQuestion(view) ? NEVER : onward(view, attempt, now)),',
    '    () => onward(view, attempt, now),',
  ),
  of(
    'moot-left-open',
    'P9: whatever makes a question moot withdraws it in the same commit',
    COMMIT,
    'const all = withWithdrawals(view, events, meta, timeIsUp);',
    'const all = timeIsUp === meta.commitId ? withWithdrawals(view, events, meta, timeIsUp) : events;',
  ),
];
