import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type SnapshotPart, ZSTD } from '../protocol/protocol.js';
import { writeSnapshot } from '../protocol/snapshot-stream.js';
import type { FeedLogger } from '../runtime/feed-logger.js';
import type { FeedDownloads } from './download-pool.js';
import { compressed, KeptFileError } from './kept-file.js';
import type { KeptSnapshots } from './kept-snapshots.js';
import { ignoreDisconnect, refuse, refuseForNow, inTime } from './refuse.js';
import { sendStored } from './stored-bytes.js';

export interface SnapshotServing {
  readonly source: { snapshot(): AsyncIterable<SnapshotPart> };
  readonly snapshots?: KeptSnapshots | undefined;
  readonly downloads: Pick<FeedDownloads, 'snapshots' | 'withoutDisk'>;
  readonly log: FeedLogger;
}

/** Answers `GET /snapshot?atLeast=N`: a snapshot that has revision N, if need be a new one. */
export async function answerSnapshot(
  serving: SnapshotServing,
  atLeast: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { snapshots, downloads, log } = serving;
  if (atLeast === null || !/^\d{1,15}$/.test(atLeast)) {
    return refuse(response, 422, 'atLeast is a revision');
  }
  const leave = downloads.snapshots.enter();
  if (leave === null) return refuseForNow(response, downloads.snapshots);
  try {
    if (snapshots === undefined) return await sendFromSource(serving, response);
    const snapshot = await inTime(snapshots.get(Number(atLeast)));
    if (snapshot === undefined) {
      return refuseForNow(response, downloads.snapshots, snapshots.remainingMs);
    }
    const sending = sendStored(snapshot, snapshot.etag, ZSTD, request, response).finally(() =>
      snapshot.release(),
    );
    await ignoreDisconnect(log, 'a snapshot', sending);
  } catch (error) {
    if (!(error instanceof KeptFileError) || response.headersSent) throw error;
    await sendWithoutDisk(serving, response);
  } finally {
    leave();
  }
}

async function sendWithoutDisk(serving: SnapshotServing, response: ServerResponse): Promise<void> {
  const { withoutDisk } = serving.downloads;
  const leave = withoutDisk.enter();
  if (leave === null) return refuseForNow(response, withoutDisk);
  try {
    await sendFromSource(serving, response);
  } finally {
    leave();
  }
}

async function sendFromSource(
  { source, log }: SnapshotServing,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('Content-Type', ZSTD);
  const sending = pipeline(compressed(writeSnapshot(source.snapshot())), response);
  await ignoreDisconnect(log, 'a snapshot', sending);
}
