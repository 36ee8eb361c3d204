/** What a run of the memory cluster sees (contract §4a): the same names as on every real cluster. Pure. */
import type { Point } from '../../job/event.ts';
import { epochOf } from '../../job/identity.ts';
import { completionMarkerOf } from '../../job/spec.ts';
import type { Submission } from '../port.ts';

export interface Placement {
  readonly root: string;
  readonly tag: string;
  readonly n: number;
  readonly run: number;
  readonly base: Point;
  readonly nodes: readonly string[];
}

/** `<checkpoint.root>/<job id>`, by default below the cluster's own root (protocols §8.1). */
export const checkpointRootOf = (root: string, submission: Pick<Submission, 'job' | 'spec'>): string =>
  `${submission.spec.checkpoint?.root ?? `${root}/checkpoints`}/${submission.job}`;

export const environmentOf = (submission: Submission, at: Placement): Record<string, string> => {
  const checkpoints = checkpointRootOf(at.root, submission);
  const attempt = `${at.n}-${at.run}`;
  const completion = completionMarkerOf(submission.spec);
  const nothing = at.base.step < 0;
  return {
    ...submission.spec.program.env,
    DISPATCH_JOB: submission.job,
    DISPATCH_CLUSTER: submission.spec.cluster,
    DISPATCH_ATTEMPT: attempt,
    DISPATCH_EPOCH: String(epochOf(at.n, at.run)),
    DISPATCH_CHECKPOINT_ROOT: checkpoints,
    DISPATCH_EXEC_DIR: `${checkpoints}/exec/${attempt}`,
    ...(nothing ? {} : { DISPATCH_RESUME_FROM: `${checkpoints}/${at.base.path}`, DISPATCH_RESUME_STEP: String(at.base.step) }),
    ...(completion === undefined ? {} : { DISPATCH_COMPLETION_MARKER: completion }),
    DISPATCH_NODES: String(submission.spec.resources.nodes),
    DISPATCH_NODE_RANK: '0',
    DISPATCH_TASKS_PER_NODE: String(submission.spec.resources.tasksPerNode),
    DISPATCH_MASTER_ADDR: at.nodes[0] ?? 'localhost',
    DISPATCH_MASTER_PORT: '29500',
    DISPATCH_API_URL: 'memory:',
    DISPATCH_TOKEN_FILE: `${at.root}/${at.tag}/${submission.job}/token`,
  };
};
