import type { LogPoint } from '@weir/config-model';
import type { Traced } from '../protocol/protocol.js';
import { dropOldest } from '../runtime/runtime.js';

export interface FollowerSpan {
  note(name: string): void;
  end(): void;
}

export interface FollowerTracer {
  /** @param traceparent as it was received. @returns null when it is not valid or not sampled. */
  resume(
    name: string,
    options: {
      readonly kind: 'consumer';
      readonly attributes: Readonly<Record<string, string | number>>;
    },
    traceparent: string,
  ): FollowerSpan | null;
}

/** Changes of which the spans are open. A follower that falls further behind has no span for the oldest. */
const MAX_SPANS = 1_000;

/** A span for each traced change, from its message until its acknowledgement, with a note when it is in force. */
export class ChangeSpans {
  /** By revision, in the order in which they were received. */
  private readonly open = new Map<number, FollowerSpan>();
  /** The last revision that was noted to be in force. */
  private noted = -1;

  constructor(private readonly tracer: FollowerTracer | undefined) {}

  receive({ revision, traceparent }: Traced & LogPoint, inForce: number | null): void {
    if (this.tracer === undefined || traceparent === undefined) return;
    if (this.open.has(revision) || (inForce !== null && revision <= inForce)) return;
    const attributes = { 'weir.revision': revision };
    const span = this.tracer.resume('change.apply', { kind: 'consumer', attributes }, traceparent);
    if (span === null) return;
    this.open.set(revision, span);
    dropOldest(this.open, MAX_SPANS);
  }

  /** All changes up to this revision are in force. */
  noteInForce(revision: number): void {
    for (const [received, span] of this.open) {
      if (received > this.noted && received <= revision) span.note('in force');
    }
    this.noted = revision;
  }

  end(revision: number): void {
    for (const [received, span] of this.open) {
      if (received > revision) continue;
      this.open.delete(received);
      span.end();
    }
  }
}
