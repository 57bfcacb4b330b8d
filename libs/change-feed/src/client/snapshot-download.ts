import { RowError } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryDelayMs } from '../runtime/retry-delay.js';
import { decompressed } from './decompressed.js';
import { FeedError } from './feed-error.js';
import type { FeedRequest, FeedRequests, FeedResponse } from './feed-requests.js';

/** Attempts in a row that bring no byte, after which a download is given up. */
const MAX_ATTEMPTS = 8;

/**
 * The lines of a snapshot, as bytes. A download that breaks off is continued where it ended, as long as the feed API
 * has that snapshot.
 * @throws FeedError; RowError when the bytes are damaged.
 */
export async function* downloadSnapshot(
  requests: FeedRequests,
  path: string,
): AsyncGenerator<Uint8Array> {
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
  const etag = first.headers.get('etag');
  const sizeBytes = Number(first.headers.get('content-length') ?? Infinity);
  let offsetBytes = 0;
  let response: FeedResponse | null = first;
  for (let attempts = 0; ;) {
    try {
      response ??= await openRest(requests, restOf(request, offsetBytes, etag ?? ''));
      for await (const chunk of response.body) {
        offsetBytes += chunk.length;
        attempts = 0;
        yield chunk;
      }
      return;
    } catch (problem) {
      // It broke off after its last byte. There is no range after that.
      if (offsetBytes === sizeBytes) return;
      // Without a byte there is nothing to continue.
      const isContinuable = etag !== null && offsetBytes > 0 && !requests.closed.aborted;
      if (!isContinuable || ++attempts > MAX_ATTEMPTS || !isWorthAnother(problem)) throw problem;
      const delayMs = Math.max(retryDelayMs(attempts, Math.random()), problem.retryAfterMs);
      await sleep(delayMs, undefined, { signal: requests.closed }).catch(() => undefined);
    }
    response = null;
  }
}

function restOf(request: FeedRequest, offsetBytes: number, etag: string): FeedRequest {
  const range = { Range: `bytes=${offsetBytes}-`, 'If-Range': etag };
  return { ...request, offsetBytes, headers: { ...request.headers, ...range } };
}

async function openRest(requests: FeedRequests, rest: FeedRequest): Promise<FeedResponse> {
  const response = await requests.open(rest);
  if (response.status === 206) return response;
  await response.cancel();
  throw new ReplacedError('the snapshot was replaced while it was downloaded');
}

class ReplacedError extends FeedError {}

function isWorthAnother(problem: unknown): problem is FeedError {
  return problem instanceof FeedError && !problem.isRefusal && !(problem instanceof ReplacedError);
}

function damaged(cause: unknown): RowError {
  return new RowError('a snapshot whose compressed bytes are damaged', { cause });
}
