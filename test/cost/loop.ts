/**
 * Loop: the design that dispatch is compared with. A state machine per job goes round Wait → Task → Choice, and its Task connects to the
 * cluster and asks for this one job. Pure. Whatever is not certain is left out here and counted for dispatch: the loop keeps no record,
 * sends no events, reads its key for nothing, needs no retries and is watched by nobody.
 */
import { lambda } from './estimate.ts';
import { ASSUMED, costOf } from './prices.ts';

/** Of one round: Wait, Task and Choice; and of its history entered and exited of each, and scheduled, started and succeeded of the Task. */
const TRANSITIONS = 3;
const EVENTS = 9;
/** At which an execution of Step Functions fails. */
const MOST_EVENTS = 25_000;

export interface Loops {
  readonly transitions: number;
  readonly invocations: number;
  /** To the cluster. */
  readonly connectionsPerHour: number;
  /** After so many hours each of the executions has failed, unless somebody had it begin anew. */
  readonly hoursToFailure: number;
  readonly dollars: { readonly machine: number; readonly functions: number; readonly logs: number };
}

/** So many jobs, each asked about every so many seconds, for so many hours. */
export const loops = ({ jobs, everySeconds, hours }: { jobs: number; everySeconds: number; hours: number }): Loops => {
  const perHour = 3600 / everySeconds;
  const rounds = jobs * hours * perHour;
  const bytes = rounds * (ASSUMED.lineBytes + ASSUMED.platformLineBytes);
  return {
    transitions: rounds * TRANSITIONS,
    invocations: rounds,
    connectionsPerHour: jobs * perHour,
    hoursToFailure: Math.floor(MOST_EVENTS / EVENTS) / perHour,
    dollars: {
      machine: rounds * TRANSITIONS * costOf('transition'),
      functions: lambda(rounds, rounds * ASSUMED.seconds.look),
      logs: (bytes / 1e9) * costOf('logGb'),
    },
  };
};
