/** Draw a script: what the cluster will do to a drawn job, attempt by attempt and run by run. */
import type { Policy } from '../../lib/job/policy.ts';
import type { Random } from './random.ts';

/** What a rule waits for, as a script says it; a policy whose rules are never met proves little. */
const ENDS: Readonly<Record<string, unknown>> = {
  preempted: 'preempted',
  node_lost: { node_lost: { survives: true } },
  out_of_memory: { out_of_memory: { scope: 'job' } },
  exited: { exit: 1 },
  time_limit: 'time_limit',
  boot_failed: 'boot_failed',
  launch_failed: 'launch_failed',
  infrastructure: 'evicted',
  application: { signal: 9 },
  evidence: 'vanishes',
};

const drawEnds = (random: Random, policy: Policy): unknown => {
  const asked = policy.rules.flatMap((rule) => rule.on).filter((on) => on in ENDS);
  if (asked.length > 0 && random.chance(0.4)) return ENDS[random.pick(asked)];
  const luck = random.next();
  if (luck < 0.3) return 'completed';
  if (luck < 0.46) return { node_lost: drawLoss(random) };
  return random.pick([
    'preempted',
    'preempted',
    'out_of_memory',
    { out_of_memory: { scope: 'job' } },
    { exit: random.between(1, 4) },
    { exit: 1 },
    { signal: 9 },
    'hangs',
    'hangs',
    'vanishes',
    'unrecognised',
    'evicted',
    'launch_failed',
    'boot_failed',
    'scheduler_failed',
    'revoked',
    'contradictory',
    'time_limit',
  ]);
};

export const drawLoss = (random: Random) => ({
  survives: random.chance(0.7),
  answers: random.chance(0.3),
  ...(random.chance(0.5) ? { survivesSeconds: random.between(30, 900) } : {}),
});

/** A requeued run has no patience, so one that never starts would wait for ever, as it should (contract §4). */
const drawRun = (random: Random, policy: Policy, run: number) => {
  const runsSeconds = random.between(1, random.chance(0.2) ? 1500 : 240);
  const first = random.between(1, 40);
  const publishes = random.chance(0.6)
    ? Array.from({ length: random.between(1, 3) }, (_, i) => ({ atSeconds: Math.floor((runsSeconds * (i + 1)) / 4), step: first + i * 10 }))
    : [];
  // Beyond its end: only a program makes it that has survived its object.
  if (random.chance(0.5))
    for (let i = 1; i <= 12; i++) publishes.push({ atSeconds: runsSeconds + i * random.between(10, 30), step: first + 30 + i });
  const pending = random.chance(0.08)
    ? {
        group: random.pick(['concurrency', 'budget', 'budget', 'blocked', 'admitted', 'never', 'never', 'launch_failed'] as const),
        reason: random.chance(0.5) ? 'Drawn' : 'DependencyNeverSatisfied',
      }
    : undefined;
  const forEver = run === 0 && random.chance(pending ? 0.4 : 0.03);
  return {
    queueSeconds: forEver ? 'never' : random.chance(0.5) ? 0 : random.between(1, 200),
    ...(pending ? { pending } : {}),
    startsSeconds: random.chance(0.3) ? random.between(1, 30) : 0,
    program: {
      runsSeconds,
      publishes,
      ends: drawEnds(random, policy),
      ...(random.chance(0.2) ? { ignoresResume: true } : {}),
      ...(random.chance(0.1) ? { silentAfterSeconds: random.between(0, 60) } : {}),
      endingSeconds: random.chance(0.2) ? random.between(1, 60) : 0,
    },
  };
};

const drawAttempt = (random: Random, policy: Policy) => {
  const tries = random.chance(0.12)
    ? [
        random.chance(0.4)
          ? { refuse: { reason: 'QOSMaxSubmitJobPerUserLimit', leavesRecord: random.chance(0.5) } }
          : { notNow: { reason: 'busy', retryAfterSeconds: random.between(1, 120) } },
      ]
    : [];
  return [...tries, ...Array.from({ length: random.between(1, 3) }, (_, run) => drawRun(random, policy, run))];
};

/** Its first attempt lives on after its node was lost, and publishes, while its successors come to nothing. */
export const drawHaunted = (random: Random): unknown[] => {
  const runsSeconds = random.between(5, 60);
  const everySeconds = random.between(5, 40);
  const publishes = Array.from({ length: 30 }, (_, i) => ({ atSeconds: 1 + i * everySeconds, step: 10 + i }));
  const survives = { node_lost: { survives: true, answers: random.chance(0.3) } };
  // What ignores its resume point begins at 0, below it.
  const below = random.chance(0.5) ? { ignoresResume: true, publishes: [{ atSeconds: 0, step: 1 }] } : {};
  const vain = {
    program: { runsSeconds: random.between(1, 90), ends: random.pick(['preempted', { exit: 1 }, 'evicted'] as const), ...below },
  };
  return [{ program: { runsSeconds, publishes, ends: survives } }, vain, vain, vain];
};

/** Now and then a job meets the same end in every attempt: only so are its rules used up. */
export const drawScript = (random: Random, policy: Policy): unknown[] => {
  const first = drawAttempt(random, policy);
  if (random.chance(0.15)) return Array.from({ length: 6 }, () => first);
  return [first, ...Array.from({ length: random.between(0, 4) }, () => drawAttempt(random, policy))];
};
