import { BATCH, MSG_DONTWAIT, type SocketPoller } from '@weir/udp-batch';
import { setImmediate as events } from 'node:timers/promises';
import { LaneCount, type LaneCounts } from './lane-counts.js';
import type { LaneSocket } from './lane-socket.js';
import { LaneOrder, LaneWord } from './lane-task.js';
import { NapPace } from './nap-pace.js';

/** Longest wait for a query. Then the lane looks at its orders. */
const LANE_WAIT_MS = 50;
/** The same while answers of upstreams are expected, and the time between two turns of the event loop. */
const EVENTS_MS = 5;
/** The same while an answer is expected that only the event loop brings: over TCP or TLS. */
const STREAM_EVENTS_MS = 1;
/** A lane naps after batches of at least this many queries. */
const BUSY_BATCH = 4;
/**
 * An order is carried out after this many turns also while queries keep coming. A receive buffer of 8 MiB holds about
 * 11,000 queries, which are 170 batches, so what had arrived before the order is answered.
 */
export const MOST_TURNS_TO_EMPTY = 256;

/** What the loop needs of a `Forwarder`. */
export interface LaneUpstreams {
  /** Whether an answer is expected, over UDP or otherwise. */
  readonly isWaiting: boolean;
  /** Whether a client waits for an answer over TCP or TLS. */
  readonly isWaitingForStreams: boolean;
  /** Whether work in pieces goes on in the next turn of the event loop. */
  readonly hasPieces: boolean;
  /** Takes a batch of answers from that UDP socket. @returns how many packets came */
  receive(fd: number): number;
  /** Sends the queries that wait to be sent. */
  flush(): void;
}

export interface LaneLoopOptions {
  readonly sockets: readonly LaneSocket[];
  readonly upstreams: LaneUpstreams;
  /** Their descriptors, in the same order. */
  readonly fds: readonly number[];
  /** It has the sockets of upstreams, as long as they are open. */
  readonly poller: SocketPoller;
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
  /** After each turn. `isEmptied`: no socket had more queries than one batch. */
  readonly onTurn: (nowMs: number, isEmptied: boolean) => void;
}

/**
 * The turns of a lane: wait for queries and for answers of upstreams, handle all that have arrived, send what follows
 * from them. It ends by order only. A turn allocates nothing for queries that memory can answer. Timers and streams
 * need turns of the event loop, which come in between.
 */
export class LaneLoop {
  private readonly pace: NapPace;
  /** The real time, as of a timer. */
  private eventsMs = 0;
  private order: LaneOrder = LaneOrder.run;
  private done: LaneOrder = LaneOrder.run;
  /** Turns since an order that is not carried out yet. */
  private turnsOfOrder = 0;
  /** Whether no socket had more queries than one batch in this turn. */
  private isEmptied = true;
  /** Why a socket of clients could not be read; 0 when all could at the last look at all. */
  private errno = 0;

  constructor(private readonly options: LaneLoopOptions) {
    for (const fd of options.fds) options.poller.add(fd);
    this.pace = new NapPace(options.napMs);
  }

  async run(): Promise<void> {
    while (this.done !== LaneOrder.stop) {
      this.turn();
      if (!this.areEventsDue()) continue;
      await events();
      this.eventsMs = performance.now();
      this.lookAtAll();
      this.flush();
    }
  }

  turn(): void {
    const { words } = this.options;
    this.order = Atomics.load(words, LaneWord.order) as LaneOrder;
    this.isEmptied = true;
    const mayWait = this.order === this.done;
    const isForwarding = this.options.upstreams.isWaiting;
    const waitMs = mayWait ? this.longestWaitMs() : 0;
    const received = this.takeBatches(waitMs);
    if (received === 0) this.takeChanges();
    words[LaneWord.errno] = this.errno;
    // What had arrived before the order is answered.
    if (this.order !== this.done) {
      this.turnsOfOrder++;
      if (this.isEmptied || this.turnsOfOrder === MOST_TURNS_TO_EMPTY) this.carryOut();
    }
    Atomics.add(words, LaneWord.heartbeats, 1);
    if (mayWait && received === 0 && this.errno !== 0) this.pause(this.longestWaitMs());
    if (waitMs > 0 && this.isEmptied && this.isNapDue(received, isForwarding)) this.nap();
    this.options.onTurn(this.options.nowMs(), this.isEmptied);
  }

  /** Answers of upstreams come one by one, however many queries were sent together. */
  private isNapDue(received: number, isForwarding: boolean): boolean {
    if (!isForwarding) return received >= BUSY_BATCH;
    return this.pace.onTurn(received, this.options.nowMs());
  }

  private areEventsDue(): boolean {
    const { upstreams } = this.options;
    if (upstreams.isWaitingForStreams || upstreams.hasPieces) return true;
    return performance.now() - this.eventsMs >= EVENTS_MS;
  }

  private longestWaitMs(): number {
    const { upstreams } = this.options;
    if (upstreams.hasPieces) return 0;
    if (!upstreams.isWaiting) return LANE_WAIT_MS;
    return upstreams.isWaitingForStreams ? STREAM_EVENTS_MS : EVENTS_MS;
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

  /** @returns how many packets came */
  private takeBatches(waitMs: number): number {
    const { fds, poller, upstreams, counts, nowMs } = this.options;
    const ready = poller.wait(waitMs);
    if (ready === 0) return this.lookAtAll();
    const startMs = nowMs();
    let received = 0;
    for (let i = 0; i < ready; i++) {
      const fd = poller.fdAt(i);
      const index = fds.indexOf(fd);
      received += index >= 0 ? this.takeBatch(index) : upstreams.receive(fd);
    }
    this.flush();
    counts.turns.observe((nowMs() - startMs) / 1000);
    return received;
  }

  /** The poller does not tell of a socket whose descriptor was closed. @returns how many queries came */
  private lookAtAll(): number {
    const { sockets } = this.options;
    this.errno = 0;
    let received = 0;
    for (let i = 0; i < sockets.length; i++) received += this.takeBatch(i);
    if (received > 0) this.flush();
    return received;
  }

  /** Sends the answers and the queries that wait. */
  private flush(): void {
    const { sockets, upstreams } = this.options;
    for (let i = 0; i < sockets.length; i++) sockets[i].flush();
    upstreams.flush();
  }

  private takeBatch(index: number): number {
    const { sockets, enter, leave, counts } = this.options;
    const socket = sockets[index];
    const count = socket.receive(MSG_DONTWAIT);
    if (socket.errno !== 0) {
      this.errno = socket.errno;
      counts.count(LaneCount.receiveErrors);
    }
    if (count === BATCH) this.isEmptied = false;
    if (count === 0) return 0;
    enter();
    try {
      socket.handle(count);
    } finally {
      leave();
    }
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
