import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileThread } from '../files/file-thread.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { DownloadPool, feedDownloads } from '../server/download-pool.js';
import { createFeedServer, type FeedSource } from '../server/feed-server.js';
import { DeltaCache } from '../server/delta-cache.js';
import { MemoryLog } from '../testing/memory-log.js';
import { CatalogueImages } from './catalogue-images.js';
import { FeedClient } from './feed-client.js';
import { FeedError } from './feed-requests.js';
import { accepts } from '../testing/deployment.js';

const silent: FeedLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const announced = (text: string) => ({ version: 1, sha256: sha256(text), sizeBytes: text.length });

/** Images are texts here, and the delta of two texts is what the second one has behind the first. */
const BASE = 'the base image '.repeat(100);
const NEXT = `${BASE}and more`;
const base = { sha256: sha256(BASE), bytes: Buffer.from(BASE) };

async function buildImage(from: Uint8Array, delta: AsyncIterable<Uint8Array>, room: Uint8Array) {
  const image = Buffer.concat([from, ...(await Array.fromAsync(delta))]);
  room.set(image.subarray(0, room.length));
  return { image: room, sha256: sha256(Buffer.from(room).toString()) };
}

describe('CatalogueImages with deltas', () => {
  /** What the feed sends as the delta; null: there is none. */
  let delta: Uint8Array | null;
  let deltaError: Error | null;
  const asked: string[] = [];
  const source: FeedSource = Object.assign(new MemoryLog(), {
    catalogueImage: (wanted: string) => {
      asked.push('image');
      const image = Buffer.from([BASE, NEXT].find((text) => sha256(text) === wanted) ?? '');
      const read = async function* (start: number, end: number) {
        yield await Promise.resolve(image.subarray(start, end));
      };
      return Promise.resolve({ sizeBytes: image.length, read });
    },
  });
  const deltaSource = {
    imageDelta: () => {
      asked.push('delta');
      if (deltaError !== null) return Promise.reject(deltaError);
      const bytes = delta;
      async function* sent() {
        yield await Promise.resolve(bytes!);
      }
      return Promise.resolve(bytes && { baseBytes: 1e9, bytes: sent() });
    },
  };
  let folder: string;
  let files: FileThread;
  let server: Server;
  let deltas: DeltaCache | undefined;
  let images: CatalogueImages;
  const downloads = feedDownloads(2);

  const start = async () => {
    const options = { source, isAuthorised: accepts('t'), log: silent, isOutage: () => true };
    server = createFeedServer({ ...options, deltas, downloads });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const kept = { folder: join(folder, 'kept'), files, lacksImage: false };
    const feed = new FeedClient(url, () => 't');
    images = new CatalogueImages(feed, kept, silent, { buildImage });
  };
  beforeEach(() => {
    asked.length = 0;
    delta = Buffer.from('and more');
    deltaError = null;
    folder = mkdtempSync(join(tmpdir(), 'weir-deltas-'));
    files = new FileThread({ patienceMs: 5_000 });
    deltas = new DeltaCache({ folder, source: deltaSource, log: silent, isOutage: () => true });
  });
  afterEach(async () => {
    await files.close();
    server.closeAllConnections();
    server.close();
    deltas?.close();
    rmSync(folder, { recursive: true });
  });
  const load = async (from: typeof base | null = base) =>
    Buffer.from(await images.load(announced(NEXT), undefined, from)).toString();

  it('make the image of the one in use, and it is kept as a whole one', async () => {
    await start();
    expect([await load(), asked]).toEqual([NEXT, ['delta']]);
    expect(readdirSync(join(folder, 'kept'))).toEqual([`catalogue-${sha256(NEXT)}`]);
    expect(await load(null)).toBe(NEXT);
    expect(images.counters).toEqual({ whole: 0, built: 1, deltaFaults: 0 });
    expect(downloads.sent.delta).toMatchObject({ downloads: 1 });
    expect(downloads.sent.image).toMatchObject({ downloads: 0, bytes: 0 });
  });

  it('are not asked for without a base', async () => {
    await start();
    expect([await load(null), asked]).toEqual([NEXT, ['image']]);
  });

  it('leave the whole image where there is no delta, or the feed is of a release before', async () => {
    delta = null;
    await start();
    expect([await load(), asked]).toEqual([NEXT, ['delta', 'image']]);
    expect(images.counters).toEqual({ whole: 1, built: 0, deltaFaults: 0 });
    server.close();
    deltas = undefined;
    rmSync(join(folder, 'kept'), { recursive: true });
    await start();
    expect([await load(), asked]).toEqual([NEXT, ['delta', 'image', 'image']]);
  });

  it('are given up for the whole image when they make another one', async () => {
    delta = Buffer.from('and less');
    await start();
    expect([await load(), asked]).toEqual([NEXT, ['delta', 'image']]);
    expect(images.counters).toEqual({ whole: 1, built: 0, deltaFaults: 1 });
  });

  it('are given up when they are larger than a third of the base, whatever the feed sends', async () => {
    delta = Buffer.alloc(BASE.length / 3 + 1);
    await start();
    expect([await load(), asked]).toEqual([NEXT, ['delta', 'image']]);
    expect(images.counters).toEqual({ whole: 1, built: 0, deltaFaults: 1 });
  });

  it('are given up when their compressed bytes are damaged', async () => {
    const sendPlain = Object.assign(
      new DeltaCache({ folder, source: deltaSource, log: silent, isOutage: () => true }),
      {
        get: () =>
          Promise.resolve({
            ...{ etag: '"damaged"', sizeBytes: 4, release: () => undefined },
            async *read() {
              yield await Promise.resolve(Buffer.from('bad!'));
            },
          }),
      },
    );
    deltas = sendPlain;
    await start();
    expect([await load(), asked]).toEqual([NEXT, ['image']]);
    expect(images.counters).toEqual({ whole: 1, built: 0, deltaFaults: 1 });
  });

  it('are asked for again while the feed is busy, and then the whole image is', async () => {
    deltaError = new Error('an outage of this test');
    await start();
    for (let attempt = 1; attempt < 5; attempt++) {
      await expect(images.load(announced(NEXT), undefined, base)).rejects.toThrow(FeedError);
    }
    expect(asked).toEqual(['delta', 'delta', 'delta', 'delta']);
    expect([await load(), asked.slice(4)]).toEqual([NEXT, ['delta', 'image']]);
    expect(images.counters).toEqual({ whole: 1, built: 0, deltaFaults: 1 });
  });

  it('have the places of images', async () => {
    await start();
    const leave = [downloads.images.enter(), downloads.images.enter()];
    const refused = await images.load(announced(NEXT), undefined, base).catch((e: unknown) => e);
    expect(refused).toBeInstanceOf(FeedError);
    expect((refused as FeedError).retryAfterMs).toBeGreaterThan(0);
    expect(asked).toEqual([]);
    leave.forEach((end) => end?.());
    expect(await load()).toBe(NEXT);
    expect(downloads.images).toBeInstanceOf(DownloadPool);
  });

  it('are given up when their caller gives up', async () => {
    await start();
    const giveUp = AbortSignal.abort(new Error('given up by this test'));
    await expect(images.load(announced(NEXT), giveUp, base)).rejects.toThrow('by this test');
    expect(asked).not.toContain('image');
  });
});
