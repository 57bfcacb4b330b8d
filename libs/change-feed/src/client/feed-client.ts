import type { Head } from '@weir/config-model';
import { readChangesPage } from '../protocol/read-changes.js';
import { readLines } from '../protocol/read-lines.js';
import { type ReceivedChange, type SnapshotPart } from '../protocol/protocol.js';
import { readSnapshot } from '../protocol/snapshot-stream.js';
import { StatusError } from './feed-error.js';
import { type FeedFetch, type FeedRequest, FeedRequests } from './feed-requests.js';
import { downloadSnapshot } from './snapshot-download.js';

export { FeedError } from './feed-error.js';

/** Longest time without a byte from the feed API, before its response or within it. */
const IDLE_TIMEOUT_MS = 10_000;
const GONE = 410;

/** A client of the feed API. Each call but `snapshot` sends one request; the caller decides whether to retry. */
export class FeedClient {
  private readonly requests: FeedRequests;

  constructor(
    feedUrl: string,
    feedToken: () => string,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
    send: FeedFetch = fetch,
  ) {
    this.requests = new FeedRequests(feedUrl, feedToken, idleTimeoutMs, send);
  }

  /**
   * The next changes after the revision, and the head of the log. Null: the log was pruned behind that revision.
   * @param signal aborts the request; its reason is thrown.
   */
  async changesAfter(
    revision: number,
    signal?: AbortSignal,
  ): Promise<{ head: Head; changes: ReceivedChange[] } | null> {
    try {
      const path = `/changes?after=${revision}`;
      const chunks = await Array.fromAsync(this.read({ path, what: 'changes', signal }));
      return await readChangesPage(Buffer.concat(chunks));
    } catch (error) {
      if (error instanceof StatusError && error.status === GONE) return null;
      throw error;
    }
  }

  /**
   * The parts of a snapshot, verified against its trailer as they end. A download that breaks off is continued.
   * @param atLeast a snapshot from before this revision is of no use. `MADE_ANEW`: nor is the one that was sent before.
   */
  snapshot(atLeast = 0): AsyncGenerator<SnapshotPart> {
    const path = `/snapshot?atLeast=${atLeast}`;
    return readSnapshot(readLines(downloadSnapshot(this.requests, path)));
  }

  /** The bytes of a catalogue image from the offset on, as they arrive, not verified. */
  async *catalogueImage(
    sha256: string,
    offsetBytes = 0,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const headers =
      offsetBytes > 0 ? { Range: `bytes=${offsetBytes}-`, 'If-Range': `"${sha256}"` } : {};
    const path = `/catalogue/${sha256}`;
    yield* this.read({ path, what: 'catalogue image', headers, offsetBytes, signal });
  }

  /** What makes a catalogue image of another one, compressed, as it arrives. */
  imageDelta(baseSha256: string, sha256: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const path = `/catalogue/${sha256}/delta/${baseSha256}`;
    return this.read({ path, what: 'delta of a catalogue image', signal });
  }

  /** Aborts all requests, those of later calls too. */
  close(): void {
    this.requests.close();
  }

  /** The body of a response from the offset on, also if the server sends everything. @throws FeedError */
  private async *read(request: FeedRequest): AsyncGenerator<Uint8Array> {
    const { status, body } = await this.requests.open(request);
    let skip = status === 200 ? (request.offsetBytes ?? 0) : 0;
    for await (const chunk of body) {
      if (chunk.length > skip) yield skip === 0 ? chunk : chunk.subarray(skip);
      skip = Math.max(0, skip - chunk.length);
    }
  }
}
