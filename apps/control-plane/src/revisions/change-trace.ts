import type { Span } from '@weir/telemetry';

/** The spans of a change in that of its call: its wait in the queue, transaction, publishing, acknowledgements. */
export class ChangeTrace {
  /** The wait or the transaction. Null: the change is made, or cannot be made. */
  private step: Span | null;

  private constructor(private readonly call: Span) {
    this.step = call.begin('change.queue');
  }

  /** @param call null: it is not traced. */
  static begin(call: Span | null): ChangeTrace | null {
    return call && new ChangeTrace(call);
  }

  /** Its wait is over. @param first traced change of the same transaction before this one, if any. */
  beginTransaction(first: ChangeTrace | null): void {
    this.step?.end();
    this.step = this.call.begin('change.transaction', { sharedWith: first?.step ?? null });
  }

  /** @param changes how many were in the transaction. */
  endTransaction(changes: number): void {
    this.step?.end({ attributes: { 'weir.transaction.changes': changes } });
    this.step = null;
  }

  /** The wait or the transaction has failed. */
  fail(): void {
    this.step?.end({ hasFailed: true });
    this.step = null;
  }

  /** Begins to publish the change. */
  beginPublishing(revision: number): Span {
    const attributes = { 'weir.revision': revision };
    return this.call.begin('change.publish', { kind: 'producer', attributes });
  }

  beginAcknowledgements(): Span {
    return this.call.begin('change.acknowledgements');
  }
}
