/**
 * What Slurm itself writes into a job's error file. A program can print the same words, so a signature is evidence that ranks
 * below every record; where there is no accounting it may be the only trace of why a job was killed.
 */

export interface Signatures {
  /** Of the last kill of this very job that the text speaks of. */
  readonly killed?: 'preemption' | 'time_limit' | 'node_failure' | 'requeue' | 'cancel';
  readonly outOfMemory: boolean;
  /** Nodes that a line names as failed. */
  readonly failedNodes: readonly string[];
}

const NONE: Signatures = { outOfMemory: false, failedNodes: [] };

const KILLS: readonly (readonly [tail: string, killed: NonNullable<Signatures['killed']>])[] = [
  ['DUE TO PREEMPTION', 'preemption'],
  ['DUE TO TIME LIMIT', 'time_limit'],
  ['DUE TO NODE FAILURE', 'node_failure'],
  ['DUE TO JOB REQUEUE', 'requeue'],
];

/** `text`: the tail of the job's error output. Lines about other jobs are not looked at. */
export const signatures = (text: string, schedulerId: string): Signatures => {
  if (text === '') return NONE;
  let killed: Signatures['killed'];
  for (const line of text.split('\n')) {
    const about = /\*\*\* (?:JOB|STEP) (\d+)(?:\.\S+)? ON \S+ CANCELLED AT (.*)$/.exec(line);
    if (about?.[1] !== schedulerId) continue;
    const cause = KILLS.find(([tail]) => about[2]!.includes(tail))?.[1];
    // A step's line has no cause while the job's own line, before or after it, has one.
    if (cause || killed === undefined) killed = cause ?? 'cancel';
  }
  return {
    ...(killed ? { killed } : {}),
    outOfMemory: /oom[-_]kill event/.test(text) || /^srun: error: .*: Out Of Memory$/m.test(text),
    failedNodes: [...new Set([...text.matchAll(/error: Node failure on ([\w.-]+)/g)].map((match) => match[1]!))].slice(0, 64),
  };
};
