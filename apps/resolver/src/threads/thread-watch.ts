import { readFileSync } from 'node:fs';

/** Columns of proc_pid_stat(5) after the name of the thread, which may have spaces. */
const STATE = 0;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
/** USER_HZ, which is the same on all architectures of Linux that have lanes. */
const TICKS_PER_SECOND = 100;

interface ThreadState {
  /** Whether it runs, or waits for a processor only. */
  readonly isRunnable: boolean;
  /** Processor time. */
  readonly cpuSeconds: number;
}

const ENDED: ThreadState = { isRunnable: false, cpuSeconds: 0 };

/** What a thread of this process does now. */
export function readThread(threadId: number): ThreadState {
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1');
    const columns = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(columns[USER_TICKS]) + Number(columns[SYSTEM_TICKS]);
    return { isRunnable: columns[STATE] === 'R', cpuSeconds: ticks / TICKS_PER_SECOND };
  } catch {
    return ENDED;
  }
}

/**
 * Finds a thread that hangs: it gives no heartbeat, although it could. On a busy machine a thread may wait long for a
 * processor; such a time does not count.
 */
export class ThreadWatch {
  private heartbeats = 0;
  private cpuSeconds = 0;
  private stuckSeconds = 0;

  /** @param patienceSeconds for which it may have a processor, or wait for something else, without a heartbeat */
  constructor(private readonly patienceSeconds: number) {}

  /**
   * To be called once a second.
   * @param heartbeats how many it has given until now
   */
  hangs(heartbeats: number, { cpuSeconds, isRunnable }: ThreadState): boolean {
    const used = cpuSeconds - this.cpuSeconds;
    const isMoving = heartbeats !== this.heartbeats;
    this.heartbeats = heartbeats;
    this.cpuSeconds = cpuSeconds;
    this.stuckSeconds = isMoving ? 0 : this.stuckSeconds + (isRunnable ? used : 1);
    if (this.stuckSeconds < this.patienceSeconds) return false;
    this.stuckSeconds = 0;
    return true;
  }
}
