/** What a client must read while it is waited for: 1 Mbit/s. */
const BYTES_PER_MS = 125;

/**
 * How far a client is behind that pace. Only the time for which the server waits for the client counts, and not the
 * time of the database. Bytes that it has read ahead of the pace count for nothing: buffers take the first megabytes at
 * once.
 */
export class ReadingPace {
  private debtMs = 0;
  private waitsSinceMs: number | null = null;

  /** The client is waited for until it has read these bytes. */
  wait(bytes: number, nowMs: number): void {
    this.debtMs = Math.max(0, this.debtMs - bytes / BYTES_PER_MS);
    this.waitsSinceMs = nowMs;
  }

  resume(nowMs: number): void {
    this.debtMs = this.behindMs(nowMs);
    this.waitsSinceMs = null;
  }

  behindMs(nowMs: number): number {
    return this.debtMs + (this.waitsSinceMs === null ? 0 : nowMs - this.waitsSinceMs);
  }
}
