/**
 * What Slurm itself writes into a job's error file. A program can print the same words, so a signature is evidence that ranks
 * below every record; where there is no accounting it may be the only trace of why a job was killed.
 */

export interface Signatures {
  /** Of the last kill of this very job that the text speaks of. */
  readonly killed?: 'preemption' | 'time_limit' | 'node_failure' | 'requeue' | 'cancel';
  readonly outOfMemory: boolean;
  /** How the first of several tasks ended that srun complains of: what came later was mostly killed because of it. */
  readonly firstTask?: { readonly code?: number; readonly signal?: number };
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
    const about = /\*\*\* (JOB|STEP) (\d+)(?:\.\S+)? ON \S+ CANCELLED AT (.*)$/.exec(line);
    if (about?.[2] !== schedulerId) continue;
    const cause = KILLS.find(([tail]) => about[3]!.includes(tail))?.[1];
    // A step's line has no cause while the job's own line, before or after it, has one; a program may cancel a step of its own and go on.
    if (cause || (killed === undefined && about[1] === 'JOB')) killed = cause ?? 'cancel';
  }
  const first = firstTask(text);
  return {
    ...(killed ? { killed } : {}),
    ...(first ? { firstTask: first } : {}),
    outOfMemory: text.split('\n').some((line) => saysOutOfMemory(line, schedulerId)),
    failedNodes: [...new Set([...text.matchAll(/error: Node failure on ([\w.-]+)/g)].map((match) => match[1]!))].slice(0, 64),
  };
};

/** `Detected 1 oom-kill event(s) in StepId=27.batch.`; later versions `oom_kill events`. */
const saysOutOfMemory = (line: string, schedulerId: string): boolean => {
  if (/^srun: error: .*: Out Of Memory$/.test(line)) return true;
  if (!/oom[-_]kill event/.test(line)) return false;
  const about = /StepId=(\d+)\./.exec(line);
  return about === null || about[1] === schedulerId;
};

/** As the C library words them; srun prints the words, not the numbers. */
const SIGNALS: Readonly<Record<string, number>> = {
  Hangup: 1,
  Interrupt: 2,
  Quit: 3,
  'Illegal instruction': 4,
  Aborted: 6,
  'Bus error': 7,
  'Floating point exception': 8,
  Killed: 9,
  'Segmentation fault': 11,
  'Broken pipe': 13,
  Terminated: 15,
};

const firstTask = (text: string): Signatures['firstTask'] => {
  const line = /^srun: error: \S+ tasks? [\d,-]+: (.*)$/m.exec(text)?.[1] ?? '';
  const code = /^Exited with exit code (\d+)$/.exec(line)?.[1];
  if (code !== undefined) return { code: Number(code) };
  const signal = SIGNALS[line.replace(/ \(core dumped\)$/, '')];
  return signal === undefined ? undefined : { signal };
};
