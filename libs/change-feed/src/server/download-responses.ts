import type { ServerResponse, IncomingMessage } from 'node:http';
import { endsWithin, type FeedLogger } from '../runtime/runtime.js';
import type { DownloadPool, FeedDownloads } from './download-pool.js';
import { pipeline } from 'node:stream/promises';
import { type SnapshotPart, ZSTD } from '../protocol/protocol.js';
import { writeSnapshot } from '../protocol/snapshot-stream.js';
import { compressed, CacheFolderError, sendStored, type StoredBytes } from './cached-file.js';
import type { SnapshotCache } from './snapshot-cache.js';
import type { DeltaCache } from './delta-cache.js';

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
function refuseForNow(response: ServerResponse, pool: DownloadPool, leastMs = 0): void {
  response.setHeader('Retry-After', pool.retryAfterSeconds(leastMs));
  refuse(response, 503, 'Too many downloads at the moment, or it is being made');
}

/**
 * Sends once the pool has given it a place. Without a free place it tells the follower to ask later. A follower that
 * disconnects is no error of the server. One that stays sees that the response is incomplete.
 * @param what for the log: what is sent
 */
async function sendWithPlace(
  pool: DownloadPool,
  log: FeedLogger,
  what: string,
  response: ServerResponse,
  send: () => Promise<void>,
): Promise<void> {
  const leave = pool.enter();
  if (leave === null) return refuseForNow(response, pool);
  try {
    await send();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // An error of the source may have this code too. Before anything is sent, it is one of the server.
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE' || !response.destroyed) throw error;
    log.warn({}, `a follower disconnected while it read ${what}`);
  } finally {
    leave();
  }
}

interface DownloadServing {
  readonly source: {
    snapshot(): AsyncIterable<SnapshotPart>;
    catalogueImage(sha256: string): Promise<StoredBytes | null>;
  };
  readonly snapshots?: SnapshotCache | undefined;
  readonly deltas?: DeltaCache | undefined;
  readonly downloads: FeedDownloads;
  readonly log: FeedLogger;
}

/** Answers `GET /snapshot?atLeast=N`: a snapshot that has revision N, if need be a new one. */
export async function answerSnapshot(
  serving: DownloadServing,
  atLeast: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { snapshots, downloads, log } = serving;
  const what = 'a snapshot';
  if (atLeast === null || !/^\d{1,15}$/.test(atLeast)) {
    return refuse(response, 422, 'atLeast is a revision');
  }
  const sendFromSource = (): Promise<void> => {
    response.setHeader('Content-Type', ZSTD);
    return pipeline(compressed(writeSnapshot(serving.source.snapshot())), response);
  };
  await sendWithPlace(downloads.snapshots, log, what, response, async () => {
    if (snapshots === undefined) return sendFromSource();
    try {
      const snapshot = await inTime(snapshots.get(Number(atLeast)));
      if (snapshot === undefined) {
        return refuseForNow(response, downloads.snapshots, snapshots.remainingMs);
      }
      const sending = sendStored(snapshot, snapshot.etag, ZSTD, request, response);
      await sending.finally(() => snapshot.release());
    } catch (error) {
      if (!(error instanceof CacheFolderError) || response.headersSent) throw error;
      await sendWithPlace(downloads.withoutDisk, log, what, response, sendFromSource);
    }
  });
}

/** The path of an image: its sha256, and that of the base of a delta. */
export const IMAGE_PATH = /^\/catalogue\/([0-9a-f]{64})(?:\/delta\/([0-9a-f]{64}))?$/;

/** Answers `GET /catalogue/<sha256>` (an image) and `GET /catalogue/<sha256>/delta/<base>`. */
export async function answerImage(
  serving: DownloadServing,
  [, sha256 = '', base]: RegExpExecArray,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const what = base === undefined ? 'a catalogue image' : 'a delta';
  await sendWithPlace(serving.downloads.images, serving.log, what, response, () =>
    base === undefined
      ? sendImage(serving, sha256, request, response)
      : sendDelta(serving, base, sha256, request, response),
  );
}

async function sendImage(
  { source, downloads }: DownloadServing,
  sha256: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const image = await source.catalogueImage(sha256);
  if (image === null) return refuse(response, 404, 'No such catalogue image');
  const counted = downloads.sent.image.counted(image);
  await sendStored(counted, `"${sha256}"`, 'application/octet-stream', request, response);
}

async function sendDelta(
  { deltas, downloads }: DownloadServing,
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
  await sending.finally(() => delta.release());
}
