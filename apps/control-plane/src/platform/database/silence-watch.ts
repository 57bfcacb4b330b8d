import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import type { ServerQuestions, ServerState } from './server-questions.js';
import { ConnectionLostError, DatabaseSilentError } from './database-errors.js';
import { sessionOf, streamOf, waitsForServer } from './driver-internals.js';

/** After this time without a byte, the watch asks whether PostgreSQL answers at all. */
const SILENT_MS = 2_000;
/** So often the watch tries to end a session while PostgreSQL does not answer. That is one minute or more. */
const END_TRIES = 60;
const END_PAUSE_MS = 1_000;

/**
 * Destroys a connection whose query gets no answer: soon when PostgreSQL does not answer on a new connection either
 * (`DatabaseSilentError`), when it waits for us in this session while we wait for it, or has been started after the last
 * byte (`ConnectionLostError`), and after the longest time of the connection in any case. So a long statement may take its
 * time, but a PostgreSQL that hangs and a lost connection hold no request for long. The session is ended as soon as
 * PostgreSQL answers, which frees its locks.
 */
export class SilenceWatch {
  private asking: Promise<ServerState | null> | null = null;

  constructor(private readonly server: ServerQuestions) {}

  /**
   * Watches a connection as long as it lives. A later call replaces an earlier one.
   * @param longestMs longest time that a query may wait without a byte in either direction.
   */
  watch(client: ClientBase, longestMs: number): void {
    const stream = streamOf(client);
    const intervalMs = Math.min(SILENT_MS, longestMs);
    let quiet = { bytes: -1, sinceMs: 0 };
    stream.removeAllListeners('timeout');
    stream.setTimeout(intervalMs);
    stream.on('timeout', () => {
      const bytes = stream.bytesRead + stream.bytesWritten;
      if (bytes !== quiet.bytes) quiet = { bytes, sinceMs: performance.now() - intervalMs };
      void this.failure(client, quiet.sinceMs, longestMs).then((error) => {
        if (error !== null) stream.destroy(error);
        // The timer runs once, until the next byte.
        else if (!stream.destroyed) stream.setTimeout(intervalMs);
      });
    });
  }

  /** @returns why the connection is of no use; null: it is in order. */
  private async failure(
    client: ClientBase,
    sinceMs: number,
    longestMs: number,
  ): Promise<Error | null> {
    const { bytesRead } = streamOf(client);
    const waits = (): boolean => waitsForServer(client) && streamOf(client).bytesRead === bytesRead;
    if (!waits()) return null;
    const silentMs = performance.now() - sinceMs;
    const state = silentMs >= longestMs ? null : await this.ask();
    // When this process was held up, there may be bytes that it has not read yet.
    await nextTurn();
    if (!waits()) return null;
    const session = sessionOf(client);
    if (state === null) {
      void this.endLater(session);
      return new DatabaseSilentError();
    }
    if (state.upMs < silentMs) return new ConnectionLostError();
    const ended = state.waiting.has(session) ? await this.server.endWaiting(session) : null;
    return ended?.has(session) ? new ConnectionLostError() : null;
  }

  /** PostgreSQL may not learn that the connection is closed, and wait for the rest of a statement. */
  private async endLater(session: number): Promise<void> {
    for (let n = 0; n < END_TRIES && (await this.server.endWaiting(session)) === null; n++) {
      await sleep(END_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** All connections that wait share one question. */
  private ask(): Promise<ServerState | null> {
    this.asking ??= this.server.state().finally(() => (this.asking = null));
    return this.asking;
  }
}
