/**
 * Scenarios: what the world answers a supervisor's machine, as data and functions that know no engine, and what an engine made of
 * it. Two engines that read the machine file alike leave the same trace.
 */
import type { Json } from '../../lib/local/engine/json.ts';

/** Of a function that never answers, or a start that hangs. */
export const NEVER = Symbol('never');

export interface Signal {
  /** JSON text of a success. */
  readonly output?: string;
  /** Name of the error of a failure. */
  readonly error?: string;
  /** The execution is stopped from outside instead. */
  readonly stop?: true;
}

/** Codes as the service names them. */
export interface StartTrouble {
  /** Refused, nothing was started. */
  readonly before?: string;
  /** Started, and the answer was lost. */
  readonly after?: string;
}

export interface Scenario {
  readonly title: string;
  /** 1 */
  readonly generation?: number;
  /** Of the execution; by default the input that dispatch starts this generation with. */
  readonly input?: Json;
  /** What the n-th call, from 0, of that generation's Advance answers or throws; NEVER: no answer. */
  readonly advance: (call: number, generation: number) => unknown;
  readonly park?: (call: number) => unknown;
  /** What is sent for the n-th park's token once the park has answered; nothing: the time limit ends the wait. */
  readonly signal?: (call: number) => Signal | undefined;
  /** What the n-th start that a state makes meets; NEVER: no answer within the state's limit. */
  readonly starting?: (call: number) => StartTrouble | typeof NEVER | undefined;
  /** After the end, a success for every token that was handed out. */
  readonly late?: true;
  /** The next generation is there before this one begins. */
  readonly successor?: 'running' | 'ended';
  /** A time limit is to pass: such a scenario's limits are made short. */
  readonly hasty?: boolean;
  /** In place of the machine file's own 315 d. */
  readonly executionLimitSeconds?: number;
}

export interface Call {
  readonly function: string;
  readonly payload: Json;
}

export interface Trace {
  readonly status: string;
  /** JSON text, without spaces. */
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  /** In the order in which they were entered. */
  readonly states: readonly string[];
  /** `Advance TaskScheduled`, one by one; with the error, where there is one. */
  readonly events: readonly string[];
  readonly calls: readonly Call[];
  /** The token of each park: the same number, the same token. */
  readonly tokens: readonly number[];
  /** What ContinueAsNew asked for: name and input. */
  readonly starts: readonly { readonly name: string; readonly input: string }[];
  /** Before each retry, with jitter at its upper bound. */
  readonly delaysSeconds: readonly number[];
  /** What each signal was answered: `taken`, or the name of the error. */
  readonly signals: readonly string[];
  /** Executions of the next generation, and how they ended. */
  readonly successors: readonly string[];
}

export const generationOf = ({ generation = 1 }: Scenario): number => generation;

/** The bytes that dispatch starts a generation with, or the scenario's own. */
export const inputOf = (scenario: Scenario, generation: number): string =>
  scenario.input !== undefined && generation === generationOf(scenario)
    ? JSON.stringify(scenario.input)
    : JSON.stringify({ answer: {}, generation, job: 'j1', loops: 0 });

/**
 * Payloads with what differs between any two runs taken out: a moment becomes `moment`, and a token the word, while `tokens` keeps
 * which parks were handed the same one, numbered in the order of their appearance.
 */
export const comparable = (calls: readonly Call[]): Pick<Trace, 'calls' | 'tokens'> => {
  const seen: unknown[] = [];
  const tokens: number[] = [];
  const plain = (key: string, value: Json): Json => {
    if (key === 'token') {
      if (!seen.includes(value)) seen.push(value);
      tokens.push(seen.indexOf(value) + 1);
      return typeof value === 'string' && value !== '' ? 'token' : value;
    }
    const isMoment = (key === 'startedAt' || key === 'enteredAt') && !Number.isNaN(Date.parse(String(value)));
    return isMoment ? 'moment' : value;
  };
  const compared = calls.map(({ function: name, payload }) => {
    const entries = Object.entries(payload as Record<string, Json>).map(([key, value]) => [key, plain(key, value)]);
    return { function: name, payload: Object.fromEntries(entries) as Json };
  });
  return { calls: compared, tokens };
};

/** What sending a signal is answered. */
export const answerTo = async (send: () => unknown): Promise<string> => {
  try {
    await send();
    return 'taken';
  } catch (error) {
    return (error as Error).name;
  }
};
