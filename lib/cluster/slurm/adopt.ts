/**
 * What is to be known of a job that somebody else submitted, to watch it: its name, which stands for an identity, and its submit time,
 * which tells it from another one under a used id (protocols §4.5).
 */
import { parseIdentity } from '../../job/identity.ts';
import type { AdoptAnswer } from '../port.ts';
import { type Asked, shell } from './remote.ts';

/** A receipt holds so much of a name, and all of it is compared. */
const NAME_CHARACTERS = 63;

/** Undefined: no id of a single job (an array's element is watched by no one here). */
export const adoptProgram = (schedulerId: string): string | undefined =>
  /^[1-9]\d{0,17}$/.test(schedulerId) ? `ask shown slurm 15 ${shell(['scontrol', '-o', 'show', 'job', schedulerId])}\n` : undefined;

export const readAdopt = (
  asked: Asked,
  at: { readonly cluster: string; readonly login: string; readonly schedulerId: string },
): AdoptAnswer => {
  if (asked.kind === 'unreachable') return { kind: 'unreachable', says: asked.says };
  const shown = asked.answers.get('shown');
  if (shown && shown.exitCode !== 0 && shown.stderr.includes('Invalid job id specified')) return { kind: 'unknown_object' };
  // The user's name follows the job's: a name may hold spaces, and neither may be cut.
  const found = /^JobId=(\d+) JobName=(.+?) UserId=[^\s(]+\(\d+\) .*?\sSubmitTime=(\d+)\s/.exec(shown?.stdout ?? '');
  if (shown?.exitCode !== 0 || !found)
    return { kind: 'unreachable', says: `scontrol: ${(shown?.stderr || shown?.stdout || 'no answer').trim().slice(0, 256)}` };
  const [, id, name] = found;
  if (id !== at.schedulerId || name === undefined) return { kind: 'unknown_object' };
  if (parseIdentity(name)) return { kind: 'ours' };
  if (name.length > NAME_CHARACTERS) return { kind: 'unknown_object' };
  return { kind: 'found', name, receipt: { ...at, identity: name, submittedAt: Number(found[3]) * 1000 } };
};
