import type { IncomingMessage, ServerResponse } from 'node:http';
import { ZSTD } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/feed-logger.js';
import type { FeedDownloads } from './download-pool.js';
import type { KeptDeltas } from './kept-deltas.js';
import { ignoreDisconnect, refuse, refuseForNow, inTime } from './refuse.js';
import { sendStored, type StoredBytes } from './stored-bytes.js';

export interface ImageServing {
  readonly source: { catalogueImage(sha256: string): Promise<StoredBytes | null> };
  readonly deltas?: KeptDeltas | undefined;
  readonly downloads: Pick<FeedDownloads, 'images' | 'sent'>;
  readonly log: FeedLogger;
}

/** The path of an image: its sha256, and that of the base of a delta. */
export const IMAGE_PATH = /^\/catalogue\/([0-9a-f]{64})(?:\/delta\/([0-9a-f]{64}))?$/;

/**
 * Answers `GET /catalogue/<sha256>` with the bytes of the image, `GET /catalogue/<sha256>/delta/<base>` with what makes
 * the image of its base.
 */
export async function answerImage(
  serving: ImageServing,
  path: RegExpExecArray,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, sha256 = '', base] = path;
  const { images } = serving.downloads;
  const leave = images.enter();
  if (leave === null) return refuseForNow(response, images);
  try {
    if (base === undefined) await sendImage(serving, sha256, request, response);
    else await sendDelta(serving, base, sha256, request, response);
  } finally {
    leave();
  }
}

async function sendImage(
  { source, downloads, log }: ImageServing,
  sha256: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const image = await source.catalogueImage(sha256);
  if (image === null) return refuse(response, 404, 'No such catalogue image');
  const counted = downloads.sent.image.counted(image);
  const sending = sendStored(counted, `"${sha256}"`, 'application/octet-stream', request, response);
  await ignoreDisconnect(log, 'a catalogue image', sending);
}

async function sendDelta(
  { deltas, downloads, log }: ImageServing,
  base: string,
  sha256: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const delta = deltas === undefined ? null : await inTime(deltas.get(base, sha256));
  if (delta === undefined) {
    return refuseForNow(response, downloads.images, deltas?.durationMs);
  }
  if (delta === null) return refuse(response, 404, 'No delta between these catalogue images');
  const counted = downloads.sent.delta.counted(delta);
  const sending = sendStored(counted, delta.etag, ZSTD, request, response);
  await ignoreDisconnect(
    log,
    'a delta',
    sending.finally(() => delta.release()),
  );
}
