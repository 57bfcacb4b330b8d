import { randomInt } from 'node:crypto';
import { get, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { FeedClient } from '../client/feed-client.js';
import { createFeedServer, type FeedSource } from './feed-server.js';
import type { SnapshotPart } from '../protocol/protocol.js';
import { MemoryLog, Outage } from '../testing/memory-log.js';
import { accepts } from '../testing/deployment.js';

const TOKEN = 'token-of-the-feed-server-spec';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('GET /changes', () => {
  let stop: () => Promise<void>;
  afterEach(() => stop());

  const clientOf = async (source: FeedSource): Promise<FeedClient> => {
    const server = createFeedServer({
      source,
      isAuthorised: accepts(TOKEN),
      log: silent,
      isOutage: (error) => error instanceof Outage,
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    stop = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return new FeedClient(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      () => TOKEN,
    );
  };

  it('answers 410 when the log was pruned behind the revision', async () => {
    const log = new MemoryLog();
    log.commit(1, 1);
    log.prune();
    const client = await clientOf(log);
    expect(await client.changesAfter(0)).toBeNull();
  });

  it('answers an outage in another way than an error', async () => {
    const log = new MemoryLog();
    const client = await clientOf(log);
    log.isUnavailable = true;
    await expect(client.changesAfter(0)).rejects.toMatchObject({ isRefusal: false });
    log.refusesChanges = true;
    await expect(client.changesAfter(0)).rejects.toMatchObject({ isRefusal: true });
  });
});

describe('a request whose target is no URL', () => {
  it.each(['//', '/\\', '//[', 'http://[/'])('is answered 404: %s', async (path) => {
    const errors: unknown[] = [];
    const server = createFeedServer({
      source: new MemoryLog(),
      isAuthorised: accepts(TOKEN),
      log: { ...silent, error: (fields) => void errors.push(fields) },
      isOutage: () => false,
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const status = await new Promise((resolve, reject) => {
      get({ port, path, headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).once('error', reject);
    });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect([status, errors]).toEqual([404, []]);
  });
});

describe('the log of a feed server', () => {
  it('tells of an outage once, however many followers ask meanwhile, and of the next one', async () => {
    const source = new MemoryLog();
    const reasons: unknown[] = [];
    const server = createFeedServer({
      source,
      isAuthorised: accepts(TOKEN),
      log: { ...silent, error: (fields) => void reasons.push(fields) },
      isOutage: (error) => error instanceof Outage,
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = new FeedClient(`http://127.0.0.1:${port}`, () => TOKEN);
    for (const isUnavailable of [true, true, true, false, true, true]) {
      source.isUnavailable = isUnavailable;
      await client.changesAfter(0).catch(() => undefined);
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(reasons).toHaveLength(2);
  });
});

describe('GET /snapshot', () => {
  it('is aborted when the follower stops reading, so that no transaction stays open', async () => {
    let isClosed = false;
    const source = Object.assign(new MemoryLog(), {
      async *snapshot(): AsyncGenerator<SnapshotPart> {
        try {
          yield await Promise.resolve({
            type: 'head',
            lineage: '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01',
            revision: 1,
            digest: '0123456789abcdef',
          });
          for (;;) {
            // Nothing that could be compressed.
            const rows = Array.from({ length: 1_000 }, () => [
              randomInt(2 ** 31),
              randomInt(2 ** 31),
            ]);
            yield { type: 'rows', kind: 'blockPage', rows };
          }
        } finally {
          isClosed = true;
        }
      },
    });
    const isOutage = () => false;
    const server = createFeedServer({
      source,
      isAuthorised: accepts(TOKEN),
      log: silent,
      isOutage,
      stallMs: 300,
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    const head = `Host: feed\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    socket.write(`GET /snapshot?atLeast=0 HTTP/1.1\r\n${head}\r\n`);
    await vi.waitFor(() => expect(isClosed).toBe(true), 60_000);
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('GET /catalogue/<sha256>', () => {
  const SHA256 = 'a'.repeat(64);
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const image = Buffer.from('0123456789');
    const stored = {
      sizeBytes: image.length,
      read: (start: number, end: number) => Readable.from([image.subarray(start, end)]),
    };
    const source = Object.assign(new MemoryLog(), {
      catalogueImage: (sha256: string) => Promise.resolve(sha256 === SHA256 ? stored : null),
    });
    server = createFeedServer({
      source,
      isAuthorised: accepts(TOKEN),
      log: silent,
      isOutage: (error) => error instanceof Outage,
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalogue/${SHA256}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = async (headers: Record<string, string> = {}) => {
    const authorization = { Authorization: `Bearer ${TOKEN}` };
    const response = await fetch(url, { headers: { ...headers, ...authorization } });
    const { status } = response;
    const range = response.headers.get('content-range');
    return {
      status,
      range,
      length: response.headers.get('content-length'),
      etag: response.headers.get('etag'),
      body: await response.text(),
    };
  };
  const etag = `"${SHA256}"`;
  const whole = { status: 200, range: null, length: '10', etag, body: '0123456789' };
  const part = { status: 206, range: 'bytes 4-9/10', length: '6', etag, body: '456789' };

  it('sends the whole image with its hash as entity tag', async () => {
    expect(await ask()).toEqual(whole);
  });

  it('sends what begins at an offset', async () => {
    expect(await ask({ Range: 'bytes=4-' })).toEqual(part);
    expect(await ask({ Range: 'bytes=4-', 'If-Range': etag })).toEqual(part);
  });

  it('sends the whole image when If-Range names another one, or another range is asked for', async () => {
    expect(await ask({ Range: 'bytes=4-', 'If-Range': '"other"' })).toEqual(whole);
    for (const Range of ['bytes=0-1,4-6', 'bytes=4-6', 'bytes=-3', 'lines=4-', 'bytes=x-'])
      expect(await ask({ Range })).toEqual(whole);
  });

  it('answers 416 with the size when the range begins after the end', async () => {
    expect(await ask({ Range: 'bytes=10-' })).toMatchObject({ status: 416, range: 'bytes */10' });
  });
});
