import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lane, type LaneOptions } from './lane.js';
import { type LaneFiles, LaneOrder } from './lane-task.js';

const CHECK_MS = 1_000;
const READY_MS = 250;
/** A lane that ends is replaced at once, and one that ended soon after its start, after this time. */
const PAUSE_MS = 1_000;
/** Longest wait for a lane that has an order. */
const ORDER_MS = 2_000;
const LOOK_MS = 5;

export interface LanesOptions extends Omit<
  LaneOptions,
  'number' | 'sockets' | 'onRunning' | 'onEnd'
> {
  /** The sockets of each lane. */
  readonly sockets: readonly LaneOptions['sockets'][];
  /** Interval between checks whether lanes hang. */
  readonly checkMs?: number;
  readonly log: { error(details: object, text: string): void };
}

/** The lanes of a resolver. */
export class Lanes {
  readonly all: readonly Lane[];
  /** Lanes that were replaced because they had ended or hung. */
  replaced = 0;
  private readonly starts: PromiseWithResolvers<null>[];
  private readonly timers: NodeJS.Timeout[] = [];
  private isStopping = false;
  private turn: NodeJS.Immediate | undefined;

  constructor(private readonly options: LanesOptions) {
    this.starts = options.sockets.map(() => Promise.withResolvers<null>());
    this.all = options.sockets.map((sockets, number) => this.create(sockets, number));
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
    await this.obey(LaneOrder.drain);
    this.isStopping = true;
    while (this.all.some(({ handedOver }) => !handedOver.isEmpty)) this.takeSome();
  }

  /** The threads end. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearInterval(timer);
    clearImmediate(this.turn);
    await this.obey(LaneOrder.stop);
    await Promise.all(this.all.map((lane) => lane.terminate()));
    for (const { handedOver } of this.all) handedOver.close();
  }

  private create(sockets: LaneOptions['sockets'], number: number): Lane {
    let startedMs = 0;
    const lane = new Lane({
      ...this.options,
      sockets,
      number,
      onRunning: () => {
        startedMs = performance.now();
        this.starts[number].resolve(null);
      },
      onEnd: (error) => {
        this.starts[number].reject(new StartError(`a thread for UDP ended: ${String(error)}`));
        // It may have handed something over and not said so.
        Atomics.add(this.options.task.wake, 0, 1);
        Atomics.notify(this.options.task.wake, 0);
        if (this.isStopping) return;
        this.options.log.error(
          { lane: number, err: error },
          'a thread for UDP ended; another one follows',
        );
        this.replaced++;
        const isEarly = performance.now() - startedMs < PAUSE_MS;
        setTimeout(
          () => {
            if (!this.isStopping) lane.start();
          },
          isEarly ? PAUSE_MS : 0,
        );
      },
    });
    return lane;
  }

  private async obey(order: LaneOrder): Promise<void> {
    for (const lane of this.all) lane.order(order);
    const deadlineMs = performance.now() + ORDER_MS;
    while (this.all.some((lane) => !lane.hasDone(order)) && performance.now() < deadlineMs) {
      await sleep(LOOK_MS);
    }
  }

  private readonly check = (): void => {
    for (const [number, lane] of this.all.entries()) {
      if (!lane.hangs()) continue;
      this.options.log.error({ lane: number }, 'a thread for UDP hangs and is ended');
      void lane.terminate();
    }
  };

  /** Waits until a lane has handed something over. */
  private readonly listen = (): void => {
    if (this.isStopping) return;
    const { wake } = this.options.task;
    const seen = Atomics.load(wake, 0);
    this.takeSome();
    if (this.all.some(({ handedOver }) => !handedOver.isEmpty)) return this.listenLater();
    const waiting = Atomics.waitAsync(wake, 0, seen);
    if (waiting.async) void waiting.value.then(this.listen);
    else this.listenLater();
  };

  /** Other events of this thread have their turn first. */
  private listenLater(): void {
    this.turn = setImmediate(this.listen);
  }

  private takeSome(): void {
    for (const { handedOver } of this.all) handedOver.takeSome();
  }
}
