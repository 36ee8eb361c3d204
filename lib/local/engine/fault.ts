/**
 * What can go wrong, in two families: a fault inside an execution (StateFault, what Retry and Catch see) and a request that the
 * engine turns down (RequestRefused, what callers of the API see). Both carry AWS's own names.
 *
 * Guards: `States.Runtime` and `States.DataLimitExceeded` end an execution, whatever its Catch says; `States.TaskFailed` never means a time-out.
 */

/** task: the called thing failed · timeout: it was too slow · query: an expression had no value · terminal: nothing catches it. */
export type FaultKind = 'task' | 'timeout' | 'query' | 'terminal';

/** AWS cuts a longer cause. */
const CAUSE_LIMIT = 32_768;

export class StateFault extends Error {
  readonly kind: FaultKind;
  /** What ErrorEquals is compared with. */
  readonly error: string;
  override readonly cause: string;
  /** A second name that ErrorEquals may use: a missed heartbeat is reported as States.Timeout and may be caught under its own name. */
  readonly alias: string | undefined;

  private constructor(kind: FaultKind, error: string, cause: string, alias?: string) {
    super(`${error}: ${cause}`);
    this.name = 'StateFault';
    this.kind = kind;
    this.error = error;
    this.cause = cause.slice(0, CAUSE_LIMIT);
    this.alias = alias;
  }

  static task(error: string, cause: string): StateFault {
    return new StateFault('task', error, cause);
  }

  static timeout(cause: string): StateFault {
    return new StateFault('timeout', 'States.Timeout', cause);
  }

  static heartbeat(cause: string): StateFault {
    return new StateFault('timeout', 'States.Timeout', cause, 'States.HeartbeatTimeout');
  }

  static query(cause: string): StateFault {
    return new StateFault('query', 'States.QueryEvaluationError', cause);
  }

  static terminal(error: string, cause: string): StateFault {
    return new StateFault('terminal', error, cause);
  }
}

/** Whether one ErrorEquals list names this fault. */
export function names(errorEquals: readonly string[], fault: StateFault): boolean {
  if (fault.kind === 'terminal') return false;
  return errorEquals.some(
    (name) =>
      name === fault.error ||
      name === fault.alias ||
      name === 'States.ALL' ||
      (name === 'States.TaskFailed' && fault.kind === 'task' && fault.error !== 'States.Timeout'),
  );
}

export type RequestRefusedName =
  | 'ExecutionAlreadyExists'
  | 'ExecutionDoesNotExist'
  | 'InvalidExecutionInput'
  | 'InvalidName'
  | 'InvalidOutput'
  | 'InvalidToken'
  | 'TaskTimedOut';

/** A request turned down; `name` and `code` are the name AWS gives. Never worth repeating unchanged. */
export class RequestRefused extends Error {
  override readonly name: RequestRefusedName;
  readonly code: RequestRefusedName;
  readonly retryable = false;

  constructor(name: RequestRefusedName, message: string) {
    super(message);
    this.name = name;
    this.code = name;
  }
}
