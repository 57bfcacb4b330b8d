import { StartError } from '@weir/ops';
import { PortSpread, SystemError } from '@weir/udp-batch';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LaneFiles, LaneOrder, type SharedTask } from './lane-task.js';
import { Lane, type LaneOptions } from './lane.js';

/** Two looks at the rings follow closely when at most a nap and a turn of this length are between them. */
const SHORT_TURN_MS = 0.8;
/** Naps begin after this many close looks that found queries. A few questions at a time, as of one page, never wait. */
const BUSY_LOOKS = 8;
/** Naps end after this many looks in a row that found none. */
const EMPTY_LOOKS = 2;

/**
 * When the main thread naps, as lanes do: to be woken for each handful of queries, and again for their answers, costs
 * more than to forward them. A thread with much else to do makes long turns, so it does not nap.
 */
export class NapPace {
  private busyLooks = 0;
  private emptyLooks = 0;
  private lookedMs = -Infinity;

  /** @param napMs how long a nap is; 0: never */
  constructor(private readonly napMs: number) {}

  /** The main thread has taken this many queries from the rings. @returns whether to nap before it looks again */
  onLook(found: number, nowMs: number): boolean {
    const isSoon = nowMs - this.lookedMs <= this.napMs + SHORT_TURN_MS;
    this.lookedMs = nowMs;
    this.emptyLooks = found === 0 ? this.emptyLooks + 1 : 0;
    if (!isSoon || this.emptyLooks === EMPTY_LOOKS) this.busyLooks = 0;
    else if (found > 0) this.busyLooks++;
    return this.napMs > 0 && this.busyLooks >= BUSY_LOOKS;
  }
}

const CHECK_MS = 1_000;
const READY_MS = 250;
/** Checks in a row at which a lane cannot receive. Then the process ends: its sockets outlive every thread. */
const MAX_FAULTS = 5;
/** Longest wait for a lane that has an order. */
const ORDER_MS = 2_000;
const LOOK_MS = 5;

export interface LanesOptions extends Omit<
  LaneOptions,
  'number' | 'lanes' | 'sockets' | 'task' | 'onRunning' | 'onRefused' | 'onEnd'
> {
  readonly task: Omit<SharedTask, 'awake' | 'parks'>;
  /** The sockets of each lane. */
  readonly sockets: readonly LaneOptions['sockets'][];
  /** Monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Interval between checks whether lanes hang. */
  readonly checkMs?: number | undefined;
  /** Whether lanes that the load does not need get no queries. Default: yes. */
  readonly parks?: boolean | undefined;
  readonly log: Record<'warn' | 'error', (details: object, text: string) => void>;
}

/** The lanes of a resolver. */
export class Lanes {
  readonly all: readonly Lane[];
  /** Rejects when a lane has ended, hangs, or cannot receive any more: the process starts again in seconds. */
  readonly lost: Promise<never>;
  private readonly end = Promise.withResolvers<never>();
  private readonly starts: PromiseWithResolvers<null>[];
  /** One word: how many get queries. */
  private readonly awake = new Int32Array(new SharedArrayBuffer(4));
  /** Checks in a row at which a lane could not receive, by lane. */
  private readonly faults: number[];
  private readonly timers: NodeJS.Timeout[] = [];
  private isStopping = false;
  private turn: NodeJS.Immediate | undefined;
  /** How often this thread has napped. */
  naps = 0;
  private readonly pace: NapPace;
  /** A word to nap at, which nobody changes. */
  private readonly never = new Int32Array(new SharedArrayBuffer(4));
  private readonly napMs: number;

  constructor(private readonly options: LanesOptions) {
    const { sockets } = options;
    this.napMs = options.task.configuration.UDP_NAP_US / 1000;
    this.pace = new NapPace(this.napMs);
    this.lost = this.end.promise;
    this.lost.catch(() => undefined);
    this.faults = sockets.map(() => 0);
    this.awake[0] = sockets.length;
    const parks = this.spread() && options.parks !== false;
    const task = { ...options.task, awake: this.awake, parks };
    this.starts = sockets.map(() => Promise.withResolvers<null>());
    this.all = sockets.map((ofLane, number) => this.create(ofLane, number, task));
  }

  /** Resolves when all lanes run. @throws StartError when one cannot */
  async start(): Promise<void> {
    for (const lane of this.all) lane.start();
    await Promise.all(this.starts.map(({ promise }) => promise));
    this.timers.push(
      setInterval(this.check, this.options.checkMs ?? CHECK_MS),
      setInterval(this.tellReady, READY_MS),
    );
    this.listen();
  }

  /** Lanes that get queries; the others are parked. */
  get awakeCount(): number {
    return Atomics.load(this.awake, 0);
  }

  /** What is wrong now, for people. */
  get degraded(): readonly string[] {
    return this.all.flatMap(({ errno }, lane) =>
      errno === 0 ? [] : [`lane ${lane} cannot receive queries (${faultOf(errno).message})`],
    );
  }

  /** Gives the lanes what has changed in files. */
  update(files: LaneFiles): void {
    for (const lane of this.all) lane.update(files);
  }

  /** Whether the resolver is ready may have changed. Tells, too, that this thread has made a turn. */
  readonly tellReady = (): void => {
    Atomics.add(this.options.task.mainTurns, 0, 1);
    for (const lane of this.all) lane.updateReady();
  };

  /** No more queries are accepted. Resolves when all that were are handled, or wait for upstreams. */
  async drain(): Promise<void> {
    await this.send(LaneOrder.drain);
    this.isStopping = true;
    // A lane that has not drained may hand over more and more.
    const deadlineMs = performance.now() + ORDER_MS;
    while (this.all.some(({ handedOver }) => !handedOver.isEmpty)) {
      this.takeSome();
      if (performance.now() > deadlineMs) return;
    }
  }

  /** The threads end. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearInterval(timer);
    clearImmediate(this.turn);
    await this.send(LaneOrder.stop);
    await Promise.all(this.all.map((lane) => lane.terminate()));
    for (const { handedOver } of this.all) handedOver.close();
  }

  private create(sockets: LaneOptions['sockets'], number: number, task: SharedTask): Lane {
    return new Lane({
      ...this.options,
      task,
      sockets,
      number,
      lanes: this.options.sockets.length,
      onRunning: () => {
        this.starts[number].resolve(null);
      },
      onRefused: (error) =>
        this.options.log.warn({ err: error }, 'the kernel does not spread the queries anew'),
      onEnd: (error) => {
        const reason = `a thread for UDP ended: ${String(error)}`;
        this.starts[number].reject(new StartError(reason));
        if (this.isStopping) return;
        this.options.log.error(
          { lane: number, err: error },
          'a thread for UDP ended, and the resolver with it',
        );
        this.end.reject(new Error(reason, { cause: error }));
      },
    });
  }

  private async send(order: LaneOrder): Promise<void> {
    for (const lane of this.all) lane.order(order);
    const deadlineMs = performance.now() + ORDER_MS;
    while (this.all.some((lane) => !lane.hasDone(order)) && performance.now() < deadlineMs) {
      await sleep(LOOK_MS);
    }
  }

  private readonly check = (): void => {
    for (const [number, lane] of this.all.entries()) {
      this.checkSockets(lane, number);
      if (!lane.hangs()) continue;
      this.options.log.error({ lane: number }, 'a thread for UDP hangs, and the resolver ends');
      this.end.reject(new Error('a thread for UDP hangs'));
    }
  };

  private checkSockets({ errno }: Lane, number: number): void {
    const faults = errno === 0 ? 0 : this.faults[number] + 1;
    this.faults[number] = faults;
    if (faults === 0) return;
    const error = faultOf(errno);
    if (faults === 1) {
      const details = { lane: number, reason: error.message };
      this.options.log.error(details, 'a thread for UDP cannot receive');
    }
    if (faults === MAX_FAULTS) this.end.reject(error);
  }

  /** Has the kernel spread the queries over all lanes at random. @returns false: it chooses by who sends them */
  private spread(): boolean {
    const { calls, sockets, log } = this.options;
    if (sockets.length === 1) return false;
    try {
      const fds = sockets[0].map(({ fd }) => fd);
      new PortSpread(calls, fds).over([...sockets.keys()]);
      return true;
    } catch (error) {
      const { message: reason } = error as Error;
      log.warn({ reason }, 'all queries of one socket go to one thread');
      return false;
    }
  }

  /** Takes what lanes have handed over; then naps and looks again, or waits until a lane wakes this thread. */
  private readonly listen = (): void => {
    if (this.isStopping) return;
    const { wake } = this.options.task;
    const seen = Atomics.load(wake, 0);
    const taken = this.takeSome();
    const isEmptied = this.all.every(({ handedOver }) => handedOver.isEmpty);
    const isNapDue = this.pace.onLook(taken, this.options.nowMs());
    if (!isEmptied) return this.later(this.listen);
    if (isNapDue) return this.later(this.endTurn);
    const waiting = Atomics.waitAsync(wake, 0, seen);
    if (waiting.async) void waiting.value.then(this.listen);
    else this.later(this.listen);
  };

  /** What other events have queued for this turn of the event loop leaves before the nap. */
  private readonly endTurn = (): void => {
    this.later(this.nap);
  };

  private readonly nap = (): void => {
    this.naps++;
    Atomics.wait(this.never, 0, 0, this.napMs);
    this.listen();
  };

  /** Other events of this thread have their turn first. */
  private later(step: () => void): void {
    this.turn = setImmediate(step);
  }

  private takeSome(): number {
    let taken = 0;
    for (const { handedOver } of this.all) taken += handedOver.takeSome();
    return taken;
  }
}

function faultOf(errno: number): SystemError {
  return new SystemError('recvmmsg', errno);
}
