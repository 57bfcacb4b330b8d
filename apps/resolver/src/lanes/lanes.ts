import { type Logger, StartError } from '@weir/ops';
import { PortSpread, type SystemCalls, SystemError, type UdpSocketHandle } from '@weir/udp-batch';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LaneFiles, LaneOrder, type SharedTask, type StreamTask } from './lane-task.js';
import { Lane, type LaneOptions, UdpLane } from './lane.js';

const CHECK_MS = 1_000;
const READY_MS = 250;
/** Checks in a row at which a lane cannot receive. Then the process ends: its sockets outlive every thread. */
const MAX_FAULTS = 5;
/** Longest wait for a lane that has an order. */
const ORDER_MS = 2_000;
const LOOK_MS = 5;

export interface LanesOptions extends Pick<
  LaneOptions,
  'readers' | 'files' | 'isReady' | 'onLines'
> {
  readonly calls: SystemCalls;
  readonly task: SharedTask;
  /** Of each UDP lane, one for each address. */
  readonly sockets: readonly (readonly UdpSocketHandle[])[];
  /** Of each stream lane. */
  readonly streams: readonly StreamTask[];
  /** Interval between checks whether lanes hang. */
  readonly checkMs?: number | undefined;
  /** Whether lanes that the load does not need get no queries. Default: yes. */
  readonly parks?: boolean | undefined;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** The lanes of a resolver. */
export class Lanes {
  /** Those for UDP. */
  readonly udp: readonly UdpLane[];
  /** Those for TCP, TLS and HTTPS. The first is in this thread. */
  readonly streams: readonly Lane[];
  readonly all: readonly Lane[];
  /** Rejects when a lane has ended, hangs, or cannot receive any more: the process starts again in seconds. */
  readonly lost: Promise<never>;
  private readonly end = Promise.withResolvers<never>();
  private readonly starts: PromiseWithResolvers<null>[] = [];
  /** One word: how many get queries. */
  private readonly awake = new Int32Array(new SharedArrayBuffer(4));
  /** Checks in a row at which a lane could not receive, by lane. */
  private readonly faults: number[];
  private readonly timers: NodeJS.Timeout[] = [];
  private isStopping = false;

  constructor(private readonly options: LanesOptions) {
    const { sockets, streams } = options;
    this.lost = this.end.promise;
    this.lost.catch(() => undefined);
    this.awake[0] = sockets.length;
    const parks = this.spread() && options.parks !== false;
    const shared = { lanes: sockets.length, awake: this.awake, parks };
    this.udp = sockets.map(
      (ofLane, i) => new UdpLane(this.optionsOf('UDP', i), { ...shared, sockets: ofLane }),
    );
    this.streams = streams.map((own, i) => {
      const kind = { queries: 'streams', own, isMain: i === 0 } as const;
      return new Lane({ ...this.optionsOf('streams', i), kind });
    });
    this.all = [...this.udp, ...this.streams];
    this.faults = this.all.map(() => 0);
  }

  /** Resolves when all lanes run. @throws StartError when one cannot */
  async start(): Promise<void> {
    for (const lane of this.all) lane.start();
    await Promise.all(this.starts.map(({ promise }) => promise));
    this.timers.push(
      setInterval(this.check, this.options.checkMs ?? CHECK_MS),
      setInterval(this.tellReady, READY_MS),
    );
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

  /** Whether the resolver is ready may have changed. */
  readonly tellReady = (): void => {
    for (const lane of this.all) lane.updateReady();
  };

  /** No more queries are accepted. Resolves when all that were are handled, or wait for upstreams. */
  async drain(): Promise<void> {
    await this.send(LaneOrder.drain);
    this.isStopping = true;
  }

  /** The threads end. Resolves when their lines of the query log are written. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearInterval(timer);
    await this.send(LaneOrder.stop);
    await Promise.all(this.all.map((lane) => lane.terminate()));
  }

  /** Of the next lane. */
  private optionsOf(queries: Lane['queries'], index: number): Omit<LaneOptions, 'kind'> {
    const { sockets, streams, log, ...options } = this.options;
    const start = Promise.withResolvers<null>();
    const number = this.starts.push(start) - 1;
    // All stream lanes together may have as many questions in flight as one UDP lane.
    const groups = sockets.length + 1;
    return {
      ...options,
      ...{ number, index, isReporter: number === 0 },
      threads: sockets.length + streams.length,
      capacityDivisor: queries === 'UDP' ? groups : groups * streams.length,
      onRunning: () => start.resolve(null),
      onLog: ({ level, details, text }) => log[level](details, text),
      onEnd: (error) => {
        const reason = `a thread for ${queries} ended: ${String(error)}`;
        start.reject(new StartError(reason));
        if (this.isStopping) return;
        // The others may follow.
        this.isStopping = true;
        const details = { lane: index, queries, err: error };
        log.error(details, 'a thread that answers ended, and the resolver with it');
        this.end.reject(new Error(reason, { cause: error }));
      },
    };
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
      const reason = `a thread for ${lane.queries} hangs`;
      const details = { lane: lane.index, queries: lane.queries };
      this.options.log.error(details, 'a thread that answers hangs, and the resolver ends');
      this.end.reject(new Error(reason));
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
}

function faultOf(errno: number): SystemError {
  return new SystemError('recvmmsg', errno);
}
