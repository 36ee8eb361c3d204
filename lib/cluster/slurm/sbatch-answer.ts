/**
 * What `sbatch` said, as accepted, refused, not now, or uncertain. Its exit codes tell nothing apart, so its texts are a table.
 *
 * Invariant guarded (protocols §3.4): only a text that is known to come before or with a refusal of the controller is a refusal;
 * everything else is uncertain, because a failed submission may be honoured minutes later (seen live).
 */
import type { Cause } from '../../job/cause.ts';
import type { Answer } from './remote.ts';

export type SbatchAnswer =
  | { readonly kind: 'accepted'; readonly id: string; readonly cluster?: string }
  | { readonly kind: 'refused'; readonly cause: Extract<Cause, 'rejected' | 'unsatisfiable'>; readonly reason: string }
  | { readonly kind: 'not_now'; readonly reason: string; readonly retryAfterSeconds: number }
  | { readonly kind: 'uncertain'; readonly says: string };

type Verdict = 'rejected' | 'unsatisfiable' | 'not_now' | 'uncertain';

/** In order: the first that occurs counts. Doubt stands before refusal, since both can occur in one answer. */
export const TEXTS: readonly (readonly [text: string, verdict: Verdict])[] = [
  ['Socket timed out', 'uncertain'],
  ['(receive failure)', 'uncertain'],
  ['(send failure)', 'uncertain'],
  ['(shutdown failure)', 'uncertain'],
  ['Message receive failure', 'uncertain'],
  ['Message send failure', 'uncertain'],
  ['Zero Bytes were transmitted', 'uncertain'],
  ['Header lengths are longer', 'uncertain'],
  ['Unexpected message received', 'uncertain'],
  ['standby mode', 'uncertain'],
  // Nothing was sent: the client could not even sign or find its controller.
  ['Munge encode failed', 'not_now'],
  ['Unable to contact slurm controller (connect failure)', 'not_now'],
  ['Could not establish a configuration source', 'not_now'],
  ['failed to fetch config', 'not_now'],
  ['cannot stat file', 'not_now'],
  // The controller said: not now.
  ['Rate limit exceeded', 'not_now'],
  ['Unknown error 1804', 'not_now'],
  ['Resource temporarily unavailable', 'not_now'],
  ['Unable to create job record, try again', 'not_now'],
  ['Slurm job queue full', 'not_now'],
  ['MaxSubmitJob', 'not_now'],
  ['GrpSubmitJobs', 'not_now'],
  ['System submissions disabled', 'not_now'],
  // Certain refusals. Those of a shape that this cluster can never give are `unsatisfiable`.
  ['Node count specification invalid', 'unsatisfiable'],
  ['More processors requested than permitted', 'unsatisfiable'],
  ['Memory required by task is not available', 'unsatisfiable'],
  ['Invalid generic resource (gres) specification', 'unsatisfiable'],
  ['Invalid feature specification', 'unsatisfiable'],
  ['Invalid license specification', 'unsatisfiable'],
  ['Requested node configuration is not available', 'rejected'],
  ['Requested nodes are busy', 'rejected'],
  ['Invalid partition name specified', 'rejected'],
  ['Requested partition configuration not available now', 'rejected'],
  ["User's group not permitted to use this partition", 'rejected'],
  ['Required partition not available (inactive or drain)', 'rejected'],
  ['Invalid node name specified', 'rejected'],
  ['Invalid account or account/partition combination specified', 'rejected'],
  ['Invalid qos specification', 'rejected'],
  ['Invalid wckey specification', 'rejected'],
  ['Access/permission denied', 'rejected'],
  ['Invalid user id', 'rejected'],
  ['Job violates accounting/QOS policy', 'rejected'],
  ['Requested time limit is invalid', 'rejected'],
  ['Time limit specification required', 'rejected'],
  ['Invalid time-min specification', 'rejected'],
  ['Job dependency problem', 'rejected'],
  ['Requested reservation is invalid', 'rejected'],
  ['Access denied to requested reservation', 'rejected'],
  ['Pathname of a file, directory or other parameter too long', 'rejected'],
  ['Incompatible versions of client and server code', 'rejected'],
  ['Incompatible begin and deadline time specification', 'rejected'],
  ['This does not look like a batch script', 'rejected'],
  ['Batch script is empty', 'rejected'],
  ['Batch script contains DOS line breaks', 'rejected'],
  ['Unable to open file', 'rejected'],
  ['unrecognized option', 'rejected'],
  ['invalid option', 'rejected'],
  ['Unspecified error', 'rejected'],
];

/** C017: `700117`, `700117;c1`, and the long form of sites whose wrapper drops `--parsable`. */
export const submittedId = (stdout: string): { readonly id: string; readonly cluster?: string } | undefined => {
  for (const line of stdout.split('\n')) {
    const found = /^(\d+)(?:;([\w.-]+))?$/.exec(line.trim()) ?? /^Submitted batch job (\d+)(?: on cluster ([\w.-]+))?$/.exec(line.trim());
    if (found) return found[2] === undefined ? { id: found[1]! } : { id: found[1]!, cluster: found[2] };
  }
  return undefined;
};

const RETRY_SECONDS = 60;

export const readSbatch = ({ exitCode, stdout, stderr }: Answer): SbatchAnswer => {
  const submitted = submittedId(stdout);
  if (exitCode === 0 && submitted) return { kind: 'accepted', ...submitted };
  const says = stderr.trim().slice(-900);
  if (exitCode === 0) return { kind: 'uncertain', says: `sbatch ended with 0 and named no job: ${says}` };
  const known = TEXTS.find(([text]) => stderr.includes(text))?.[1];
  // An error of ours in the options: the client refused before it spoke to anybody.
  if (exitCode === 255 && known !== 'uncertain') return { kind: 'refused', cause: 'rejected', reason: says };
  // 124 and 137: `timeout` ended it at the landing bound; it may have sent its request.
  const verdict = exitCode === 124 || exitCode > 128 ? 'uncertain' : (known ?? 'uncertain');
  switch (verdict) {
    case 'not_now':
      return { kind: 'not_now', reason: says, retryAfterSeconds: RETRY_SECONDS };
    case 'uncertain':
      return { kind: 'uncertain', says: `sbatch ended with ${exitCode}: ${says}` };
    default:
      return { kind: 'refused', cause: verdict, reason: says };
  }
};
