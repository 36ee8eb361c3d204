/**
 * System: the whole of dispatch in one process: the machine file on the local engine, the same handlers, a ticker in place of
 * the schedules. Nothing of the supervision is kept here: killed at any moment, a new process carries every job on from the
 * record (`start` reconciles every job).
 */
import { readFileSync } from 'node:fs';
import { advanceHandler } from '../../functions/advance.ts';
import { parkHandler } from '../../functions/park.ts';
import { pollHandler } from '../../functions/poll.ts';
import { reconcileHandler } from '../../functions/reconcile.ts';
import type { Bus, ClusterConfiguration, Ports, SecretConfiguration, Supervisors } from '../app/ports.ts';
import { probes } from '../app/probes.ts';
import { executionInput, executionName } from '../aws/supervisors.ts';
import { TIMING } from '../job/timing.ts';
import type { RecordStore } from '../record/port.ts';
import type { Cancel, Clock } from './clock.ts';
import { createEngine, type Engine } from './engine/engine.ts';
import { RequestRefused } from './engine/fault.ts';
import { createFlights, type Flights } from './flights.ts';

export interface SystemOptions {
  readonly store: RecordStore;
  readonly clusters: readonly ClusterConfiguration[];
  /** Secrets that programs may be given; absent: none. */
  readonly secrets?: readonly SecretConfiguration[];
  readonly tag: string;
  readonly clock: Clock;
  /** [0, 1). */
  readonly random: () => number;
  readonly log: Ports['log'];
  /** How supervisors are started and signalled: by default the engine is called directly, which takes no time. */
  readonly supervisors?: Supervisors;
  readonly bus?: Bus;
}

export interface System {
  readonly ports: Ports;
  readonly engine: Engine;
  /** Reconciles every job, then begins to poll and to sweep. */
  start(): Promise<void>;
  /** At once: what is in flight goes nowhere, as if the process had been killed. */
  stop(): void;
  /** Begins nothing new and waits for handlers and ticks that are in flight, at most so long. Whether all of them ended; then `stop`. */
  drain(ms: number): Promise<boolean>;
}

const DEFINITION = new URL('../../statemachines/supervisor.asl.json', import.meta.url);
const FUNCTIONS = { AdvanceFunctionArn: 'advance', ParkFunctionArn: 'park' };
/** Every so many polls one looks even where no job is active, so that orphans are found. */
const SWEEP_EVERY = 5;

export const createSystem = (options: SystemOptions): System => {
  const { clock, random, log } = options;
  const clusters = new Map(options.clusters.map((cluster) => [cluster.id, cluster]));
  const made = (): Promise<Ports> => Promise.resolve(ports);
  const flights = createFlights(clock);
  const engine = createEngine({
    definition: readFileSync(DEFINITION, 'utf8'),
    substitutions: FUNCTIONS,
    functions: { advance: flights.counted(advanceHandler(made)), park: flights.counted(parkHandler(made)) },
    clock,
    random,
    onEnd: (ended) => {
      if (ended.status === 'SUCCEEDED') return;
      log('error', 'a supervisor ended badly', { execution: ended.name, status: ended.status, error: ended.error, cause: ended.cause });
    },
  });
  const ports: Ports = {
    store: options.store,
    supervisors: options.supervisors ?? engineSupervisors(engine, log),
    ...(options.bus ? { bus: options.bus } : {}),
    clusters,
    ...(options.secrets ? { secrets: options.secrets } : {}),
    probeOf: probes(() => ports),
    tag: options.tag,
    now: clock.now,
    random,
    sleep: (ms) => new Promise((resolve) => clock.after(ms, () => resolve())),
    log,
  };
  const ticker = createTicker(ports, clock, flights);
  return {
    ports,
    engine,
    start: async () => {
      await reconcileHandler(made)({ everyJob: true });
      ticker.start();
    },
    stop: () => {
      ticker.stop();
      engine.close();
    },
    drain: (ms) => {
      ticker.stop();
      return flights.land(ms);
    },
  };
};

/** The engine behind the same port as Step Functions: same names, same inputs, same answers to late signals. */
export const engineSupervisors = (engine: Engine, log: Ports['log']): Supervisors => ({
  start: async (job, generation) => {
    try {
      engine.startExecution({ name: executionName(job, generation), input: executionInput(job, generation) });
      return 'started';
    } catch (error) {
      if (error instanceof RequestRefused && error.code === 'ExecutionAlreadyExists') return 'exists';
      throw error;
    }
  },
  signal: async (token) => {
    try {
      engine.sendTaskSuccess(token, '{}');
      return 'signalled';
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      if (error.code !== 'TaskTimedOut') log('error', 'a stored task token is not one', { code: error.code });
      return 'superseded';
    }
  },
});

interface Ticker {
  start(): void;
  stop(): void;
}

/** Polls each cluster and login at its own pace, never two at a time, and reconciles every five minutes. */
const createTicker = (ports: Ports, clock: Clock, flights: Flights): Ticker => {
  const timers = new Map<string, Cancel>();
  let stopped = false;
  const poll = flights.counted(pollHandler(() => Promise.resolve(ports)));
  const reconcile = flights.counted(reconcileHandler(() => Promise.resolve(ports)));

  const every = (name: string, seconds: number, work: (tick: number) => Promise<unknown>, tick = 1): void => {
    if (stopped) return;
    const run = async (): Promise<void> => {
      try {
        await work(tick);
      } catch (error) {
        // One failed tick must not end the next one: said, and tried again at its time.
        ports.log('error', `${name} failed`, { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
      }
      every(name, seconds, work, tick + 1);
    };
    timers.set(
      name,
      clock.after(seconds * 1000, () => void run()),
    );
  };

  return {
    start: () => {
      for (const cluster of ports.clusters.values()) {
        for (const login of cluster.logins) {
          every(`poll ${cluster.id} ${login.id}`, cluster.pollEverySeconds, async (tick) => {
            const polled = await poll({ cluster: cluster.id, login: login.id, sweep: tick % SWEEP_EVERY === 0 });
            if (polled.kind === 'unreachable') ports.log('warn', 'cluster not reached', { cluster: cluster.id, says: polled.says });
          });
        }
      }
      every('reconcile', TIMING.reconcileSeconds, () => reconcile({}));
    },
    stop: () => {
      stopped = true;
      for (const cancel of timers.values()) cancel();
    },
  };
};
