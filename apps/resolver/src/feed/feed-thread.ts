import { type Logger, StartError, startThread } from '@weir/ops';
import type { OwnStatus } from '@weir/policy-feed';
import { agedState, type FeedState } from '@weir/policy-feed/state';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Worker,
} from 'node:worker_threads';
import type { PolicyReaders } from '../shared-policy/policy-readers.js';
import { readThread, ThreadWatch } from '../threads/thread-watch.js';
import {
  FEED_WORDS,
  type FeedOrder,
  type FeedReport,
  type FeedTask,
  type FeedThreadConfiguration,
  FeedWord,
} from './feed-task.js';

/** Time between looks at the state. */
const LOOK_MS = 250;
const CHECK_MS = 1_000;
/** Seconds without a heartbeat after which it hangs. Its work has many steps, so it gives one long before. */
const PATIENCE_S = 30;
/** Longest wait for its stop. Less than a process has for its own. */
const STOP_MS = 5_000;

export interface FeedThreadOptions {
  readonly configuration: FeedThreadConfiguration;
  /** Of the resolver. */
  readonly name: string;
  /** Lanes that read the policy. */
  readonly lanes: number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * The feed in a thread of its own, as the main thread sees it. Another thread could not take its place without a
 * second copy of the policy, so the resolver ends with it.
 */
export class FeedThread {
  private readonly end = Promise.withResolvers<never>();
  /** Rejects when it has ended by itself. */
  readonly lost = this.end.promise;
  readonly readers: PolicyReaders = {
    connect: (reader, port) => this.order({ type: 'connect', reader, port }, port),
  };
  private readonly words = new Int32Array(new SharedArrayBuffer(4 * FEED_WORDS));
  private readonly states = new MessageChannel();
  private latest!: FeedState;
  private latestMs = 0;
  private readonly thread: Worker;
  private readonly opened = Promise.withResolvers<null>();
  private readonly atHead = Promise.withResolvers<null>();
  private readonly stopped = Promise.withResolvers<null>();
  private readonly watch = new ThreadWatch(PATIENCE_S);
  private readonly timers: NodeJS.Timeout[] = [];
  private isStarted = false;
  private isStopping = false;

  /** @throws StartError when a file of the feed is not usable */
  static async open(options: FeedThreadOptions): Promise<FeedThread> {
    const feed = new FeedThread(options);
    await feed.opened.promise;
    feed.timers.push(setInterval(feed.state, LOOK_MS), setInterval(feed.check, CHECK_MS));
    return feed;
  }

  private constructor(private readonly options: FeedThreadOptions) {
    for (const one of [this.lost, this.atHead.promise]) one.catch(() => undefined);
    const task: FeedTask = {
      configuration: options.configuration,
      name: options.name,
      readers: options.lanes,
      states: this.states.port2,
      words: this.words,
    };
    this.thread = startThread(import.meta.url, './feed-program.js', {
      workerData: task,
      transferList: [task.states],
      // Node's default takes 12 MB more, which only a snapshot uses.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
      name: 'feed',
    });
    let cause: unknown = 'it was ended';
    this.thread.on('message', this.onReport);
    this.thread.on('error', (error) => {
      cause = error;
    });
    this.thread.on('exit', () => this.onEnd(cause));
  }

  /** Its number among the threads of the system. */
  get threadId(): number {
    return Atomics.load(this.words, FeedWord.threadId);
  }

  readonly state = (): FeedState => {
    const nowMs = performance.now();
    const { port1 } = this.states;
    for (let next = receiveMessageOnPort(port1); next; next = receiveMessageOnPort(port1)) {
      this.latest = next.message as FeedState;
      this.latestMs = nowMs;
    }
    return agedState(this.latest, nowMs - this.latestMs);
  };

  /** Puts in force what is on disk, then follows the log. Resolves when it is at its head. */
  async start(): Promise<void> {
    this.isStarted = true;
    this.order({ type: 'start' });
    await this.atHead.promise;
  }

  /** What the control plane is told of this resolver, with the next lease. */
  tell(status: OwnStatus): void {
    this.order({ type: 'status', status });
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearInterval(timer);
    if (this.isStarted) {
      this.order({ type: 'stop' });
      // A change may wait for a reader in a lane that was ended.
      await Promise.race([this.stopped.promise, sleep(STOP_MS, null, { ref: false })]);
    }
    // Its end is not waited for: a thread of its own may write to a disk that hangs.
    void this.thread.terminate();
    this.atHead.resolve(null);
  }

  private order(order: FeedOrder, port?: MessagePort): void {
    this.thread.postMessage(order, port === undefined ? [] : [port]);
  }

  private readonly onReport = (report: FeedReport): void => {
    switch (report.type) {
      case 'opened':
        return this.opened.resolve(null);
      case 'failed':
        this.isStopping = true;
        return this.opened.reject(new StartError(report.reason));
      case 'atHead':
        return this.atHead.resolve(null);
      case 'stopped':
        return this.stopped.resolve(null);
      case 'logged':
        return this.log(report.line);
    }
  };

  private log(line: string): void {
    const { level, msg, ...fields } = JSON.parse(line) as Line;
    // These are written again.
    this.options.log[level]({ ...fields, time: undefined, process: undefined }, msg);
  }

  private readonly check = (): void => {
    const heartbeats = Atomics.load(this.words, FeedWord.heartbeats);
    if (!this.watch.hangs(heartbeats, readThread(this.threadId))) return;
    this.options.log.error({}, 'the thread of the feed hangs and is ended');
    void this.thread.terminate();
  };

  private onEnd(cause: unknown): void {
    this.stopped.resolve(null);
    if (this.isStopping) return;
    this.options.log.error(
      { err: cause },
      'the thread of the feed ended, and the resolver with it',
    );
    const error = new Error(`the thread of the feed ended: ${String(cause)}`, { cause });
    for (const { reject } of [this.opened, this.atHead, this.end]) reject(error);
  }
}

/** A line of the log, which its thread has formatted. */
interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly msg: string;
}
