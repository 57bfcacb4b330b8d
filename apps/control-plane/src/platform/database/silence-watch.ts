import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { DatabaseSilentError } from './database-errors.js';
import { hasQueryInProgress, streamOf } from './driver-internals.js';

/** After this time without a byte, the watch asks whether PostgreSQL answers at all. */
const SILENT_MS = 2_000;

/**
 * Destroys a connection (`DatabaseSilentError`) whose query gets no answer: soon when PostgreSQL does not answer on a
 * new connection either, and after the longest time of the connection in any case. So a long statement may take its
 * time, but a PostgreSQL that hangs holds no request for long.
 */
export class SilenceWatch {
  private asking: Promise<boolean> | null = null;

  /** @param serverAnswers whether PostgreSQL answers on a new connection. */
  constructor(private readonly serverAnswers: () => Promise<boolean>) {}

  /**
   * Watches a connection as long as it lives. A later call replaces an earlier one.
   * @param longestMs longest time that a query may wait without a byte in either direction.
   */
  watch(client: PoolClient, longestMs: number): void {
    const stream = streamOf(client);
    const intervalMs = Math.min(SILENT_MS, longestMs);
    let quiet = { bytes: -1, sinceMs: 0 };
    stream.removeAllListeners('timeout');
    stream.setTimeout(intervalMs);
    stream.on('timeout', () => {
      const bytes = stream.bytesRead + stream.bytesWritten;
      if (bytes !== quiet.bytes) quiet = { bytes, sinceMs: performance.now() - intervalMs };
      const isOver = performance.now() - quiet.sinceMs >= longestMs;
      void this.isSilent(client, isOver).then((isSilent) => {
        if (isSilent) stream.destroy(new DatabaseSilentError());
        // The timer runs once, until the next byte.
        else if (!stream.destroyed) stream.setTimeout(intervalMs);
      });
    });
  }

  private async isSilent(client: PoolClient, isOver: boolean): Promise<boolean> {
    const { bytesRead } = streamOf(client);
    const waits = (): boolean =>
      hasQueryInProgress(client) && streamOf(client).bytesRead === bytesRead;
    if (!waits()) return false;
    const answers = !isOver && (await this.ask());
    // When this process was held up, there may be bytes that it has not read yet.
    await nextTurn();
    return !answers && waits();
  }

  /** All connections that wait share one question. */
  private ask(): Promise<boolean> {
    this.asking ??= this.serverAnswers().finally(() => (this.asking = null));
    return this.asking;
  }
}
