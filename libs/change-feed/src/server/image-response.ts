import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FeedLogger } from '../runtime/feed-logger.js';
import type { DownloadPool } from './download-pool.js';
import { ignoreDisconnect, refuse, refuseForNow } from './refuse.js';
import { sendStored, type StoredBytes } from './stored-bytes.js';

export interface ImageServing {
  readonly source: { catalogueImage(sha256: string): Promise<StoredBytes | null> };
  readonly downloads: { readonly images: DownloadPool };
  readonly log: FeedLogger;
}

/** Answers `GET /catalogue/<sha256>` with the bytes of the image. */
export async function answerImage(
  { source, downloads, log }: ImageServing,
  sha256: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const leave = downloads.images.enter();
  if (leave === null) return refuseForNow(response, downloads.images);
  try {
    const image = await source.catalogueImage(sha256);
    if (image === null) return refuse(response, 404, 'No such catalogue image');
    const sending = sendStored(image, `"${sha256}"`, 'application/octet-stream', request, response);
    await ignoreDisconnect(log, 'a catalogue image', sending);
  } finally {
    leave();
  }
}
