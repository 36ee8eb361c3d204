/**
 * The story: a multi-node job that is preempted, classified, and resumed from its own latest checkpoint. On the memory cluster
 * its script says what happens; on a real cluster the program below does it, and whoever wants it preempted preempts it.
 */
export interface StoryOptions {
  readonly cluster: string;
  readonly kind: 'memory' | 'slurm' | 'kubernetes';
  readonly login?: string;
  readonly partition?: string;
  readonly steps: number;
}

/**
 * A training loop in miniature: one step a second on every node, a save every fifth step, each save announced by one empty
 * file that is created exclusively (the layout of the docs' checkpoint page). Every start leaves a mark of its own.
 */
const PROGRAM = `#!/bin/bash
set -eu
step=\${DISPATCH_RESUME_STEP:-0}
mkdir -p "$DISPATCH_EXEC_DIR" "$DISPATCH_CHECKPOINT_ROOT/pub"
: > "$DISPATCH_EXEC_DIR/began-$(date +%s%N)-$$"
[ -z "\${DISPATCH_RESUME_FROM:-}" ] || [ "$(cat "$DISPATCH_RESUME_FROM/weights")" = "$step" ]
while [ "$step" -lt "$STORY_STEPS" ]; do
  srun --kill-on-bad-exit=1 sleep 1
  step=$((step + 1))
  echo "attempt $DISPATCH_ATTEMPT: step $step of $STORY_STEPS"
  [ $((step % 5)) -eq 0 ] || continue
  save=exec/$DISPATCH_ATTEMPT/step-$step
  mkdir "$DISPATCH_CHECKPOINT_ROOT/$save"
  echo "$step" > "$DISPATCH_CHECKPOINT_ROOT/$save/weights"
  sync "$DISPATCH_CHECKPOINT_ROOT/$save/weights"
  name=$(printf '%020d-%020d-%s' "$DISPATCH_EPOCH" "$step" "$(printf %s "$save" | base32 -w0 | tr -d = | tr A-Z a-z)")
  ( set -C; : > "$DISPATCH_CHECKPOINT_ROOT/pub/$name" )
done
`;

/** Steps count from what an attempt resumed from: docs/memory-cluster.md. */
const SCRIPT = [
  {
    queueSeconds: 1,
    program: {
      runsSeconds: 5,
      publishes: [
        { atSeconds: 1, step: 100 },
        { atSeconds: 3, step: 200 },
      ],
      ends: 'preempted',
    },
  },
  { queueSeconds: 1, program: { runsSeconds: 4, publishes: [{ atSeconds: 2, step: 100 }], ends: 'completed' } },
];

/** The spec, as a user would write it. */
export const storySpec = (options: StoryOptions): Record<string, unknown> => ({
  name: 'story',
  cluster: options.cluster,
  ...(options.login ? { login: options.login } : {}),
  resources: { nodes: 2, tasksPerNode: 1, memoryPerNode: '200Mi' },
  program: { script: PROGRAM, env: { STORY_STEPS: String(options.steps) } },
  timeLimit: '10m',
  patience: '1h',
  checkpoint: {},
  policy: {
    rules: [
      {
        on: ['preempted', 'node_lost', 'never_landed'],
        do: { relaunch: { max: 3, backoff: { initial: '2s', factor: 2, max: '1m' }, from: 'checkpoint' } },
      },
      {
        on: ['out_of_memory'],
        do: {
          relaunch: {
            max: 1,
            backoff: { initial: '2s', factor: 2, max: '1m' },
            from: 'checkpoint',
            scale: { memoryPerNode: { by: 1.5, upTo: '400Mi' } },
          },
        },
      },
    ],
    unmatched: 'escalate',
    limits: { attempts: 5 },
  },
  extensions:
    options.kind === 'memory' ? { memory: { script: SCRIPT } } : options.partition ? { slurm: { partition: options.partition } } : {},
});
