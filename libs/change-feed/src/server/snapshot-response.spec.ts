import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FeedClient } from '../client/feed-client.js';
import type { FeedError } from '../client/feed-requests.js';
import { MemoryLog, Outage } from '../testing/memory-log.js';
import { type FeedDownloads, feedDownloads } from './download-pool.js';
import { createFeedServer } from './feed-server.js';
import { SnapshotCache } from './snapshot-cache.js';
import { accepts } from '../testing/deployment.js';

const TOKEN = 'token-of-the-snapshot-spec';
const WAIT = { timeout: 60_000 };
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const mount = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', folder]).status === 0;
const unmount = (folder: string): void => {
  spawnSync('umount', ['--lazy', folder]);
};

describe('GET /snapshot', () => {
  let folder: string;
  let source: MemoryLog;
  let downloads: FeedDownloads;
  let server: Server;
  let snapshots: SnapshotCache;
  /** After how many bytes of its body the next answers break off. */
  let breaksAfter: number[];
  let asked: (string | undefined)[];
  let client: FeedClient;
  const ended: (() => void)[] = [];

  const start = async (places = 64, inFolder = folder) => {
    downloads = feedDownloads(places);
    const options = { folder: inFolder, source, log };
    snapshots = new SnapshotCache({ ...options, maxAgeMs: 60_000, maxRevisions: 1_000 });
    const isOutage = (error: unknown) => error instanceof Outage;
    server = createFeedServer({
      source,
      isAuthorised: accepts(TOKEN),
      log,
      isOutage,
      snapshots,
      downloads,
    });
    const [answer] = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request').on('request', (request, response) => {
      asked.push(request.headers.range);
      const bytes = breaksAfter.shift();
      if (bytes !== undefined) breakAfter(bytes);
      answer(request, response);

      function breakAfter(limit: number): void {
        let sent = 0;
        const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
        response.write = ((chunk: Uint8Array) => {
          const part = chunk.subarray(0, limit - sent);
          sent += part.length;
          if (sent < limit) return write(part);
          if (part.length > 0) write(part);
          setTimeout(() => response.destroy(), 50);
          return false;
        }) as typeof response.write;
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    client = new FeedClient(`http://127.0.0.1:${port}`, () => TOKEN);
    ended.push(() => {
      client.close();
      server.closeAllConnections();
      server.close();
      snapshots.close();
    });
  };

  beforeEach(() => {
    breaksAfter = [];
    asked = [];
    folder = mkdtempSync(join(tmpdir(), 'weir-snapshots-'));
    source = new MemoryLog();
    for (let profile = 1; profile <= 5_000; profile++) source.commit(profile, 1);
  });
  afterEach(() => {
    for (const end of ended.splice(0)) end();
    rmSync(folder, { recursive: true });
  });

  const get = async (headers: Record<string, string> = {}, query = '?atLeast=0') => {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/snapshot${query}`, {
      headers: { Authorization: `Bearer ${TOKEN}`, ...headers },
    });
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body };
  };
  /** The verdicts that a follower would have. */
  const downloaded = async (atLeast?: number) => {
    let rows = 0;
    let revision = -1;
    for await (const part of client.snapshot(atLeast)) {
      if (part.type === 'head') ({ revision } = part);
      else rows += part.rows.length;
    }
    return { rows, revision };
  };

  it('is compressed', async () => {
    await start();
    const { headers, body } = await get();
    expect(headers.get('content-type')).toBe('application/zstd');
    const lines = zstdDecompressSync(body);
    expect(body.length).toBeLessThan(lines.length / 2);
    expect(lines.toString()).toContain('"counts":{"domainRule":5000}');
  });

  it('has ranges and an entity tag', async () => {
    await start();
    const whole = await get();
    const etag = whole.headers.get('etag') ?? '';
    const part = await get({ Range: 'bytes=100-', 'If-Range': etag });
    expect([part.status, part.body.equals(whole.body.subarray(100))]).toEqual([206, true]);
    expect((await get({ Range: 'bytes=99999999-' })).status).toBe(416);
    source.commit(1, 2);
    const other = await get({ Range: 'bytes=100-', 'If-Range': etag }, '?atLeast=5001');
    expect([other.status, other.headers.get('etag') === etag]).toEqual([200, false]);
  });

  it.each(['', '?atLeast=x', '?atLeast=-1'])(
    'is refused without a least revision: %s',
    async (query) => {
      await start();
      expect((await get({}, query)).status).toBe(422);
    },
  );

  it('is continued by a follower where it broke off', async () => {
    await start();
    breaksAfter = [1_000, 0, 3_000];
    expect(await downloaded()).toEqual({ rows: 5_000, revision: 5_000 });
    expect([asked, source.snapshotsRead]).toEqual([
      [undefined, 'bytes=1000-', 'bytes=1000-', 'bytes=4000-'],
      1,
    ]);
  });

  it('is whole when its response breaks off after the last byte', async () => {
    await start();
    const { body } = await get();
    [breaksAfter, asked] = [[body.length], []];
    expect(await downloaded()).toEqual({ rows: 5_000, revision: 5_000 });
    expect(asked).toEqual([undefined]);
  });

  it('is not continued with another snapshot', async () => {
    await start();
    breaksAfter = [1_000];
    const download = downloaded();
    await expect.poll(() => asked.length, WAIT).toBe(1);
    // The one that is being read is gone: its place is taken by a new one.
    source.restore(100);
    await expect(download).rejects.toThrow('the snapshot was replaced while it was downloaded');
    expect(await downloaded()).toEqual({ rows: 100, revision: 100 });
  });

  it('is given up by a follower that stops', async () => {
    await start();
    const release = source.holdSnapshots();
    const download = downloaded();
    await expect.poll(() => source.snapshotsRead, WAIT).toBe(1);
    client.close();
    await expect(download).rejects.toThrow();
    release();
  });

  it('is refused with 503 and Retry-After while it is made for longer, and beyond the places', async () => {
    await start(1);
    const release = source.holdSnapshots();
    const first = get();
    await expect.poll(() => downloads.snapshots.active, WAIT).toBe(1);
    const second = await get();
    expect([second.status, Number(second.headers.get('retry-after')) >= 1]).toEqual([503, true]);
    // Images have places of their own.
    const { port } = server.address() as AddressInfo;
    const image = await fetch(`http://127.0.0.1:${port}/catalogue/${'0'.repeat(64)}`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    expect(image.status).toBe(404);
    expect((await first).status).toBe(503);
    release();
    await expect.poll(() => downloads.snapshots.active, WAIT).toBe(0);
    expect((await get()).status).toBe(200);
    expect(source.snapshotsRead).toBe(1);
  });

  it('tells a follower when to ask again', async () => {
    await start(0);
    const refusal = await downloaded().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ isRefusal: false, retryAfterMs: expect.any(Number) });
    expect((refusal as FeedError).retryAfterMs).toBeGreaterThanOrEqual(1_000);
  });

  it('is answered with 503 while the source is out of reach', async () => {
    await start();
    source.snapshot = () => {
      throw new Outage('in this test');
    };
    expect((await get()).status).toBe(503);
  });

  it('is read from the source for each request while the disk fails', async () => {
    writeFileSync(join(folder, 'file'), '');
    await start(64, join(folder, 'file'));
    const { body, headers } = await get();
    expect([headers.get('content-type'), headers.get('etag')]).toEqual(['application/zstd', null]);
    expect(zstdDecompressSync(body).toString()).toContain('"counts":{"domainRule":5000}');
    expect(await downloaded()).toEqual({ rows: 5_000, revision: 5_000 });
  });

  it('is read from the source while the disk is full', async ({ skip }) => {
    skip(!mount(folder), 'the right to mount a tmpfs');
    ended.push(() => unmount(folder));
    await start();
    expect(await downloaded()).toEqual({ rows: 5_000, revision: 5_000 });
    expect([snapshots.made, snapshots.failed, readdirSync(folder)]).toEqual([0, 1, []]);
  });

  it('breaks off when the disk gives something else back, and is made anew', async () => {
    await start();
    const snapshot = await snapshots.get(0);
    snapshot['checksums'][0]++;
    snapshot.release();
    expect(await downloaded().catch(() => downloaded())).toEqual({ rows: 5_000, revision: 5_000 });
    expect(source.snapshotsRead).toBe(2);
  });
});
