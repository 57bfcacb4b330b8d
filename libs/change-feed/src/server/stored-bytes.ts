import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Pieces are large: few are held for a reader that is slow. */
const PIECES = { highWaterMark: 2 };

/** Stored bytes that never change, read in pieces. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** The bytes from `start` up to `end`, exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** The one form of a Range header that followers send (RFC 9110 §14.1.2). Any other is ignored. */
const REST = /^bytes=(\d{1,15})-$/;

/**
 * Answers GET of stored bytes (RFC 9110): all of them, or those from an offset on (§14, If-Range §13.1.5).
 * @param etag an entity tag that no other bytes have, in quotes.
 */
export async function sendStored(
  stored: StoredBytes,
  etag: string,
  contentType: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { sizeBytes } = stored;
  response.setHeader('ETag', etag);
  response.setHeader('Accept-Ranges', 'bytes');
  const { range = '', 'if-range': ifRange } = request.headers;
  const rest = ifRange === undefined || ifRange === etag ? REST.exec(range) : null;
  const start = Number(rest?.[1] ?? 0);
  if (rest !== null && start >= sizeBytes) {
    response.writeHead(416, { 'Content-Range': `bytes */${sizeBytes}` }).end();
    return;
  }
  response.writeHead(rest ? 206 : 200, {
    'Content-Type': contentType,
    'Content-Length': sizeBytes - start,
    ...(rest && { 'Content-Range': `bytes ${start}-${sizeBytes - 1}/${sizeBytes}` }),
  });
  await pipeline(Readable.from(stored.read(start, sizeBytes), PIECES), response);
}
