/**
 * Profile: where the time of many worlds goes, part by part, from samples of the stack. Whoever judges is named first, since it folds,
 * too: what a fold costs there is the judge's.
 */
import { type Profiler, Session } from 'node:inspector/promises';

export interface Part {
  readonly name: string;
  /** Of the whole, 0 to 1. */
  readonly share: number;
}

const INTERVAL_MICROSECONDS = 1000;

/** By file, and where that says too little by function; the first that fits anywhere on the stack, from its top. */
const JUDGES = /test\/sim\/(judge|.*-check|ledger|rest|verdict|token)\.ts/;
const PARTS: readonly (readonly [name: string, file: RegExp, fn?: RegExp])[] = [
  ['JSONata', /node_modules\/jsonata\//],
  ['schemas', /node_modules\/zod\//],
  ['fold', /lib\/job\/(view|evolve.*|upcast|cluster-view)\.ts/],
  ['next step', /lib\/job\//],
  ['engine', /lib\/local\/engine\//],
  ['record', /lib\/record\//],
  ['cluster', /lib\/cluster\/memory\//],
  ['API', /(lib\/api|node_modules\/hono)\//],
  ['use cases', /lib\/(app|checkpoint)\//],
  ['scheduling', /test\/sim\/(kernel|random|climate|store|cluster|supervision|bus|release)\.ts/],
  ['scenery', /test\/sim\//],
  ['collecting garbage', /^$/, /^\(garbage collector\)$/],
  ['promises', /^(node:internal\/process\/task_queues)?$/, /^(runMicrotasks|processTicksAndRejections)$/],
];

/** Runs it, and says what it spent its time on, the most first. */
export const profiled = async (work: () => Promise<void>): Promise<readonly Part[]> => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROSECONDS });
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return partsOf(profile);
};

const partsOf = ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): readonly Part[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)));
  const stackOf = (id: number): Profiler.ProfileNode[] => {
    const stack: Profiler.ProfileNode[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) stack.push(byId.get(at)!);
    return stack;
  };
  const names = new Map(nodes.map(({ id }) => [id, nameOf(stackOf(id))]));
  const times = new Map<string, number>();
  samples.forEach((id, i) => {
    const name = names.get(id) ?? 'other';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  });
  const whole = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times].map(([name, time]) => ({ name, share: time / whole })).sort((a, b) => b.share - a.share);
};

const nameOf = (stack: readonly Profiler.ProfileNode[]): string => {
  const frames = stack.map(({ callFrame }) => callFrame);
  if (frames.some(({ url }) => JUDGES.test(url))) return 'invariants';
  for (const { url, functionName } of frames) {
    const part = PARTS.find(([, file, fn]) => file.test(url) && (fn?.test(functionName) ?? true));
    if (part) return part[0];
  }
  return 'other';
};
