import type { QueryHandler } from '../query/query-handler.js';
import type { ReplyPath, Exchange } from '../query/exchange.js';
import { DropReason } from '../query/drop-reason.js';
import type { UpstreamAccess } from '../query-path/query-path.js';
import { ForwardResult } from '../upstream/forward-result.js';
import type { HandoverWriter } from './handover-ring.js';
import type { LaneCounts } from './lane-counts.js';

export interface HandoverOptions {
  readonly ring: HandoverWriter;
  /** The reply paths of the sockets, in their order. */
  readonly paths: readonly ReplyPath[];
  readonly counts: LaneCounts;
  readonly nowMs: () => number;
  /** A word that the main thread waits on. */
  readonly wake: Int32Array;
}

/**
 * Hands queries over to the main thread: those that need an upstream (`UpstreamAccess`), or all (`QueryHandler`). The
 * main thread handles them from the start, and answers through the same socket.
 */
export class Handover implements UpstreamAccess, QueryHandler {
  /** Of this batch. */
  private handedOver = 0;
  private arrivedMs = 0;

  constructor(private readonly options: HandoverOptions) {}

  handle(exchange: Exchange): void {
    this.handOver(exchange, false);
  }

  forward(exchange: Exchange): ForwardResult {
    this.handOver(exchange, true);
    return ForwardResult.taken;
  }

  /** The main thread knows. */
  isStaleDue(): boolean {
    return false;
  }

  refresh(): boolean {
    return false;
  }

  /** The batch has ended: wakes the main thread if there is something for it. */
  afterBatch = (): void => {
    if (this.handedOver === 0) return;
    const { wake } = this.options;
    Atomics.add(wake, 0, this.handedOver);
    Atomics.notify(wake, 0);
    this.handedOver = 0;
  };

  private handOver(exchange: Exchange, isCounted: boolean): void {
    const { ring, paths, counts, nowMs } = this.options;
    // One look at the clock for the whole batch.
    if (this.handedOver === 0) this.arrivedMs = nowMs();
    if (!ring.write(exchange, paths.indexOf(exchange.replyPath), isCounted, this.arrivedMs)) {
      return exchange.replyPath.drop(DropReason.handover);
    }
    this.handedOver++;
    counts.countHandedOver();
  }
}
