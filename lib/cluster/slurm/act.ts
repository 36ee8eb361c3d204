/**
 * Acts on one object: fence, release, cancel, discard, requeue. Each is one remote program and idempotent; exit codes prove
 * nothing, only the next look does (protocols §4.3).
 *
 * Invariant: an act on an id looks first whether the id still names this very object (C012); another object under a used id is
 * never touched, and an object of another tag is refused before anything is sent.
 */
import type { Gate, Receipt } from '../../job/event.ts';
import type { ActAnswer, FenceAnswer } from '../port.ts';
import { parseMark } from './control-files.ts';
import { ASK_CLOCK, type Asked, clockOf } from './remote.ts';
import { readShownJob } from './shown-job.ts';
import { quote } from './transport/quote.ts';

/**
 * Written aside, then linked: the mark appears whole and once. What it holds is read back, whoever wrote it. Aside in the very folder of the
 * mark, because some shared file systems link only there; under a name that nobody else can have; and on the disk before it is linked,
 * because a full one leaves an empty file, and a mark is never changed.
 */
export const fenceProgram = (control: string, mark: { readonly n: number; readonly schedulerId: string } | 'stop'): string => {
  const [folder, name] = mark === 'stop' ? ['', 'stop'] : ['/release', String(mark.n)];
  const holds = mark === 'stop' ? '-' : mark.schedulerId;
  return `umask 077
c=${quote(control)}
f="$c${folder}"
mkdir -p "$c/release"
now=$(date +%s)
put_aside() {
  aside=$(mktemp "$f/.aside-XXXXXXXXXX") || return 1
  printf '%s %s\\n' ${quote(holds)} "$now" | dd of="$aside" conv=fsync && [ "$(cat "$aside")" = ${quote(holds)}" $now" ] && ln "$aside" "$f/${name}"
  rm -f "$aside"
}
[ -e "$f/${name}" ] || put_aside 2> /dev/null
${mark === 'stop' ? 'rm -f "$c/secrets/"*\n' : dropEarlier(mark.n)}ask mark cat "$f/${name}"
${ASK_CLOCK}`;
};

/** Attempts that this mark keeps from running for ever need their secrets no more: neither one that never ran, nor one that might run again. */
const dropEarlier = (n: number): string => `for s in "$c/secrets/"*; do
  k=\${s##*/}
  case $k in '' | *[!0-9]*) continue ;; esac
  if [ "$k" -lt ${n} ] && [ -e "$f/${n}" ]; then rm -f "$s"; fi
done
`;

export const readFence = (asked: Asked): FenceAnswer => {
  if (asked.kind === 'unreachable') return { kind: 'unreachable', says: asked.says };
  const answer = asked.answers.get('mark');
  const mark = parseMark(answer?.stdout ?? '');
  const clusterNow = clockOf(asked.answers);
  if (!mark || clusterNow === undefined)
    return { kind: 'unreachable', says: `the mark cannot be read: ${answer?.stderr.slice(-256) ?? ''}` };
  return { kind: 'marked', holds: mark.holds, clusterWrittenAt: mark.writtenAt, clusterNow };
};

export type Act = 'release' | 'cancel' | 'requeue';

const wordsOf = (act: Act, gate: Gate | undefined): readonly string[] => {
  switch (act) {
    case 'release':
      // Releasing a hold does not clear a begin time, and the other way round: each gate has its own key.
      return gate?.mechanism === 'hold' || gate?.mechanism === 'hold_deadline'
        ? ['scontrol release "$id"']
        : ['scontrol update JobId="$id" StartTime=now'];
    case 'cancel':
      return ['scancel "$id"'];
    case 'requeue':
      // Allowed for this one time only: afterwards the scheduler shall not requeue by itself. The first fails for an ended job,
      // which its wrapper allowed already where it could.
      return ['scontrol update JobId="$id" Requeue=1', 'scontrol requeue "$id"', 'scontrol update JobId="$id" Requeue=0'];
  }
};

/** The submit time is compared here too. */
export const actProgram = (act: Act, receipt: Receipt, gate?: Gate): string => {
  const { schedulerId, identity, submittedAt } = receipt;
  return `id=${quote(schedulerId)}
name=${quote(identity)}
line=$(slurm 30 scontrol -o show job "$id" 2>&1)
rc=$?
shown() { printf '%s\\n' "$line"; return "$rc"; }
ask shown shown
case $line in "JobId=$id JobName=$name "*) ;; *) tell other "$line"; exit 0 ;; esac
submitted=\${line#* SubmitTime=}
submitted=\${submitted%% *}
case $submitted in '' | *[!0-9]*) tell other 'no submit time'; exit 0 ;; esac
[ "$submitted" -ge ${Math.floor(submittedAt / 1000)} ] || { tell other 'submitted earlier'; exit 0; }
${wordsOf(act, gate)
  .map((words, i) => `ask act${i} slurm 60 ${words}\n`)
  .join('')}`;
};

const ALREADY = ['Job has already finished', 'Job is no longer pending execution', 'already completing or completed'];
const CERTAIN = [
  'Access/permission denied',
  'Invalid user id',
  'Requested operation is presently disabled',
  'Invalid job id specified',
  'Job can not be altered now',
  'Job is pending execution',
];

export const readAct = (act: Act, asked: Asked, receipt: Receipt): ActAnswer => {
  if (asked.kind === 'unreachable') return { kind: 'unreachable', says: asked.says };
  const shown = asked.answers.get('shown');
  const isUnknown = shown?.exitCode !== 0 && shown?.stdout.includes('Invalid job id specified') === true;
  const job = readShownJob(shown?.stdout ?? '');
  if (isUnknown || (job && asked.answers.has('other'))) {
    // Nothing of ours is there any more: what a cancel wants is so already.
    if (act === 'cancel') return { kind: 'sent' };
    return {
      kind: 'refused',
      says: isUnknown ? 'Invalid job id specified' : `job ${receipt.schedulerId} is another object: ${job?.name ?? ''}`,
    };
  }
  if (!job) return { kind: 'unreachable', says: `scontrol: ${(shown?.stdout ?? 'no answer').trim().slice(-512)}` };
  const main = asked.answers.get(act === 'requeue' ? 'act1' : 'act0');
  if (!main) return { kind: 'unreachable', says: 'the act ended early' };
  const says = main.stderr.trim().slice(-512);
  if (main.exitCode === 0 || ALREADY.some((text) => says.includes(text))) return { kind: 'sent' };
  // It was there a moment ago and ended since.
  if (act === 'cancel' && says.includes('Invalid job id specified')) return { kind: 'sent' };
  // A stopped or frozen controller says things like `Unexpected message received`; it may still apply what it was asked.
  return CERTAIN.some((text) => says.includes(text)) ? { kind: 'refused', says } : { kind: 'unreachable', says };
};
