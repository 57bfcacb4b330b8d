import type { Applied, Position, PublishedChange } from '@weir/change-feed';
import type { Span } from '@weir/telemetry';
import type { MadeChange } from './change-record.js';

/** What the writer needs of the publisher of the change feed. */
export interface Propagation {
  /** Never rejects. @param changes committed together, in order; at least one. */
  publish(changes: readonly PublishedChange[]): Promise<void>;
  /** Waits until the last of them is in force on every live resolver, at most `timeoutMs`. */
  waitApplied(changes: readonly Position[], timeoutMs: number): Promise<Applied>;
}

/** Starts to publish changes, in order and before the next commit, and waits for the resolvers at the same time. */
export async function propagate(
  committed: readonly Pick<MadeChange, 'change' | 'trace'>[],
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
