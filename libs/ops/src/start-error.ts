/** A start failed for a reason that an operator can fix. The message is one line; no stack is printed. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
