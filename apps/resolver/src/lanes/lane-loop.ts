import {
  BATCH,
  MSG_DONTWAIT,
  MSG_WAITFORONE,
  SocketPoller,
  type SystemCalls,
} from '@weir/udp-batch';
import { LaneCount, type LaneCounts } from './lane-counts.js';
import type { LaneSocket } from './lane-socket.js';
import { LaneOrder, LaneWord } from './lane-task.js';

/** Longest wait for a query. Then the lane looks at its orders. */
const LANE_WAIT_MS = 50;
/** A lane naps after batches of at least this many queries. */
const BUSY_BATCH = 4;
/**
 * An order is carried out after this many turns also while queries keep coming. A receive buffer of 8 MiB holds about
 * 11,000 queries, which are 170 batches, so what had arrived before the order is answered.
 */
export const MOST_TURNS_TO_EMPTY = 256;

export interface LaneLoopOptions {
  readonly calls: SystemCalls;
  readonly sockets: readonly LaneSocket[];
  /** Of `sockets`, in this order. They wait for `LANE_WAIT_MS`. */
  readonly fds: readonly number[];
  readonly words: Int32Array;
  readonly counts: LaneCounts;
  readonly nowMs: () => number;
  /**
   * How long it naps after a batch of several queries that emptied its sockets, so that more arrive together: a turn
   * costs about as much for one query as for many. 0: never. A lone query never waits.
   */
  readonly napMs: number;
  /** Before each batch: takes what has changed, and keeps it as it is until `leave`. */
  readonly enter: () => void;
  readonly leave: () => void;
  /** After each batch. */
  readonly afterBatch: () => void;
  /** After each turn. `isEmptied`: no socket had more queries than one batch. */
  readonly onTurn: (nowMs: number, isEmptied: boolean) => void;
}

/**
 * The turns of a lane: wait for queries, decide about all that have arrived, send their answers. It ends by order only.
 * A turn allocates nothing.
 */
export class LaneLoop {
  private readonly poller: SocketPoller | null;
  private order: LaneOrder = LaneOrder.run;
  private done: LaneOrder = LaneOrder.run;
  /** Turns since an order that is not carried out yet. */
  private turnsOfOrder = 0;
  /** Whether no socket had more queries than one batch in this turn. */
  private isEmptied = true;
  /** Why a socket could not be read in this turn; 0 when all could. */
  private errno = 0;

  constructor(private readonly options: LaneLoopOptions) {
    const { calls, fds } = options;
    this.poller = fds.length === 1 ? null : new SocketPoller(calls, fds);
  }

  run(): void {
    while (this.done !== LaneOrder.stop) this.turn();
  }

  turn(): void {
    const { words } = this.options;
    const { poller } = this;
    this.order = Atomics.load(words, LaneWord.order) as LaneOrder;
    this.isEmptied = true;
    this.errno = 0;
    const mayWait = this.order === this.done;
    const received =
      poller === null
        ? this.takeBatch(0, mayWait ? MSG_WAITFORONE : MSG_DONTWAIT)
        : this.takeBatches(poller, mayWait ? LANE_WAIT_MS : 0);
    if (received === 0) this.takeChanges();
    words[LaneWord.errno] = this.errno;
    // What had arrived before the order is answered.
    if (this.order !== this.done) {
      this.turnsOfOrder++;
      if (this.isEmptied || this.turnsOfOrder === MOST_TURNS_TO_EMPTY) this.carryOut();
    }
    Atomics.add(words, LaneWord.turns, 1);
    if (mayWait && received === 0 && this.errno !== 0) this.pause(LANE_WAIT_MS);
    if (mayWait && received >= BUSY_BATCH && this.isEmptied) this.nap();
    this.options.onTurn(this.options.nowMs(), this.isEmptied);
  }

  private nap(): void {
    const { napMs, counts } = this.options;
    if (napMs === 0) return;
    counts.count(LaneCount.naps);
    this.pause(napMs);
  }

  /** An order ends it. */
  private pause(ms: number): void {
    Atomics.wait(this.options.words, LaneWord.order, this.order, ms);
  }

  private takeBatches(poller: SocketPoller, waitMs: number): number {
    const { sockets } = this.options;
    poller.wait(waitMs);
    let received = 0;
    for (let i = 0; i < sockets.length; i++) {
      if (poller.isReady(i)) received += this.takeBatch(i, MSG_DONTWAIT);
    }
    return received;
  }

  private takeBatch(index: number, flags: number): number {
    const { sockets, enter, leave, afterBatch, counts, nowMs } = this.options;
    const socket = sockets[index];
    const count = socket.receive(flags);
    if (socket.errno !== 0) {
      this.errno = socket.errno;
      counts.count(LaneCount.receiveErrors);
    }
    if (count === BATCH) this.isEmptied = false;
    if (count === 0) return 0;
    const receivedMs = nowMs();
    enter();
    try {
      socket.handle(count);
    } finally {
      leave();
    }
    socket.flush();
    afterBatch();
    counts.turns.observe((nowMs() - receivedMs) / 1000);
    return count;
  }

  /** Takes what has changed, when there are no queries. */
  private takeChanges(): void {
    this.options.enter();
    this.options.leave();
  }

  private carryOut(): void {
    const { words, sockets } = this.options;
    this.done = this.order;
    this.turnsOfOrder = 0;
    for (let i = 0; i < sockets.length; i++) sockets[i].isDraining = true;
    Atomics.store(words, LaneWord.done, this.done);
  }
}
