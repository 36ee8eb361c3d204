/**
 * From a look and a harvest to observations. Pure.
 *
 * Invariant guarded (protocols §5.6): a target is absent only where every source that can know it answered; one whose source
 * failed is neither changed nor absent in this look.
 */
import type { Cause } from '../../job/cause.ts';
import type { Observation, Target } from '../port.ts';
import { classify, type Sources } from './classify.ts';
import { type Harvest, isOurs } from './harvest.ts';
import type { Wanted } from './look.ts';
import { type AccountingRow, rowsAbout } from './sacct.ts';
import { signatures } from './signatures.ts';

export interface Judged {
  readonly changed: readonly Observation[];
  readonly absent: readonly Target[];
  /** Accounting did not answer: absences of this look do not count. */
  readonly complete: boolean;
}

export const judge = (wanted: readonly Wanted[], harvest: Harvest, observedAt: number): Judged => {
  const changed: Observation[] = [];
  const absent: Target[] = [];
  let complete = true;
  wanted.forEach((one, index) => {
    const { target, row, live } = one;
    if (live) {
      const cause = lastRunCause(one, harvest, index);
      changed.push({ ...live, ...(cause ? { lastRunCause: cause } : {}) });
      return;
    }
    const files = isOurs(target) ? harvest.of(index) : undefined;
    const rows = harvest.accounting.kind === 'rows' ? rowsAbout(harvest.accounting.rows, objectOf(target)) : [];
    const run = row?.run ?? Math.max(rows.length - 1, files?.lastRun ?? 0, target.run);
    const said = classify({
      object: objectOf(target),
      released: target.released,
      accounting: harvest.accounting,
      run,
      stderr: files?.stderr ?? '',
      observedAt,
      ...(harvest.uid === undefined ? {} : { uid: harvest.uid }),
      ...(row ? { controller: row } : {}),
      ...(files?.readable ? { files: files.run(run) } : {}),
    } satisfies Sources);
    const isOver = target.seen.startsWith('ended');
    if (said.kind === 'ended') {
      // An ended attempt is looked at again for better evidence only: more of the same would be news in every poll.
      if (isOver && said.outcome.class === 'evidence') return;
      changed.push(endedObservation(target, said, files));
    } else if (!row && !isOver) {
      if (harvest.accounting.kind === 'failed') complete = false;
      else absent.push(target);
    }
  });
  return { changed, absent, complete };
};

const objectOf = ({ receipt }: Target): Sources['object'] => receipt;

const endedObservation = (
  target: Target,
  said: Extract<ReturnType<typeof classify>, { kind: 'ended' }>,
  files: ReturnType<Harvest['of']> | undefined,
): Observation => ({
  kind: 'ended',
  target,
  run: said.run,
  outcome: said.outcome,
  // A result is the run's own word that it is over, whatever became of its node.
  processes: said.gone || files?.run(said.run).result ? 'gone' : 'unknown',
  runs: files?.runs ?? [],
  missing: [
    ...said.missing,
    ...(files && !files.readable && said.outcome.ran !== 'no' ? ['result'] : []),
    ...(files?.listed === false ? ['publications'] : []),
  ],
});

/** Why the run before the one that the controller shows ended; undefined where nobody can say. */
const lastRunCause = ({ target, row }: Wanted, harvest: Harvest, index: number): Cause | undefined => {
  if (harvest.accounting.kind === 'rows' && row) {
    const before = rowsAbout(harvest.accounting.rows, objectOf(target)).filter((one) => one.submit < row.submit);
    const cause = causeOfRun(before.at(-1));
    if (cause) return cause;
  }
  const { killed } = isOurs(target) ? signatures(harvest.of(index).stderr, target.receipt.schedulerId) : {};
  return killed === 'preemption' ? 'preempted' : killed === 'node_failure' ? 'node_lost' : undefined;
};

const causeOfRun = (row: AccountingRow | undefined): Cause | undefined => {
  switch (row?.state) {
    case 'PREEMPTED':
      return 'preempted';
    case 'NODE_FAIL':
      return 'node_lost';
    case 'BOOT_FAIL':
      return 'boot_failed';
    case 'REQUEUED':
      // Put back because of its exit code; without one somebody asked for it.
      return row.exit && row.exit.signal === 0 && row.exit.code > 0 ? 'exited' : undefined;
    default:
      return undefined;
  }
};
