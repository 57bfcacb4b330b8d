import { StartError } from '@weir/ops';
import { PortSpread, type SystemCalls, SystemError } from '@weir/udp-batch';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LaneFiles, LaneOrder, type SharedTask } from './lane-task.js';
import { Lane, type LaneOptions } from './lane.js';

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
  readonly calls: SystemCalls;
  readonly task: Omit<SharedTask, 'awake' | 'parks'>;
  /** The sockets of each lane. */
  readonly sockets: readonly LaneOptions['sockets'][];
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

  constructor(private readonly options: LanesOptions) {
    const { sockets } = options;
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
}

function faultOf(errno: number): SystemError {
  return new SystemError('recvmmsg', errno);
}
