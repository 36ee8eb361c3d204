/**
 * transitions: what lives cost in Step Functions, counted from the engine's history of the deployed machine file under virtual
 * time: a life without failure, what each recovery adds, and the safety wakes of a long wait, counted apart.
 */
import type { HistoryEvent } from '../../lib/local/engine/history.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { type Life, live } from './life.ts';
import { type Measure, tell } from './measure.ts';

const TRANSITIONS_PER_LOOP = 3;

const preempted = { queueSeconds: 60, program: { runsSeconds: 600, publishes: [{ atSeconds: 300, step: 100 }], ends: 'preempted' } };
const completed = { queueSeconds: 60, program: { runsSeconds: 600, ends: 'completed' } };
const long = { queueSeconds: 60, program: { runsSeconds: 60 * 3600, ends: 'completed' } };

/** A transition is a state entered; the start of an execution is none. */
const transitions = (history: readonly HistoryEvent[]): number => history.filter(({ type }) => type.endsWith('StateEntered')).length;

const entered = (history: readonly HistoryEvent[], state: string): number =>
  history.filter((event) => event.state === state && event.type.endsWith('StateEntered')).length;

const SAFETY_MS = 12 * 3600 * 1000;

/** Waits that ended by their time limit, and that limit was the safety wake's. */
const safetyWakes = (history: readonly HistoryEvent[]): number => {
  let enteredAt = 0;
  let wakes = 0;
  for (const { type, state, atMs } of history) {
    if (state !== 'AwaitWake') continue;
    if (type === 'TaskStateEntered') enteredAt = atMs;
    if (type === 'TaskTimedOut' && atMs - enteredAt >= SAFETY_MS) wakes += 1;
  }
  return wakes;
};

/** Of the cluster as a whole, whatever the number of jobs. */
const SHARED = new Set<keyof RecordStore>(['listActive', 'listUnended', 'listOwed', 'readLease', 'renewLease']);
const READS = new Set<keyof RecordStore>(['read', 'readAt', 'goingOn', 'getBlob', 'readHead', 'readHeads', 'readWake', 'readWatch']);

const calls = ({ calls: made }: Life, reads: boolean): number =>
  [...made].reduce((sum, [name, count]) => (SHARED.has(name) || READS.has(name) !== reads ? sum : sum + count), 0);

const told = (who: string, life: Life): readonly Measure[] => [
  { name: `${who}: commits`, value: life.commits.length },
  { name: `${who}: record reads`, value: calls(life, true) },
  { name: `${who}: record writes`, value: calls(life, false) },
];

const script = (...attempts: readonly unknown[]) => ({ script: attempts, timeLimit: '3d', mostHours: 80, pollEverySeconds: 60 });

const smooth = await live(script(completed));
const once = await live(script(preempted, completed));
const thrice = await live(script(preempted, preempted, preempted, completed));
const waiting = await live(script(long));
const perRecovery = (life: Life, recoveries: number): number => (transitions(life.history) - transitions(smooth.history)) / recoveries;
const wakes = safetyWakes(waiting.history);
const safetyCost = wakes * TRANSITIONS_PER_LOOP;
const loops = entered(thrice.history, 'Advance');

tell([
  { name: 'a life without failure', value: transitions(smooth.history), bound: { atMost: 8 } },
  { name: 'a recovery, of one', value: perRecovery(once, 1), bound: { atMost: 8 } },
  { name: 'a recovery, of three', value: perRecovery(thrice, 3), bound: { atMost: 8 } },
  { name: 'a life of 60 h, without its safety wakes', value: transitions(waiting.history) - safetyCost, bound: { atMost: 8 } },
  { name: 'safety wakes of a life of 60 h', value: wakes },
  { name: 'history events per loop', value: thrice.history.length / loops },
  ...told('a life without failure', smooth),
  ...told('a life with one recovery', once),
]);
