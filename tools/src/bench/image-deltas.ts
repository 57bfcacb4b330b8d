/*
 * What a change of a few names sends to a follower: the last part of `npm run bench:refresh`. It puts lists in force
 * that differ from the one before. Three followers fetch each image: two as a delta, which is made for the first of
 * them, and one whole. It prints figures and asserts nothing.
 */
import { buildImage } from '@weir/catalogue';
import { CatalogueImages, FeedClient, ImageFollower } from '@weir/change-feed';
import { type ActiveCatalogue, fromRow } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlaneProcess, cpuMs } from '../services/control-plane.js';
import { markdownTable } from './markdown-table.js';

/** By its title, how many names a change adds. */
const changesOf = (names: number): ReadonlyMap<string, number> =>
  new Map([
    ['one name', 1],
    ['0.1 %', names / 1_000],
    ['1 %', names / 100],
  ]);

const HEADINGS = [
  'Changed',
  'Sent, kB',
  'Control plane, CPU ms',
  'For the next follower',
  'Follower, CPU ms',
  'Follower, time in ms',
];
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What one download has taken. */
interface Taken {
  readonly bytes: number;
  readonly controlPlaneMs: number;
  readonly followerMs: number;
  readonly tookMs: number;
}

/**
 * Measures images that are put in force one after the other.
 * @param putInForce puts a list in force that has so many names more than the first one.
 * @returns a Markdown table.
 */
export async function measureDeltas(
  controlPlane: ControlPlaneProcess,
  names: number,
  putInForce: (addedNames: number) => Promise<void>,
): Promise<string> {
  const feed = new FeedClient(controlPlane.feedUrl, () => controlPlane.token);
  const [one, other] = [new Follower(feed), new Follower(feed)];
  const first = await activeImage(feed);
  for (const follower of [one, other]) await follower.fetch(first);
  const rows: string[][] = [];
  let added = 0;
  for (const [title, more] of changesOf(names)) {
    added += more;
    await putInForce(added);
    const image = await activeImage(feed);
    const measure = (follower: Follower): Promise<Taken> =>
      measured(controlPlane, () => follower.fetch(image));
    const [made, again] = [await measure(one), await measure(other)];
    const whole = await measure(new Follower(feed));
    rows.push(cells(`${title}, delta`, made, again), cells(`${title}, whole`, whole, whole));
  }
  return markdownTable(HEADINGS, rows);
}

/** Fetches images as a resolver does, with its pauses. */
class Follower {
  private used = Promise.withResolvers<undefined>();
  private readonly follower: ImageFollower;

  constructor(feed: FeedClient) {
    const allocate = (bytes: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(bytes));
    this.follower = new ImageFollower({
      images: new CatalogueImages(feed, undefined, silent, { buildImage, allocate }),
      use: () => this.used.resolve(undefined),
      log: silent,
    });
  }

  async fetch(image: ActiveCatalogue): Promise<void> {
    this.used = Promise.withResolvers();
    this.follower.want(image);
    await this.used.promise;
  }
}

async function activeImage(feed: FeedClient): Promise<ActiveCatalogue> {
  const page = await feed.changesAfter(0);
  let image: ActiveCatalogue | null = null;
  for await (const part of feed.snapshot(page?.head.revision)) {
    if (part.type !== 'rows' || part.kind !== 'catalogue') continue;
    for (const row of part.rows) image = fromRow('catalogue', row);
  }
  if (image !== null) return image;
  throw new Error('no catalogue is in force');
}

async function measured(
  controlPlane: ControlPlaneProcess,
  work: () => Promise<unknown>,
): Promise<Taken> {
  // What the control plane still does about the request before.
  await sleep(1_000);
  const bytesBefore = await sentBytes(controlPlane);
  const [planeBefore, ownBefore] = [cpuMs(controlPlane.pid), process.cpuUsage()];
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  const own = process.cpuUsage(ownBefore);
  return {
    controlPlaneMs: cpuMs(controlPlane.pid) - planeBefore,
    followerMs: (own.user + own.system) / 1000,
    tookMs,
    bytes: (await sentBytes(controlPlane)) - bytesBefore,
  };
}

async function sentBytes({ opsUrl }: ControlPlaneProcess): Promise<number> {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  const values = metrics.matchAll(/^weir_feed_catalogue_bytes_total\{as="\w+"\} (\d+)$/gm);
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

function cells(title: string, taken: Taken, again: Taken): string[] {
  const { bytes, controlPlaneMs, followerMs, tookMs } = taken;
  const figures = [controlPlaneMs, again.controlPlaneMs, followerMs, tookMs];
  return [title, (bytes / 1000).toFixed(1), ...figures.map((figure) => figure.toFixed(0))];
}
