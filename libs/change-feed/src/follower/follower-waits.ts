import { setTimeout as sleep } from 'node:timers/promises';
import { retryDelayMs } from '../runtime/retry-delay.js';

/** How long a follower waits for the message of a change before it asks the feed API. */
const LEAST_AWAIT_MS = 50;
/** Followers wait differently long, so that they do not ask all at once. */
const AWAIT_JITTER_MS = 200;

/** When a follower waits for messages, and before it tries a step again. */
export class FollowerWaits {
  private readonly stopping = new AbortController();
  private awaiting: NodeJS.Timeout | undefined;

  /**
   * Calls back when the changes up to a newer head should have come: within milliseconds, unless their message is lost.
   * Then all followers miss them.
   */
  awaitChanges(onAwaited: () => void): void {
    clearTimeout(this.awaiting);
    this.awaiting = setTimeout(onAwaited, LEAST_AWAIT_MS + Math.random() * AWAIT_JITTER_MS);
  }

  /** Grows with the failures in a row. Ends early at `stop`. */
  async pause(failures: number, leastMs: number): Promise<void> {
    const delayMs = Math.max(leastMs, retryDelayMs(failures, Math.random()));
    await sleep(delayMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  stop(): void {
    this.stopping.abort();
    clearTimeout(this.awaiting);
  }

  get isStopped(): boolean {
    return this.stopping.signal.aborted;
  }
}
