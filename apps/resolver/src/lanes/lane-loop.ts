import { MSG_DONTWAIT, MSG_WAITFORONE, SocketPoller, type SystemCalls } from '@weir/udp-batch';
import type { LaneSocket } from './lane-socket.js';
import { LaneOrder, LaneWord } from './lane-task.js';

/** Longest wait for a query. Then the lane looks at its orders. */
export const LANE_WAIT_MS = 50;

export interface LaneLoopOptions {
  readonly calls: SystemCalls;
  readonly sockets: readonly LaneSocket[];
  /** Of `sockets`, in this order. They wait for `LANE_WAIT_MS`. */
  readonly fds: readonly number[];
  readonly words: Int32Array;
  /** Before each batch: takes what has changed, and keeps it as it is until `leave`. */
  readonly enter: () => void;
  readonly leave: () => void;
  /** After each batch. */
  readonly afterBatch: () => void;
}

/**
 * The turns of a lane: wait for queries, decide about all that have arrived, send their answers. It ends by order only.
 * A turn allocates nothing.
 */
export class LaneLoop {
  private readonly poller: SocketPoller | null;
  private order: LaneOrder = LaneOrder.run;

  constructor(private readonly options: LaneLoopOptions) {
    const { calls, fds } = options;
    this.poller = fds.length === 1 ? null : new SocketPoller(calls, fds);
  }

  run(): void {
    while (this.order !== LaneOrder.stop) this.turn();
  }

  turn(): void {
    const { words } = this.options;
    const { poller } = this;
    if (poller === null) this.takeBatch(0, MSG_WAITFORONE);
    else this.takeBatches(poller);
    Atomics.store(words, LaneWord.done, this.order);
    Atomics.add(words, LaneWord.turns, 1);
  }

  private takeBatches(poller: SocketPoller): void {
    const { sockets } = this.options;
    poller.wait(LANE_WAIT_MS);
    let isIdle = true;
    for (let i = 0; i < sockets.length; i++) {
      if (!poller.isReady(i)) continue;
      this.takeBatch(i, MSG_DONTWAIT);
      isIdle = false;
    }
    if (isIdle) this.beIdle();
  }

  private takeBatch(index: number, flags: number): void {
    const socket = this.options.sockets[index];
    const count = socket.receive(flags);
    if (count === 0) return this.beIdle();
    this.lookAtOrder();
    this.options.enter();
    try {
      socket.handle(count);
    } finally {
      this.options.leave();
    }
    socket.flush();
    this.options.afterBatch();
  }

  /** Takes what has changed, also when there are no queries. */
  private beIdle(): void {
    this.lookAtOrder();
    this.options.enter();
    this.options.leave();
  }

  private lookAtOrder(): void {
    const { words, sockets } = this.options;
    this.order = Atomics.load(words, LaneWord.order) as LaneOrder;
    const isDraining = this.order !== LaneOrder.run;
    for (let i = 0; i < sockets.length; i++) sockets[i].isDraining = isDraining;
  }
}
