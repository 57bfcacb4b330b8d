import type { CacheReader } from '../cache/cache-reader.js';
import type { UpstreamAccess } from '../query-path/query-path.js';
import {
  DropReason,
  type Exchange,
  ForwardResult,
  type QueryHandler,
  type ReplyPath,
} from '../query/exchange.js';
import type { Question } from '../query/question.js';
import { HandoverKind, type HandoverWriter } from './handover-ring.js';
import { LaneCount, type LaneCounts } from './lane-counts.js';

export interface HandoverOptions {
  readonly ring: HandoverWriter;
  /** The reply paths of the sockets, in their order. */
  readonly paths: readonly ReplyPath[];
  readonly counts: LaneCounts;
  readonly cache: Pick<CacheReader, 'uncountMiss'>;
  /** Whether the main thread has made no turn for so long that clients rather get an expired answer than wait. */
  readonly isMainLate: () => boolean;
  readonly nowMs: () => number;
  /** A word that the main thread waits on. */
  readonly wake: Int32Array;
}

/**
 * Hands queries over to the main thread: those that need an upstream (`UpstreamAccess`), or all (`QueryHandler`). The
 * main thread goes on from their stage, and answers through the same socket.
 */
export class Handover implements UpstreamAccess, QueryHandler {
  /** Of this batch. */
  private handedOver = 0;
  private arrivedMs = 0;

  constructor(private readonly options: HandoverOptions) {}

  handle(exchange: Exchange): void {
    if (this.tryHandOver(exchange, HandoverKind.received)) return;
    exchange.replyPath.drop(DropReason.handover);
  }

  forward(exchange: Exchange, question: Question): ForwardResult {
    const isItsOwn = question === exchange;
    const kind = isItsOwn ? HandoverKind.missed : HandoverKind.admitted;
    if (!this.tryHandOver(exchange, kind)) return ForwardResult.refused;
    this.options.cache.uncountMiss();
    return ForwardResult.taken;
  }

  /** False: the main thread decides that. True when it has made no turn for too long. */
  isStaleDue(): boolean {
    return this.options.isMainLate();
  }

  refresh(exchange: Exchange): boolean {
    return this.tryHandOver(exchange, HandoverKind.refresh);
  }

  /** The batch has ended: wakes the main thread if there is something for it. */
  afterBatch = (): void => {
    if (this.handedOver === 0) return;
    const { wake } = this.options;
    Atomics.add(wake, 0, this.handedOver);
    Atomics.notify(wake, 0);
    this.handedOver = 0;
  };

  private tryHandOver(exchange: Exchange, kind: HandoverKind): boolean {
    const { ring, paths, counts, nowMs } = this.options;
    // One look at the clock for the whole batch.
    if (this.handedOver === 0) this.arrivedMs = nowMs();
    const socket = paths.indexOf(exchange.replyPath);
    if (!ring.write(exchange, socket, kind, this.arrivedMs)) {
      counts.count(LaneCount.notHandedOver);
      return false;
    }
    this.handedOver++;
    counts.count(LaneCount.handedOver);
    return true;
  }
}
