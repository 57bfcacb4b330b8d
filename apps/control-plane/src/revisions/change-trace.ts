import type { Applied, Position, PublishedChange } from '@weir/change-feed';
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

export interface TracedChange {
  readonly change: PublishedChange;
  readonly trace: ChangeTrace | null;
}

/** What the writer needs of the publisher of the change feed. */
export interface Propagation {
  /** Never rejects. @param changes committed together, in order; at least one. */
  publish(changes: readonly PublishedChange[]): Promise<void>;
  /** Waits until the last of them is in force on every live resolver, at most `timeoutMs`. */
  waitApplied(changes: readonly Position[], timeoutMs: number): Promise<Applied>;
}

/** Starts to publish changes, in order and before the next commit, and waits for the resolvers at the same time. */
export async function propagateTraced(
  committed: readonly TracedChange[],
  propagation: Propagation,
  timeoutMs: number,
): Promise<Applied> {
  const publishing: Span[] = [];
  const changes = committed.map(({ change, trace }) => {
    if (trace === null) return change;
    const span = trace.beginPublishing(change.revision);
    publishing.push(span);
    return { ...change, traceparent: span.traceparent };
  });
  const waiting = committed.flatMap(({ trace }) => trace?.beginAcknowledgements() ?? []);
  void propagation.publish(changes).then(() => publishing.forEach((span) => span.end()));
  const applied = await propagation.waitApplied(changes, timeoutMs);
  const attributes = { 'weir.resolvers.applied': applied.applied, 'weir.resolvers': applied.total };
  for (const span of waiting) span.end({ attributes });
  return applied;
}
