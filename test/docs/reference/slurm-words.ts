/** Slurm's words and how they are read, as docs/reference/slurm-words.md prints them: from the adapter's own tables. */
import { liveState } from '../../../lib/cluster/slurm/live.ts';
import { FAMILIES, PREFIXES, WORDS } from '../../../lib/cluster/slurm/reasons.ts';
import { TEXTS } from '../../../lib/cluster/slurm/sbatch-answer.ts';
import { LIVE } from '../../../lib/cluster/slurm/words.ts';
import { CAUSE_NAMES } from '../../../lib/job/cause.ts';
import { PENDING_GROUPS } from '../../../lib/job/event.ts';
import { code, table } from './markdown.ts';
import { slurmEnds } from './slurm-ends.ts';

export const liveWords = (): string =>
  table(
    ['Slurm says', 'state of the attempt'],
    Object.entries(LIVE).map(([word, phase]) => {
      // Released and seen past its gate: what the word alone says.
      const { state, group } = liveState(phase, 'None', 1, 0, 1, 'queued.0.');
      return [code(word), group === undefined || group === 'waiting' ? code(state) : `${code(state)}, group ${code(group)}`];
    }),
  );

export const ends = (): string =>
  table(
    ['cause', 'confidence', 'ran', 'detail', 'Slurm says'],
    CAUSE_NAMES.flatMap((cause) =>
      slurmEnds()
        .filter(({ outcome }) => outcome.cause === cause)
        .map(({ says, outcome }) => [
          code(cause),
          outcome.confidence,
          outcome.ran,
          Object.keys(outcome.detail).length === 0 ? 'none' : Object.keys(outcome.detail).map(code).join(', '),
          says,
        ]),
    ),
  );

/** Known words and the beginnings of free text by their group, and patterns of families as they are tried. */
export const reasons = (): string => {
  const rows = PENDING_GROUPS.flatMap((group) => [
    ...(group in WORDS ? WORDS[group as keyof typeof WORDS].split(/\s+/).map((word) => [code(group), code(word)]) : []),
    ...PREFIXES.filter(([, of]) => of === group).map(([prefix]) => [code(group), `text that begins with ${code(prefix)}`]),
    ...FAMILIES.filter(([, of]) => of === group).map(([pattern]) => [code(group), `words like ${code(pattern.source)}`]),
  ]);
  return table(['group', 'reason'], rows);
};

const VERDICTS = {
  accepted: 'accepted',
  uncertain: '`attempt_uncertain`',
  not_now: '`attempt_submission_deferred`',
  rejected: '`attempt_refused`, `rejected`',
  unsatisfiable: '`attempt_refused`, `unsatisfiable`',
} as const;

export const sbatchTexts = (): string =>
  table(
    ['what it leads to', '`sbatch` says'],
    TEXTS.map(([text, verdict]) => [VERDICTS[verdict], code(text)]),
  );
