import { RowError } from '@weir/config-model';
import type { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChangesPage, readChangesPage } from '../protocol/changes.js';
import type { SnapshotPart } from '../protocol/protocol.js';
import { readLines, readSnapshot } from '../protocol/snapshot-stream.js';
import { retryDelayMs } from '../runtime/runtime.js';
import {
  decompressed,
  StatusError,
  FeedError,
  type FeedRequest,
  FeedRequests,
  type FeedResponse,
} from './feed-requests.js';

/** Attempts in a row that bring no byte, after which a download is given up. */
const MAX_ATTEMPTS = 8;

/**
 * The lines of a snapshot, as bytes. A download that breaks off is continued where it ended, as long as the feed API
 * has that snapshot.
 * @throws FeedError; RowError when the bytes are damaged.
 */
async function* downloadSnapshot(requests: FeedRequests, path: string): AsyncGenerator<Uint8Array> {
  const request: FeedRequest = { path, what: 'snapshot' };
  const response = await requests.open(request);
  yield* decompressed(wholeBody(requests, request, response), damaged);
}

/** The body, with further requests when it breaks off. */
async function* wholeBody(
  requests: FeedRequests,
  request: FeedRequest,
  first: FeedResponse,
): AsyncGenerator<Uint8Array> {
  const { etag } = first.headers;
  let offsetBytes = 0;
  let response: FeedResponse | null = first;
  for (let attempts = 0; ;) {
    try {
      response ??= await openRest(requests, request, offsetBytes, etag ?? '');
      for await (const chunk of response.body) {
        offsetBytes += chunk.length;
        attempts = 0;
        yield chunk;
      }
      return;
    } catch (problem) {
      // Without a byte there is nothing to continue.
      const isContinuable = etag !== undefined && offsetBytes > 0 && !requests.closed.aborted;
      if (!(problem instanceof FeedError) || problem.isRefusal || !isContinuable) throw problem;
      if (++attempts > MAX_ATTEMPTS) throw problem;
      const delayMs = Math.max(retryDelayMs(attempts, Math.random()), problem.retryAfterMs);
      await sleep(delayMs, undefined, { signal: requests.closed }).catch(() => undefined);
    }
    response = null;
  }
}

async function openRest(
  requests: FeedRequests,
  request: FeedRequest,
  offsetBytes: number,
  etag: string,
): Promise<FeedResponse> {
  const headers = { Range: `bytes=${offsetBytes}-`, 'If-Range': etag };
  const response = await requests.open({ ...request, offsetBytes, headers });
  if (response.status === 206) return response;
  response.cancel();
  throw new ReplacedError('the snapshot was replaced while it was downloaded');
}

/** The rest cannot be had any more. A new download can succeed. */
class ReplacedError extends FeedError {
  override readonly isRefusal = true;
}

function damaged(cause: unknown): RowError {
  return new RowError('a snapshot whose compressed bytes are damaged', { cause });
}

/** Longest time without a byte from the feed API, before its response or within it. */
const IDLE_TIMEOUT_MS = 10_000;
const GONE = 410;

/** A client of the feed API. Each call but `snapshot` sends one request; the caller decides whether to retry. */
export class FeedClient {
  private readonly requests: FeedRequests;

  /** @param agent may check the certificate of the server in its own way */
  constructor(
    feedUrl: string,
    feedToken: () => string,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
    agent?: () => Agent,
  ) {
    this.requests = new FeedRequests(feedUrl, feedToken, idleTimeoutMs, agent);
  }

  /** The next changes after the revision, and the head; null: the log was pruned. @throws the reason of `signal`. */
  async changesAfter(revision: number, signal?: AbortSignal): Promise<ChangesPage | null> {
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
   * @param atLeast a snapshot from before this revision is of no use. `NEW_SNAPSHOT`: nor is the one sent before.
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

  /** What makes a catalogue image of another one, compressed: the bytes as they arrive. */
  async imageDelta(
    baseSha256: string,
    sha256: string,
    signal?: AbortSignal,
  ): Promise<AsyncGenerator<Uint8Array>> {
    const path = `/catalogue/${sha256}/delta/${baseSha256}`;
    const what = 'delta of a catalogue image';
    return (await this.requests.open({ path, what, signal })).body;
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
