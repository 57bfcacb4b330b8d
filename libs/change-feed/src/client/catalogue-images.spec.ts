import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CatalogueImages } from './catalogue-images.js';
import { FeedClient } from './feed-client.js';
import type { ImageFolder } from './image-files.js';
import { FileThread } from '../files/file-thread.js';
import { createFeedServer, type FeedSource } from '../server/feed-server.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { MemoryLog } from '../testing/memory-log.js';
import { accepts } from '../testing/deployment.js';

const silent: FeedLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const announced = (text: string) => ({
  version: 1,
  sha256: createHash('sha256').update(text).digest('hex'),
  sizeBytes: text.length,
});

const RETRY_MS = 20;

describe('CatalogueImages', () => {
  const served = new Map<string, string>();
  /** Of each time that an image was read to be sent: from where. */
  const readFrom: number[] = [];
  /** After how many bytes the feed breaks off. */
  let breaksAfter = Infinity;
  let beforeBytes: Promise<unknown> | undefined;
  let server: Server;
  let folder: string;
  let kept: ImageFolder;
  let images: CatalogueImages;

  beforeEach(async () => {
    readFrom.length = 0;
    breaksAfter = Infinity;
    beforeBytes = undefined;
    served.clear();
    server = createFeedServer({
      source,
      isAuthorised: accepts('t'),
      log: silent,
      isOutage: () => false,
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    folder = mkdtempSync(join(tmpdir(), 'weir-images-'));
    const files = new FileThread({ patienceMs: 5_000 });
    kept = { folder: join(folder, 'kept'), files, lacksImage: false };
    const { port } = server.address() as AddressInfo;
    images = new CatalogueImages(
      new FeedClient(`http://127.0.0.1:${port}`, () => 't'),
      kept,
      silent,
      {
        retryMs: RETRY_MS,
      },
    );
  });
  afterEach(async () => {
    await kept.files.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const source: FeedSource = Object.assign(new MemoryLog(), {
    catalogueImage: (sha256: string) => {
      const image = Buffer.from(served.get(sha256) ?? '');
      async function* read(start: number, end: number) {
        readFrom.push(start);
        await beforeBytes;
        const brokenAt = Math.min(end, start + breaksAfter);
        yield image.subarray(start, brokenAt);
        // Wait until the bytes are sent.
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (brokenAt < end) throw new Error('broken off by this test');
      }
      return Promise.resolve({ sizeBytes: image.length, read });
    },
  });
  const load = async (text: string) => {
    served.set(announced(text).sha256, text);
    return Buffer.from(await images.load(announced(text))).toString();
  };

  it('downloads an image once and then reads it from disk', async () => {
    expect([await load('one'), await load('one'), readFrom]).toEqual(['one', 'one', [0]]);
  });

  it('downloads an image again when its file is damaged', async () => {
    await load('one');
    writeFileSync(join(folder, 'kept', `catalogue-${announced('one').sha256}`), 'two');
    expect([await load('one'), readFrom]).toEqual(['one', [0, 0]]);
  });

  it('resumes a download where it broke off', async () => {
    breaksAfter = 4;
    await expect(load('0123456789')).rejects.toThrow();
    await expect(load('0123456789')).rejects.toThrow();
    expect([await load('0123456789'), readFrom]).toEqual(['0123456789', [0, 4, 8]]);
    expect(readdirSync(join(folder, 'kept'))).toEqual([
      `catalogue-${announced('0123456789').sha256}`,
    ]);
  });

  it('downloads another image from its start', async () => {
    breaksAfter = 4;
    await expect(load('0123456789')).rejects.toThrow();
    breaksAfter = Infinity;
    expect([await load('another'), readFrom]).toEqual(['another', [0, 0]]);
  });

  it('accepts only the image that was announced, and starts again after a wrong one', async () => {
    const { sha256 } = announced('0123456789');
    for (const text of ['012345678', '01234567890', '0123456780']) {
      served.set(sha256, text);
      await expect(images.load(announced('0123456789'))).rejects.toThrow('the catalogue image');
    }
    expect(existsSync(join(folder, 'kept'))).toBe(false);
    expect(await load('0123456789')).toBe('0123456789');
  });

  it('keeps the last three images', async () => {
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
      await load(text);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(readdirSync(join(folder, 'kept')).sort()).toEqual(
      ['three', 'four', 'five'].map((text) => `catalogue-${announced(text).sha256}`).sort(),
    );
  });

  it('restores an image from disk, or the newest other one that is not damaged', async () => {
    expect(await images.restore(announced('one'))).toBeNull();
    for (const text of ['one', 'two', 'three']) {
      await load(text);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const restored = async (text: string) => {
      const image = await images.restore(announced(text));
      return image && Buffer.from(image.bytes).toString();
    };
    expect([await restored('one'), await restored('missing')]).toEqual(['one', 'three']);
    const { sha256 } = announced('three');
    writeFileSync(join(folder, 'kept', `catalogue-${sha256}`), 'damaged');
    const before = readdirSync(join(folder, 'kept'));
    utimesSync(join(folder, 'kept', `catalogue-${sha256}`), 9e9, 9e9);
    expect(await restored('missing')).toBe('two');
    expect(readdirSync(join(folder, 'kept'))).toEqual(before);
  });

  it('does not list the folder for an image that is on disk', async () => {
    await load('one');
    const calls = vi.spyOn(kept.files, 'call');
    expect(await images.restore(announced('one'))).not.toBeNull();
    const names = calls.mock.calls.map(([name]) => name);
    expect([names.includes('open'), names.includes('list')]).toEqual([true, false]);
  });

  it('gives a download up when its caller does', async () => {
    const gate = Promise.withResolvers<undefined>();
    beforeBytes = gate.promise;
    const giveUp = new AbortController();
    served.set(announced('one').sha256, 'one');
    const loading = images.load(announced('one'), giveUp.signal);
    await expect.poll(() => readFrom).toHaveLength(1);
    giveUp.abort(new Error('by this test'));
    await expect(loading).rejects.toThrow();
    gate.resolve(undefined);
  });

  it('keeps an image later when the disk fails at first', async () => {
    writeFileSync(kept.folder, 'a file in the place of the folder');
    expect(await load('one')).toBe('one');
    expect(kept.lacksImage).toBe(true);
    rmSync(kept.folder);
    await expect.poll(() => kept.lacksImage).toBe(false);
    expect(readdirSync(kept.folder)).toEqual([`catalogue-${announced('one').sha256}`]);
  });

  it('leaves nothing of an image for which the disk has no room, so that other files have it', async () => {
    const call = kept.files.call.bind(kept.files) as (...request: unknown[]) => Promise<never>;
    vi.spyOn(kept.files, 'call').mockImplementation((...request) =>
      request[0] === 'flush' ? Promise.reject(new Error('the disk is full')) : call(...request),
    );
    expect(await load('one')).toBe('one');
    expect([kept.lacksImage, readdirSync(kept.folder)]).toEqual([true, []]);
  });

  it('keeps an image although another attempt to keep the one before is under way, and fails', async () => {
    writeFileSync(kept.folder, 'a file in the place of the folder');
    await load('one');
    const gate = Promise.withResolvers<never>();
    const call = vi.spyOn(kept.files, 'call').mockReturnValueOnce(gate.promise);
    await expect.poll(() => call.mock.calls.length).toBe(1);
    rmSync(kept.folder);
    setTimeout(() => gate.reject(new Error('the disk fails')), 5 * RETRY_MS);
    await load('two');
    await new Promise((resolve) => setTimeout(resolve, 10 * RETRY_MS));
    expect(kept.lacksImage).toBe(false);
    expect(readdirSync(kept.folder)).toEqual([`catalogue-${announced('two').sha256}`]);
  });

  it('removes the file that a process left behind when it was killed while writing an image', async () => {
    await load('one');
    writeFileSync(join(folder, 'kept', `catalogue-${'a'.repeat(64)}.new`), 'unfinished');
    await load('two');
    expect(readdirSync(join(folder, 'kept')).sort()).toEqual(
      ['one', 'two'].map((text) => `catalogue-${announced(text).sha256}`).sort(),
    );
  });
});
