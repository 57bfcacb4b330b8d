import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseByteRange } from './byte-range.js';

/** Pieces are large: few are held for a reader that is slow. */
export const PIECES = { highWaterMark: 2 };

/** Stored bytes that never change, read in pieces. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** The bytes from `start` up to `end`, exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/**
 * Answers GET and HEAD of stored bytes (RFC 9110): all of them, a range (§14, If-Range §13.1.5), or 304.
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
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  const { range: rangeHeader, 'if-range': ifRange } = request.headers;
  const isRanged = request.method === 'GET' && (ifRange === undefined || ifRange === etag);
  const range = parseByteRange(isRanged ? rangeHeader : undefined, sizeBytes);
  if (range === null) {
    response.writeHead(416, { 'Content-Range': `bytes */${sizeBytes}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: sizeBytes };
  response.writeHead(range ? 206 : 200, {
    'Content-Type': contentType,
    'Content-Length': end - start,
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD') response.end();
  else await pipeline(Readable.from(stored.read(start, end), PIECES), response);
}
