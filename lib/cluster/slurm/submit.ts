/**
 * Submission as one remote program: look at the clock, upload what is new, look at the clock again, submit, read back what the
 * controller made of it (protocols §3.3).
 *
 * Invariants: the program refuses by the cluster's own clock to submit at or after the landing bound or with too little time left,
 * and ends the submitter at the bound; an upload that is not whole is never submitted; `sent: 'no'` is answered only where the
 * submitter was provably not started.
 */

import { outcomeOf } from '../../job/cause.ts';
import type { Receipt } from '../../job/event.ts';
import { TIMING } from '../../job/timing.ts';
import type { SubmitAnswer } from '../port.ts';
import { cut } from './cut.ts';
import type { Launch, UploadedFile } from './launch.ts';
import { isBucket } from './paths.ts';
import { type Answers, type Asked, clockOf, shell } from './remote.ts';
import { readSbatch } from './sbatch-answer.ts';
import { readShownJob } from './shown-job.ts';
import { quote } from './transport/quote.ts';

export interface SubmitFacts {
  readonly launch: Launch;
  readonly n: number;
  /** Seconds of the cluster's clock. */
  readonly boundAt: number;
  /** Until when accounting must be searched for this attempt's name: beyond its begin time. */
  readonly searchUntil: number;
  /** When the attempt's patience ends: one that is over before it could be sent is not sent. */
  readonly expiresAt?: number;
  /** 23.02 to 23.11: pushed to this begin time, and read back. */
  readonly pushTo?: number;
  /** Lines of `export NAME='value'`. */
  readonly secrets?: string;
  readonly token?: string;
  readonly helpers: readonly { readonly name: string; readonly text: string; readonly sha256: string }[];
}

export const submitProgram = (facts: SubmitFacts): string => {
  const { launch } = facts;
  // Quotes within quotes within quotes grow thirteenfold; this grows by a third, whatever the text.
  const encoded = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  const put = (file: UploadedFile, mode: string): string => `put ${quote(file.path)} ${file.sha256} ${mode} ${encoded(file.text)}\n`;
  const plain = (path: string, text: string): string => `keep ${quote(path)} ${quote(text)}\n`;
  return `umask 077
c=${quote(launch.control)}
r=${quote(launch.checkpoints)}
failed() { unsent failed "$1"; }
in_time() {
  now=$(date +%s)
  left=$((${facts.boundAt} - now))
  [ "$left" -ge ${TIMING.submitFloorSeconds} ] || unsent late "$left"${
    facts.expiresAt === undefined
      ? ''
      : `
  [ "$now" -lt ${facts.expiresAt} ] || unsent overdue "$now"`
  }
}
# What was uploaded for this one try alone does not stay, nor does a part of it that a full disk left.
unsent() { ${launch.secretsPath === undefined ? '' : `rm -f ${quote(launch.secretsPath)} ${quote(launch.secretsPath)}.*; `}tell "$1" "$2"; exit 0; }
put() {
  printf '%s' "$4" | base64 -d > "$1.$$" && [ "$(sha256sum < "$1.$$" | cut -c 1-64)" = "$2" ] && chmod "$3" "$1.$$" && mv -f "$1.$$" "$1" || failed "an upload did not arrive whole: $1"
}
keep() {
  printf '%s' "$2" > "$1.$$" && mv -f "$1.$$" "$1" || failed "could not be written: $1"
}
in_time
for d in release claims bases refused results output files secrets sent bin; do
  mkdir -p "$c/$d" || failed "the folder cannot be made: $c/$d"
done
[ -O "$c" ] || failed "the folder belongs to another user: $c"
${isBucket(launch.checkpoints) ? '' : 'timeout -s KILL 20 mkdir -p "$r/pub" "$r/exec" || failed "the folder cannot be made: $r"\n'}${put(launch.wrapper, '700')}${launch.script ? put(launch.script, '600') : ''}${facts.helpers
  .map((helper) => put({ ...helper, path: `${launch.control}/bin/${helper.name}` }, '700'))
  .join('')}${launch.secretsPath === undefined ? '' : plain(launch.secretsPath, facts.secrets ?? '')}${
  facts.token === undefined ? '' : plain(`${launch.control}/token`, facts.token)
}[ -e "$c/token" ] || : > "$c/token"
${plain(`${launch.control}/sent/${facts.n}`, `${facts.searchUntil}\n`)}in_time
[ "$left" -le ${TIMING.submitterSeconds} ] || left=${TIMING.submitterSeconds}
tell clock "$now"
submit() {
  timeout -s KILL "$left" env -i HOME="\${HOME:-/}" USER="$d_me" LOGNAME="$d_me" PATH="$PATH" \${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} LC_ALL=C "$@"
}
cd /
said=$c/files/.said-${facts.n}-$$
sbatch() { submit ${shell(launch.arguments)} > "$said"; rc=$?; cat "$said"; return "$rc"; }
ask sbatch sbatch
id=$(sed -n 's/^\\([0-9][0-9]*\\)\\(;.*\\)\\{0,1\\}$/\\1/p; s/^Submitted batch job \\([0-9][0-9]*\\).*$/\\1/p' "$said" | head -n 1)
rm -f "$said"
[ -n "$id" ] || exit 0
${pushing(facts.pushTo)}ask shown slurm 15 scontrol -o show job "$id"
`;
};

/** Pushed until it is read back, three times at most; where that fails the wrapper's guard is the gate. */
const pushing = (pushTo: number | undefined): string =>
  pushTo === undefined
    ? ''
    : `for i in 1 2 3; do
  slurm 15 scontrol update JobId="$id" StartTime=uts${pushTo}
  slurm 15 scontrol -o show job "$id" | grep -q "EligibleTime=${pushTo}" && break
done
`;

/**
 * Without the controller's own word for the submit time, the clock before sbatch less this much: munge refuses credentials from
 * clocks that are further apart, and a receipt's time must never be later than the controller's.
 */
const CLOCKS_APART_SECONDS = 300;

export interface Whose {
  readonly cluster: string;
  readonly login: string;
  readonly identity: string;
}

export const readSubmit = (asked: Asked, whose: Whose, observedAt: number): SubmitAnswer => {
  if (asked.kind === 'unreachable') return { kind: 'uncertain', sent: asked.sent, answer: cut(asked.says, 1024) };
  const { answers } = asked;
  const late = answers.get('late');
  if (late) return { kind: 'uncertain', sent: 'no', answer: `not sent: ${late.stdout} s were left until the landing bound` };
  if (answers.has('overdue'))
    return { kind: 'uncertain', sent: 'no', answer: 'not sent: the attempt’s patience was over before it could be' };
  const failed = answers.get('failed');
  if (failed) return { kind: 'not_now', reason: cut(`nothing was sent: ${failed.stdout}`, 1024), retryAfterSeconds: 60 };
  const answer = answers.get('sbatch');
  if (!answer) {
    // The clock is told right before the submitter starts: without it the program ended earlier.
    const sent = answers.has('clock') ? 'maybe' : 'no';
    return { kind: 'uncertain', sent, answer: 'the submission program ended early' };
  }
  const said = readSbatch(answer);
  switch (said.kind) {
    case 'accepted':
      return { kind: 'accepted', receipt: receiptOf(answers, said.id, whose) };
    case 'not_now':
      return { ...said, reason: cut(said.reason, 1024) };
    case 'uncertain':
      return { kind: 'uncertain', sent: 'maybe', answer: cut(said.says, 1024) };
    case 'refused':
      return {
        kind: 'refused',
        outcome: outcomeOf(said.cause, {
          observedAt,
          ran: 'no',
          detail: { by: 'slurm', reason: cut(said.reason, 256), message: cut(said.reason, 1024) },
          evidence: [{ source: 'sbatch', exitCode: String(answer.exitCode), message: cut(said.reason, 1024) }],
        }),
      };
  }
};

const receiptOf = (answers: Answers, schedulerId: string, { cluster, login, identity }: Whose): Receipt => {
  const shown = readShownJob(answers.get('shown')?.stdout ?? '');
  const told = shown?.id === schedulerId && shown.name === identity ? shown.submit * 1000 : undefined;
  return { cluster, login, schedulerId, identity, submittedAt: told ?? Math.max(0, (clockOf(answers) ?? 0) - CLOCKS_APART_SECONDS * 1000) };
};
