/** Failures of the record itself (contract §12). `retryable` tells a caller whether the same call may succeed later. */
export class RecordFailure extends Error {
  override readonly name = 'RecordFailure';
  readonly code: 'record/unavailable' | 'record/newer_schema';
  readonly retryable: boolean;
  constructor(code: RecordFailure['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.retryable = true;
  }
}
