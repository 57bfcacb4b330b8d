import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CachedFile } from './cached-file.js';
import { DeltaCache } from './delta-cache.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

class Outage extends Error {}

describe('DeltaCache', () => {
  let folder: string;
  let nowMs = 0;
  let baseBytes: number;
  let stored: Set<string>;
  let failure: Error | null;
  let gate: Promise<unknown> | undefined;
  /** The deltas whose bytes were read. */
  let read: string[];
  let deltas: DeltaCache;

  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'weir-delta-cache-')), 'feed');
    [baseBytes, stored, failure, gate, read] = [3_000, new Set('abcdef'), null, undefined, []];
    const source = {
      imageDelta: (base: string, image: string) => {
        async function* bytes() {
          read.push(base + image);
          await gate;
          if (failure !== null) throw failure;
          for (let i = 0; i < 10; i++) yield Buffer.alloc(100, `${base}${image}`);
        }
        const isStored = stored.has(base) && stored.has(image);
        return Promise.resolve(isStored ? { baseBytes, bytes: bytes() } : null);
      },
    };
    deltas = new DeltaCache({
      folder,
      source,
      log: silent,
      isOutage: (error) => error instanceof Outage,
      nowMs: () => nowMs,
    });
  });
  afterEach(() => {
    deltas.close();
    rmSync(join(folder, '..'), { recursive: true });
  });

  const bytesOf = async (delta: CachedFile | null) => {
    const compressed = await Array.fromAsync(delta!.read(0, delta!.sizeBytes));
    return zstdDecompressSync(Buffer.concat(compressed)).toString('utf8', 0, 4);
  };
  const get = async (base: string, image: string) => {
    const delta = await deltas.get(base, image);
    delta?.release();
    return delta;
  };

  it('make a delta once for all who ask for it', async () => {
    const opened = Promise.withResolvers<undefined>();
    gate = opened.promise;
    const asking = Array.from({ length: 20 }, () => deltas.get('a', 'b'));
    await expect.poll(() => read).toEqual(['ab']);
    opened.resolve(undefined);
    const got = await Promise.all([...asking, deltas.get('a', 'b')]);
    expect(new Set(got).size).toBe(1);
    expect(await bytesOf(got[0])).toBe('abab');
    got.forEach((delta) => delta?.release());
    expect([read, deltas.counts]).toEqual([['ab'], { made: 1, too_large: 0, failed: 0 }]);
    // The file has no name.
    expect(readdirSync(folder)).toEqual([]);
  });

  it('make one while another one is slow, and none while four are', async () => {
    const opened = Promise.withResolvers<undefined>();
    gate = opened.promise;
    const slow = ['b', 'c', 'd'].map((image) => get('a', image));
    await expect.poll(() => read).toHaveLength(3);
    gate = undefined;
    expect(await get('a', 'e')).not.toBeNull();
    gate = opened.promise;
    slow.push(get('a', 'f'));
    await expect.poll(() => read).toHaveLength(5);
    expect(await get('b', 'a')).toBeNull();
    opened.resolve(undefined);
    expect(await Promise.all(slow)).not.toContain(null);
    expect(await get('b', 'a')).not.toBeNull();
  });

  it('tell how long the slowest that is being made has taken so far', async () => {
    const opened = Promise.withResolvers<undefined>();
    gate = opened.promise;
    const asking = get('a', 'b');
    await expect.poll(() => read).toHaveLength(1);
    expect(deltas.durationMs).toBe(1_000);
    nowMs += 20_000;
    expect(deltas.durationMs).toBe(20_000);
    opened.resolve(undefined);
    await asking;
    expect(deltas.durationMs).toBe(20_000);
  });

  it('make none that is larger than a third of its base, and remember that', async () => {
    baseBytes = 2_999;
    expect([await get('a', 'b'), await get('a', 'b'), read]).toEqual([null, null, ['ab']]);
    expect(deltas.counts).toEqual({ made: 0, too_large: 1, failed: 0 });
  });

  it('make none of images that are not stored', async () => {
    expect([await get('a', 'x'), await get('x', 'a'), read]).toEqual([null, null, []]);
    stored.add('x');
    expect(await get('x', 'a')).not.toBeNull();
  });

  it('keep four, and close the one that nobody has asked for the longest', async () => {
    const first = await deltas.get('a', 'b');
    for (const image of 'cdef') await get('a', image);
    expect(await bytesOf(first)).toBe('abab');
    expect(first!.isLost).toBe(false);
    first!.release();
    expect(first!.isLost).toBe(true);
    await get('a', 'c');
    expect(read).toHaveLength(5);
    expect(await bytesOf(await deltas.get('a', 'b'))).toBe('abab');
    expect(read).toHaveLength(6);
  });

  it('answer that there is none for a while after a failure, and then make it', async () => {
    failure = new Error('a failure of this test');
    expect([await get('a', 'b'), await get('a', 'b'), read]).toEqual([null, null, ['ab']]);
    expect(deltas.counts).toMatchObject({ made: 0, failed: 1 });
    failure = null;
    nowMs += 60_000;
    expect(await get('a', 'b')).not.toBeNull();
  });

  it('answer the same while the disk fails', async () => {
    writeFileSync(folder, 'a file in the place of the folder');
    expect(await get('a', 'b')).toBeNull();
    rmSync(folder);
    nowMs += 60_000;
    expect(await get('a', 'b')).not.toBeNull();
    expect(existsSync(folder)).toBe(true);
  });

  it('pass on an outage, and make the delta as soon as it is over', async () => {
    failure = new Outage();
    await expect(deltas.get('a', 'b')).rejects.toThrow(Outage);
    failure = null;
    expect(await get('a', 'b')).not.toBeNull();
  });
});
