import type { ServerResponse } from 'node:http';
import { endsWithin } from '../runtime/ends-within.js';
import type { FeedLogger } from '../runtime/feed-logger.js';
import type { DownloadPool } from './download-pool.js';

/** How long a request waits for what is being made. Shorter than the timeout of followers. */
const HOLD_MS = 5_000;

/** What is being got, if it is there soon. Undefined: it takes longer. It is released then. */
export async function inTime<T extends { release(): void } | null>(
  getting: Promise<T>,
): Promise<T | undefined> {
  if (await endsWithin(getting, HOLD_MS)) return getting;
  getting.then(
    (got) => got?.release(),
    () => undefined,
  );
  return undefined;
}

export function refuse(response: ServerResponse, status: number, detail: string): void {
  response
    .writeHead(status, { 'Content-Type': 'application/json' })
    .end(JSON.stringify({ detail }));
}

/** Tells a follower to ask again later, each at another time. @param leastMs it is of no use before. */
export function refuseForNow(response: ServerResponse, pool: DownloadPool, leastMs = 0): void {
  response.setHeader('Retry-After', pool.retryAfterSeconds(leastMs));
  refuse(response, 503, 'Too many downloads at the moment, or it is being made');
}

/** A follower that disconnects is no error of the server. One that stays sees that the response is incomplete. */
export async function ignoreDisconnect(
  log: FeedLogger,
  what: string,
  sending: Promise<void>,
): Promise<void> {
  try {
    await sending;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    log.warn({}, `a follower disconnected while it read ${what}`);
  }
}
