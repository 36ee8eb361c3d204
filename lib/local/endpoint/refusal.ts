/**
 * What the endpoint turns down before the engine sees it, under the names AWS uses.
 */

export type CallRefusedName =
  | 'AccessDeniedException'
  | 'InvalidArn'
  | 'RequestEntityTooLargeException'
  | 'SerializationException'
  | 'StateMachineDoesNotExist'
  | 'UnknownOperationException'
  | 'ValidationException';

/** Never worth repeating unchanged. The message holds nothing of the body but well-formed ARNs. */
export class CallRefused extends Error {
  override readonly name: CallRefusedName;
  readonly code: CallRefusedName;
  readonly retryable = false;

  constructor(name: CallRefusedName, message: string) {
    super(message);
    this.name = name;
    this.code = name;
  }
}
