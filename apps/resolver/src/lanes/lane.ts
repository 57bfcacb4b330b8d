import type { UdpSocketHandle } from '@weir/udp-batch';
import { MessageChannel, Worker } from 'node:worker_threads';
import { createThreadCounts, sharedNumbers, type ThreadCounts } from '../metrics/thread-counts.js';
import type { PolicyReaders } from '../shared-policy/read-policy.js';
import { readThread, ThreadWatch } from '../threads/thread-watch.js';
import { LaneCounts } from './lane-counts.js';
import {
  LANE_WORDS,
  type LaneFiles,
  LaneOrder,
  type LaneReport,
  type LaneTask,
  LaneWord,
  type SharedTask,
} from './lane-task.js';
import { linesTaken } from './posted-lines.js';

// A thread does not read TypeScript as tests do, so they run the compiled program.
const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/lanes/lane-thread.js' : './lane-thread.js',
  import.meta.url,
);

/** Seconds without a turn after which it hangs. */
const PATIENCE_S = 5;

export interface LaneOptions {
  /** From 0. */
  readonly number: number;
  /** How many there are. */
  readonly lanes: number;
  readonly readers: PolicyReaders;
  readonly sockets: readonly UdpSocketHandle[];
  readonly task: SharedTask;
  /** What the files have now. */
  readonly files: () => LaneFiles;
  readonly isReady: () => boolean;
  /** Writes that many lines of the query log. */
  readonly onLines: (lines: string, count: number) => void;
  readonly onRunning: () => void;
  readonly onDefect: (error: unknown) => void;
  /** The kernel does not change which lanes get queries. */
  readonly onRefused: (error: unknown) => void;
  /** The thread has ended. */
  readonly onEnd: (error: unknown) => void;
}

/** One lane, as the main thread sees it. */
export class Lane {
  readonly counts: ThreadCounts;
  readonly laneCounts: LaneCounts;
  private readonly turns = sharedNumbers(LaneCounts.size);
  private readonly words = new Int32Array(new SharedArrayBuffer(4 * LANE_WORDS));
  private thread: Worker | null = null;
  private files: MessagePort | null = null;
  /** Whether its thread takes queries. */
  isRunning = false;
  private readonly watch = new ThreadWatch(PATIENCE_S);

  constructor(private readonly options: LaneOptions) {
    const { task } = options;
    this.counts = createThreadCounts(task.profileRows?.capacity ?? 0, task.upstreams.length);
    this.laneCounts = new LaneCounts(this.turns);
  }

  /** The thread begins. */
  start(): void {
    const { options, words } = this;
    const policy = new MessageChannel();
    const files = new MessageChannel();
    this.updateReady();
    const task: LaneTask = {
      ...options.task,
      ...options.files(),
      number: options.number,
      lanes: options.lanes,
      sockets: options.sockets.map(({ fd, family, isWildcard }) => ({ fd, family, isWildcard })),
      words,
      counts: this.counts,
      turns: this.turns,
      policyPort: policy.port2,
      port: files.port2,
    };
    this.files = files.port1;
    options.readers.connect(options.number, policy.port1);
    const thread = new Worker(PROGRAM, {
      workerData: task,
      transferList: [policy.port2, files.port2],
      // No arguments of this process: in tests they contain a condition that resolves packages to their sources.
      execArgv: [],
      // An answer from memory allocates nothing. A forwarded one does: with 3 MB it costs 7 % more, and more than 12 MB
      // bring nothing.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
      name: `lane ${options.number}`,
    });
    this.thread = thread;
    let cause: unknown = null;
    thread.on('message', (report: LaneReport) => {
      if (report.type === 'running') {
        this.isRunning = true;
        options.onRunning();
      }
      if (report.type === 'lines') {
        linesTaken(words, report.lines);
        options.onLines(report.lines, report.count);
      }
      if (report.type === 'defect') options.onDefect(report.error);
      if (report.type === 'refused') options.onRefused(report.error);
    });
    thread.on('error', (error) => {
      cause = error;
    });
    thread.on('exit', () => {
      this.thread = null;
      this.isRunning = false;
      files.port1.close();
      options.onEnd(cause);
    });
  }

  /** Tells the lane that files have changed. */
  update(files: LaneFiles): void {
    this.files?.postMessage(files);
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
    if (this.thread === null) return true;
    return order !== LaneOrder.stop && Atomics.load(this.words, LaneWord.done) === order;
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
    const turns = Atomics.load(this.words, LaneWord.turns);
    return this.watch.hangs(turns, readThread(this.threadId));
  }

  async terminate(): Promise<void> {
    await this.thread?.terminate();
  }
}
