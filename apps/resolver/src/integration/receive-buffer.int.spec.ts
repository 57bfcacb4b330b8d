import { policyOf } from '@weir/policy-feed/testing';
import { createSocket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { holdLanes } from '../testing/lane-service.js';
import { createService } from '../testing/service.js';
import { SharedSource } from '../testing/shared-source.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve() {
  const logged: object[] = [];
  const write = (details: object, msg: string): void => {
    logged.push({ ...details, msg });
  };
  const source = new SharedSource(policyOf());
  const service = createService(
    { DNS_HOST: ['127.0.0.1', '::1'] },
    {
      source,
      log: { info: write, warn: write, error: write } as never,
    },
  );
  const { port } = await service.start();
  cleanups.push(() => service.stop());
  return { service, source, port, logged };
}

describe('the receive buffer of UDP', () => {
  it('is logged at the start, with the size that the kernel granted', async () => {
    const { logged } = await serve();
    const [line] = logged.filter((one) => 'receiveBuffers' in one);
    expect(line).toMatchObject({
      wantedBytes: 4_194_304,
      receiveBuffers: { '127.0.0.1': expect.any(Number), '::1': expect.any(Number) },
    });
  });

  it('is full: the kernel drops are counted', async () => {
    const { service, source, port } = await serve();
    expect(service.sockets.kernelDrops()).toBe(0);
    const socket = createSocket('udp4');
    cleanups.push(() => socket.close());
    await new Promise<void>((resolve) => {
      socket.connect(port, '127.0.0.1', resolve);
    });
    cleanups.push(holdLanes(source));
    for (let i = 0; i < 20_000; i++) socket.send(Buffer.alloc(1200));
    await expect.poll(() => service.sockets.kernelDrops()).toBeGreaterThan(0);
  });
});
