import type { ActiveCatalogue } from '@weir/config-model';
import fc from 'fast-check';
import { setImmediate as untilIdle } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FeedError } from './feed-requests.js';
import type { LoadedImage } from './catalogue-images.js';
import { ImageFollower } from './image-follower.js';

const catalogue = (version: number): ActiveCatalogue => ({
  version,
  sha256: `image ${version}`,
  sizeBytes: 1,
});
const bytesOf = (version: number): Uint8Array => Uint8Array.of(version);
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

interface Fetch {
  readonly image: ActiveCatalogue;
  readonly base: string | null;
  readonly signal: AbortSignal;
  readonly end: PromiseWithResolvers<Uint8Array>;
}

/** @param onDisk the version of the newest image there */
function follow(onDisk: number | null = null) {
  const used: (number | null)[] = [];
  const fetches: Fetch[] = [];
  const follower = new ImageFollower({
    images: {
      restore: (): Promise<LoadedImage | null> =>
        Promise.resolve(
          onDisk === null ? null : { sha256: catalogue(onDisk).sha256, bytes: bytesOf(onDisk) },
        ),
      load: (image, signal, base) => {
        const end = Promise.withResolvers<Uint8Array>();
        signal!.addEventListener('abort', () => end.reject(signal!.reason as Error));
        fetches.push({ image, base: base?.sha256 ?? null, signal: signal!, end });
        return end.promise;
      },
      counters: { whole: 0, built: 0, deltaFaults: 0 },
    },
    use: (image) => void used.push(image && image[0]),
    log: silent,
  });
  return { follower, used, fetches };
}

describe('ImageFollower', () => {
  it('uses the wanted image from the disk, without a fetch', async () => {
    const { follower, used, fetches } = follow(7);
    follower.want(catalogue(7));
    await follower.firstAttempt();
    expect([used, fetches, follower.missing]).toEqual([[7], [], null]);
  });

  it('goes on with an older image from the disk until the wanted one is there', async () => {
    const { follower, used, fetches } = follow(6);
    follower.want(catalogue(7));
    await untilIdle();
    expect(fetches).toMatchObject([{ base: 'image 6' }]);
    expect(follower.missing).toMatchObject({ sha256: 'image 7' });
    fetches[0].end.resolve(bytesOf(7));
    await follower.firstAttempt();
    expect([used, follower.missing]).toEqual([[6, 7], null]);
  });

  it('tries again after a failure, and not before the feed API has asked for it', async () => {
    const { follower, used, fetches } = follow();
    follower.want(catalogue(7));
    await untilIdle();
    const retryAfterMs = 300;
    fetches[0].end.reject(Object.assign(new FeedError('busy'), { retryAfterMs }));
    const failedMs = performance.now();
    await follower.firstAttempt();
    expect([follower.failures, follower.missing?.sha256]).toEqual([1, 'image 7']);
    await expect.poll(() => fetches.length).toBe(2);
    // Timers may fire a millisecond early.
    expect(performance.now() - failedMs).toBeGreaterThan(retryAfterMs - 2);
    fetches[1].end.resolve(bytesOf(7));
    await expect.poll(() => used).toEqual([7]);
  });

  it('gives up a fetch, and ends a pause, when another image is wanted', async () => {
    const { follower, fetches } = follow();
    follower.want(catalogue(7));
    await untilIdle();
    follower.want(catalogue(8));
    await untilIdle();
    expect([fetches[0].signal.aborted, fetches[1].image.version]).toEqual([true, 8]);
    fetches[1].end.reject(Object.assign(new FeedError('busy'), { retryAfterMs: 60_000 }));
    await untilIdle();
    follower.want(catalogue(9));
    await untilIdle();
    expect([fetches.map(({ image }) => image.version), follower.failures]).toEqual([[7, 8, 9], 1]);
    await follower.stop();
  });

  it('ends a fetch and a pause when it is stopped, and begins nothing afterwards', async () => {
    const { follower, fetches } = follow();
    follower.want(catalogue(7));
    await untilIdle();
    await follower.stop();
    await follower.firstAttempt();
    follower.want(catalogue(8));
    await untilIdle();
    expect([fetches.length, fetches[0].signal.aborted]).toEqual([1, true]);
  });

  it('ends with the image that is wanted last, whatever happened before', async () => {
    const wanted = fc.option(fc.integer({ min: 1, max: 3 }));
    const outcome = fc.constantFrom('arrives', 'fails', 'takes longer');
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.integer({ min: 1, max: 3 })),
        fc.array(fc.tuple(wanted, outcome), { minLength: 1, maxLength: 8 }),
        async (onDisk, steps) => {
          const { follower, used, fetches } = follow(onDisk);
          const arrive = () => fetches.at(-1)?.end.resolve(bytesOf(fetches.at(-1)!.image.version));
          for (const [version, how] of steps) {
            follower.want(version === null ? null : catalogue(version));
            await untilIdle();
            if (how === 'arrives') arrive();
            if (how === 'fails') fetches.at(-1)?.end.reject(new FeedError('fails'));
            await untilIdle();
          }
          const isSettled = () => (arrive(), follower.missing === null);
          await expect.poll(isSettled, { interval: 5 }).toBe(true);
          await untilIdle();
          expect(used.at(-1) ?? null).toBe(steps.at(-1)![0]);
          await follower.stop();
        },
      ),
      { numRuns: 50 },
    );
  });
});
