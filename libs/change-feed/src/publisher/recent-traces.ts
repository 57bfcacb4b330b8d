import type { LogPoint } from '@weir/config-model';
import type { PublishedChange, Traced } from '../protocol/protocol.js';

/** About as many as a follower fetches at once. */
const MAX_TRACES = 1_000;

/**
 * The traces of the last changes that this process has published, in memory only. A follower that fetches a change, for
 * its message was lost or it was too large for one, goes on with the same trace.
 */
export class RecentTraces {
  private readonly traces = new Map<number, Required<Traced> & Pick<LogPoint, 'digest'>>();

  add({ revision, digest, traceparent }: PublishedChange): void {
    if (traceparent === undefined) return;
    this.traces.set(revision, { digest, traceparent });
    const [oldest] = this.traces.keys();
    if (this.traces.size > MAX_TRACES && oldest !== undefined) this.traces.delete(oldest);
  }

  /** Another change with the same revision, of a log that was set back, has another digest. */
  of({ revision, digest }: LogPoint): Traced {
    const found = this.traces.get(revision);
    return found?.digest === digest ? { traceparent: found.traceparent } : {};
  }
}
