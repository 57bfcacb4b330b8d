import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { FeedClient } from './feed-client.js';
import { FeedError } from './feed-requests.js';

const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

describe('FeedClient', () => {
  let server: Server | undefined;

  const serve = async (answer: RequestListener, idleTimeoutMs = 60_000) => {
    server = createServer(answer);
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new FeedClient(`http://127.0.0.1:${port}`, () => 'token', idleTimeoutMs);
  };

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  it('gives up on a feed API that never answers, or stops in the middle of a response', async () => {
    const mute = await serve(() => undefined, 50);
    await expect(mute.changesAfter(0)).rejects.toThrow('sent nothing for too long (changes)');
    server?.close();
    const beginning = zstdCompressSync('{"type":"head",').subarray(0, 8);
    const halting = await serve((_request, response) => response.write(beginning), 200);
    await expect(Array.fromAsync(halting.snapshot())).rejects.toThrow(
      'sent nothing for too long (snapshot)',
    );
  });

  it('does not count the time that its caller takes towards the idle timeout', async () => {
    const client = await serve((_request, response) => {
      response.write('a');
      setTimeout(() => response.end('bc'), 20);
    }, 5_000);
    const chunks = [];
    for await (const chunk of client.catalogueImage(SHA256_OF_ABC)) {
      if (chunks.push(chunk) === 1) await new Promise((resolve) => setTimeout(resolve, 5_500));
    }
    expect(Buffer.concat(chunks).toString()).toBe('abc');
  });

  it('aborts the requests under way when it is closed', async () => {
    const client = await serve(() => undefined);
    const asking = Array.fromAsync(client.catalogueImage(SHA256_OF_ABC));
    client.close();
    await expect(asking).rejects.toThrow(FeedError);
    await expect(client.changesAfter(0)).rejects.toThrow(FeedError);
  });

  it('asks for the rest of an image, and skips the known bytes when the server sends all of it', async () => {
    const asked: unknown[] = [];
    let isRanged = true;
    const client = await serve(({ headers }, response) => {
      asked.push([headers.range, headers['if-range']]);
      if (isRanged) response.writeHead(206, { 'Content-Range': 'bytes 2-4/5' });
      response.end(isRanged ? 'cde' : 'abcde');
    });
    const rest = async () => {
      const chunks = await Array.fromAsync(client.catalogueImage(SHA256_OF_ABC, 2));
      return Buffer.concat(chunks).toString();
    };
    expect(await rest()).toBe('cde');
    isRanged = false;
    expect(await rest()).toBe('cde');
    expect(asked).toEqual(Array(2).fill(['bytes=2-', `"${SHA256_OF_ABC}"`]));
  });

  it('rejects another range than it asked for', async () => {
    const client = await serve((_request, response) =>
      response.writeHead(206, { 'Content-Range': 'bytes 1-4/5' }).end('bcde'),
    );
    const asking = Array.fromAsync(client.catalogueImage(SHA256_OF_ABC, 2));
    await expect(asking).rejects.toThrow('answered 206 for the catalogue image');
  });

  it('rejects a response that breaks off', async () => {
    const client = await serve((_request, response) => {
      response.write('abc');
      setTimeout(() => response.destroy(), 20);
    });
    const asking = Array.fromAsync(client.catalogueImage(SHA256_OF_ABC));
    await expect(asking).rejects.toThrow(FeedError);
    await expect(asking).rejects.toMatchObject({ isRefusal: false });
  });

  it('returns null for a pruned log', async () => {
    let status = 410;
    const client = await serve((_request, response) => response.writeHead(status).end('{}'));
    expect(await client.changesAfter(0)).toBeNull();
    status = 503;
    await expect(client.changesAfter(0)).rejects.toThrow('answered 503 for the changes');
  });
});
