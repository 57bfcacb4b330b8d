import { Redis } from 'ioredis';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectRedis, subscribe } from './redis.js';
import { type PrivateRedis, startPrivateRedis } from '../testing/private-redis.js';

const WAIT = { timeout: 60_000, interval: 20 };

describe('a subscription that Redis is slow to answer after a reconnection', () => {
  let redis: PrivateRedis;
  let proxy: Server;
  const sockets = new Set<Socket>();
  let isHolding = false;
  const held: (() => void)[] = [];
  const unhandled: unknown[] = [];
  const noteUnhandled = (error: unknown) => unhandled.push(error);

  beforeEach(async () => {
    process.on('unhandledRejection', noteUnhandled);
    redis = await startPrivateRedis();
    proxy = createServer((near) => {
      const far = connect(redis.port, '127.0.0.1');
      for (const socket of [near, far]) sockets.add(socket.on('error', () => socket.destroy()));
      near.on('data', (bytes: Buffer) => {
        const pass = () => void far.write(bytes);
        if (held.length > 0 || (isHolding && bytes.includes('subscribe'))) held.push(pass);
        else pass();
      });
      far.pipe(near);
      near.once('close', () => far.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    process.off('unhandledRejection', noteUnhandled);
    for (const socket of sockets) socket.destroy();
    proxy.close();
    await redis.stop();
  });

  it('does not end the process, and is renewed', async () => {
    const warnings: string[] = [];
    const log = {
      info: () => undefined,
      warn: (_fields: object, message: string) => warnings.push(message),
      error: () => undefined,
    };
    const port = (proxy.address() as AddressInfo).port;
    const client = connectRedis(`redis://127.0.0.1:${port}`, 'spec', log);
    const subscribed: boolean[] = [];
    client.on('ready', () => {
      void subscribe(client, ['news'], log).then((done) => subscribed.push(done));
    });
    const received: string[] = [];
    client.on('message', (_channel: string, text: string) => received.push(text));
    await client.connect();
    await vi.waitFor(() => expect(subscribed).toEqual([true]), WAIT);

    isHolding = true;
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(() => expect(warnings).toContain('cannot subscribe; trying again'), WAIT);
    isHolding = false;
    for (const pass of held.splice(0)) pass();
    await vi.waitFor(() => expect(subscribed).toEqual([true, true]), WAIT);
    const publisher = new Redis(redis.url);
    await publisher.publish('news', 'text');
    await vi.waitFor(() => expect(received).toEqual(['text']), WAIT);
    expect(unhandled).toEqual([]);
    publisher.disconnect();
    client.disconnect();
  });
});
