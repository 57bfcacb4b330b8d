import { MessageChannel, Worker } from 'node:worker_threads';
import { createThreadCounts, sharedNumbers, type ThreadCounts } from '../metrics/thread-counts.js';
import type { PolicyReaders } from '../shared-policy/policy-readers.js';
import { readThread, ThreadWatch } from '../threads/thread-watch.js';
import { LaneCounts } from './lane-counts.js';
import {
  LANE_WORDS,
  type LaneFiles,
  type LaneLog,
  LaneOrder,
  type LaneReport,
  type LaneTask,
  LaneWord,
  type SharedTask,
  type StreamTask,
  type UdpTask,
} from './lane-task.js';
import { linesTaken } from './posted-lines.js';
import { runStreamLane } from './stream-lane.js';

// A thread does not read TypeScript as tests do, so they run the compiled program.
const PROGRAMS = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/lanes/' : '.',
  import.meta.url,
);
const PROGRAM_OF = {
  UDP: new URL('udp-thread.js', PROGRAMS),
  streams: new URL('stream-thread.js', PROGRAMS),
} as const;

/** For which queries a lane is, and what else it starts with. */
export type LaneKind =
  | { readonly queries: 'UDP'; readonly own: UdpTask }
  | { readonly queries: 'streams'; readonly own: StreamTask; readonly isMain: boolean };

/** Seconds without a heartbeat after which it hangs. */
const PATIENCE_S = 5;

export interface LaneOptions {
  /** From 0, over all lanes. */
  readonly number: number;
  /** From 0, over those of its kind. */
  readonly index: number;
  readonly threads: number;
  readonly capacityDivisor: number;
  /** See `LaneTask`. */
  readonly isReporter: boolean;
  readonly kind: LaneKind;
  readonly readers: PolicyReaders;
  readonly task: SharedTask;
  /** What the files have now. */
  readonly files: () => LaneFiles;
  readonly isReady: () => boolean;
  /** Writes that many lines of the query log. */
  readonly onLines: (lines: string, count: number) => void;
  readonly onRunning: () => void;
  readonly onLog: (line: LaneLog) => void;
  /** It has ended. */
  readonly onEnd: (error: unknown) => void;
}

/** One lane, as the main thread sees it. */
export class Lane {
  readonly counts: ThreadCounts;
  private readonly words = new Int32Array(new SharedArrayBuffer(4 * LANE_WORDS));
  private isAlive = false;
  /** Null: it is in this thread. */
  private thread: Worker | null = null;
  private files: MessagePort | null = null;
  /** Whether it takes queries. */
  isRunning = false;
  private readonly watch = new ThreadWatch(PATIENCE_S);
  /** For which queries it is. */
  readonly queries: LaneKind['queries'];

  constructor(private readonly options: LaneOptions) {
    const { task } = options;
    this.queries = options.kind.queries;
    this.counts = createThreadCounts(task.profileRows?.capacity ?? 0, task.upstreams.length);
  }

  start(): void {
    const { options, words } = this;
    const policy = new MessageChannel();
    const files = new MessageChannel();
    this.updateReady();
    const { kind } = options;
    const common: LaneTask = {
      ...options.task,
      ...this.forKind(options.files()),
      number: options.number,
      threads: options.threads,
      capacityDivisor: options.capacityDivisor,
      isReporter: options.isReporter,
      words,
      counts: this.counts,
      policyPort: policy.port2,
      port: files.port2,
    };
    this.files = files.port1;
    options.readers.connect(options.number, policy.port1);
    this.isAlive = true;
    const onEnd = (cause: unknown): void => {
      this.isAlive = false;
      this.isRunning = false;
      files.port1.close();
      options.onEnd(cause);
    };
    if (kind.queries === 'streams' && kind.isMain) {
      runStreamLane({ ...common, ...kind.own }, this.onReport).then(() => onEnd(null), onEnd);
      return;
    }
    this.thread = new Worker(PROGRAM_OF[kind.queries], {
      workerData: { ...common, ...kind.own },
      transferList: [policy.port2, files.port2],
      // No arguments of this process: in tests they contain a condition that resolves packages to their sources.
      execArgv: [],
      // An answer from memory allocates nothing. A forwarded one does: with 3 MB it costs 7 % more, and more than 12 MB
      // bring nothing.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
      name: `${kind.queries === 'UDP' ? 'lane' : 'stream lane'} ${options.index}`,
    });
    let cause: unknown = null;
    this.thread.on('message', this.onReport);
    this.thread.on('error', (error) => {
      cause = error;
    });
    this.thread.on('exit', () => onEnd(cause));
  }

  /** Tells the lane that files have changed. */
  update(files: LaneFiles): void {
    this.files?.postMessage(this.forKind(files));
    Atomics.add(this.words, LaneWord.sent, 1);
  }

  updateReady(): void {
    Atomics.store(this.words, LaneWord.ready, this.options.isReady() ? 1 : 0);
  }

  order(order: LaneOrder): void {
    Atomics.store(this.words, LaneWord.order, order);
    Atomics.notify(this.words, LaneWord.order);
  }

  /** Whether it has carried out that order, or has ended. One that is to stop has more to do before it ends. */
  hasDone(order: LaneOrder): boolean {
    if (!this.isAlive) return true;
    return order !== LaneOrder.stop && Atomics.load(this.words, LaneWord.done) === order;
  }

  get index(): number {
    return this.options.index;
  }

  /** Its number among the threads of the system; 0 before it has one. */
  get threadId(): number {
    return Atomics.load(this.words, LaneWord.threadId);
  }

  /** Why it cannot receive; 0 while it can. */
  get errno(): number {
    return Atomics.load(this.words, LaneWord.errno);
  }

  /** To be called each second. @returns whether it hangs */
  hangs(): boolean {
    if (!this.isRunning) return false;
    const heartbeats = Atomics.load(this.words, LaneWord.heartbeats);
    return this.watch.hangs(heartbeats, readThread(this.threadId));
  }

  async terminate(): Promise<void> {
    await this.thread?.terminate();
  }

  /** A UDP lane does not need the private key. */
  private forKind({ tls, ...files }: LaneFiles): LaneFiles {
    return tls === undefined || this.queries === 'UDP' ? files : { ...files, tls };
  }

  private readonly onReport = (report: LaneReport): void => {
    const { onRunning, onLines, onLog } = this.options;
    switch (report.type) {
      case 'running':
        this.isRunning = true;
        return onRunning();
      case 'lines':
        linesTaken(this.words, report.lines);
        return onLines(report.lines, report.count);
      case 'log':
        return onLog(report);
    }
  };
}

/** A UDP lane. */
export class UdpLane extends Lane {
  readonly laneCounts: LaneCounts;

  constructor(options: Omit<LaneOptions, 'kind'>, task: Omit<UdpTask, 'laneCounts'>) {
    const laneCounts = sharedNumbers(LaneCounts.size);
    super({ ...options, kind: { queries: 'UDP', own: { ...task, laneCounts } } });
    this.laneCounts = new LaneCounts(laneCounts);
  }
}
