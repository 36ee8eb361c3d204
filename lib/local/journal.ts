/**
 * Journal: what was done to a memory cluster, so that the cluster outlives the process it lives in, as a real one would.
 * Its world is a function of what was done to it when (docs/memory-cluster.md): done again at the same moments, it is the same world,
 * and the time in which no process ran has passed in it too. A line is written before its effect, so a process killed in between finds
 * the effect done and the answer lost, which dispatch can live with; the other order could forget an object that runs.
 *
 * A killed process loses no line that was written. The file is bounded: at each start what was done for jobs that are over is left out.
 */
import { closeSync, openSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { adapter as adapterOf } from '../cluster/memory/adapter.ts';
import { jobKey } from '../cluster/memory/state.ts';
import { createMemoryCluster, type World } from '../cluster/memory/world.ts';
import type { Adapter, Session } from '../cluster/port.ts';
import { parseIdentity } from '../job/identity.ts';
import { appendWhole, wholeLines } from './lines.ts';
import { StartRefused } from './refusal.ts';

/** What changes the world; looks do not, and are not kept. */
const VERBS = ['submit', 'fence', 'release', 'cancel', 'discard', 'requeue', 'collect'] as const;
type JournalVerb = (typeof VERBS)[number];

const headSchema = z.strictObject({ journal: z.literal(1), cluster: z.string(), shape: z.enum(['slurm', 'kubernetes']), nextId: z.int() });
const lineSchema = z.strictObject({
  at: z.int(),
  login: z.string(),
  verb: z.enum(VERBS),
  /** The number that the next object gets, so that leaving lines out gives no object another id. */
  nextId: z.int(),
  given: z.array(z.unknown()),
});
type Head = z.infer<typeof headSchema>;
type Line = z.infer<typeof lineSchema>;

export interface JournalOptions {
  readonly path: string;
  readonly cluster: string;
  readonly shape: Head['shape'];
  readonly tag: string;
  readonly now: () => number;
  /** [0, 1). */
  readonly random: () => number;
}

export interface JournaledCluster {
  readonly adapter: Adapter;
  readonly world: World;
  close(): void;
}

/** Throws StartRefused for a file that is not this cluster's journal. */
export const openJournaled = async (options: JournalOptions): Promise<JournaledCluster> => {
  const { path, cluster, shape, tag, now, random } = options;
  const { head, lines } = await readJournal(options);
  /** What the world takes for the time: while a call is done (again), the moment that its line says. */
  let fixedAt: number | undefined = lines[0]?.at ?? now();
  // Nothing is on its way to a cluster in this process, so a submission that a killed process left open is settled soon after its bound.
  const world = createMemoryCluster({ shape, clock: { now: () => fixedAt ?? now() }, random, credentialLifeSeconds: 0 });
  const plain = adapterOf(world, { cluster, tag });
  for (const line of lines) {
    fixedAt = line.at;
    world.catchUp();
    world.reuseIds(line.nextId);
    await callOf(await plain.connect(line.login), line.verb)(...line.given);
  }
  fixedAt = undefined;
  // What came due while no process ran.
  world.catchUp();
  world.reuseIds(Math.max(head.nextId, world.state.nextId));
  const kept = lines.filter((line) => !isOver(world, tag, jobOf(line)));
  await writeWhole(path, { ...head, nextId: world.state.nextId }, kept);
  const file = openSync(path, 'a', 0o600);
  const perform: Perform = (session, login, verb, given) => {
    const at = world.catchUp();
    appendWhole(file, `${JSON.stringify({ at, login, verb, nextId: world.state.nextId, given } satisfies Line)}\n`);
    // Calls of the memory cluster are atomic: all of it happens before this returns. A millisecond later it would be another world.
    fixedAt = at;
    try {
      return callOf(session, verb)(...given);
    } finally {
      fixedAt = undefined;
    }
  };
  return {
    adapter: { ...plain, connect: async (login) => noted(await plain.connect(login), login, perform) },
    world,
    close: () => closeSync(file),
  };
};

type Perform = (session: Session, login: string, verb: JournalVerb, given: unknown[]) => Promise<unknown>;

const callOf = (session: Session, verb: JournalVerb): ((...given: readonly unknown[]) => Promise<unknown>) => {
  const call = session[verb];
  if (!call) throw new Error(`this shape has no ${verb}`);
  return call as (...given: readonly unknown[]) => Promise<unknown>;
};

const noted = (session: Session, login: string, perform: Perform): Session => {
  const verbs = VERBS.filter((verb) => session[verb] !== undefined);
  const calls = verbs.map((verb) => [verb, async (...given: unknown[]) => perform(session, login, verb, given)]);
  return { ...session, ...Object.fromEntries(calls) };
};

/** Longer than dispatch asks for anything of an ended job. */
const KEPT_MS = 24 * 3600 * 1000;

/** A job whose end was written a day ago, and of which nothing lives. Its publications go with it. */
const isOver = ({ state }: World, tag: string, job: string): boolean => {
  const key = jobKey(tag, job);
  const stop = state.controls.get(key)?.stop;
  if (!stop || stop.writtenAtMs + KEPT_MS > state.agenda.nowMs) return false;
  const running = state.executionsByJob.get(key)?.some((execution) => execution.endedAtMs === undefined) ?? false;
  return !running && (state.byJob.get(key) ?? []).every((object) => object.state === 'ended');
};

const namedSchema = z.object({ identity: z.string() });
const jobOf = ({ verb, given: [first] }: Line): string => {
  if (verb === 'fence' || verb === 'collect') return String(first);
  const named = namedSchema.safeParse(first).data;
  return (named && parseIdentity(named.identity)?.job) ?? '';
};

interface Read {
  readonly head: Head;
  readonly lines: readonly Line[];
}

const readJournal = async ({ path, cluster, shape }: JournalOptions): Promise<Read> => {
  const [first, ...rest] = await wholeLines(path);
  if (first === undefined) return { head: { journal: 1, cluster, shape, nextId: 1 }, lines: [] };
  const head = parsed(path, 1, first, headSchema);
  if (head.shape !== shape)
    throw new StartRefused(
      `${path}: memory cluster '${cluster}' was made in the shape ${head.shape}: keep that shape, or give the cluster another id`,
    );
  return { head, lines: rest.map((line, i) => parsed(path, i + 2, line, lineSchema)) };
};

const parsed = <T>(path: string, number: number, line: string, schema: z.ZodType<T>): T => {
  try {
    return schema.parse(JSON.parse(line));
  } catch (error) {
    if (!(error instanceof z.ZodError) && !(error instanceof SyntaxError)) throw error;
    throw new StartRefused(
      `${path}: line ${number} is damaged: restore the folder from a copy, or remove this file and lose the cluster's objects`,
    );
  }
};

const writeWhole = async (path: string, head: Head, lines: readonly Line[]): Promise<void> => {
  const aside = `${path}-new`;
  await writeFile(aside, [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600, flush: true });
  await rename(aside, path);
};
