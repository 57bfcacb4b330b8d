import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

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

/** Bytes of a representation from `start` up to `end`, exclusive. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The range that a Range header asks for, of a representation of `sizeBytes` (RFC 9110 §14.1.2).
 * @returns undefined: all of it (no header, several ranges, or no valid byte range); null: not satisfiable (416).
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | null | undefined {
  const match = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/i.exec(header?.trim() ?? '');
  if (!match) return undefined;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), sizeBytes);
    return length === 0 ? null : { start: sizeBytes - length, end: sizeBytes };
  }
  const start = Number(first);
  const end = last === undefined ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  // The last byte comes before the first: the range is invalid and ignored (RFC 9110 §14.1.1).
  if (last !== undefined && Number(last) < start) return undefined;
  return start < sizeBytes ? { start, end } : null;
}
