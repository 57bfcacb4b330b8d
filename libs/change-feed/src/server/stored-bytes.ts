import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseByteRange } from './byte-range.js';

/** A stored catalogue image, read in pieces. */
export interface StoredImage {
  readonly sizeBytes: number;
  /** Its bytes from `start` up to `end`, exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/**
 * Answers GET and HEAD of an image (RFC 9110): all of it, a range (§14, If-Range §13.1.5), or 304. The entity tag
 * is the sha256 of the image, which never changes.
 */
export async function sendImage(
  image: StoredImage,
  sha256: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { sizeBytes } = image;
  const etag = `"${sha256}"`;
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
    'Content-Type': 'application/octet-stream',
    'Content-Length': end - start,
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD') response.end();
  else await pipeline(Readable.from(image.read(start, end)), response);
}
