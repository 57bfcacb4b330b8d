import { BATCH } from '@weir/udp-batch';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { a } from '../query/testing/records.js';
import { forwarder, upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { skippedClock } from '../testing/test-clock.js';
import type { UpstreamServer } from '../testing/upstream-server.js';

const portsOf = (server: UpstreamServer): Set<number | undefined> =>
  new Set(server.asked.map(({ from }) => from?.port));

describe('the ports from which an upstream is asked', () => {
  it('are as many as configured, chosen at random for each query', async () => {
    const server = await upstream((query) => respond(query));
    const { ask } = forwarder([server.endpoint], { portsPerUpstream: 16, nowMs: () => 0 });
    for (let i = 0; i < 300; i++) await ask();
    expect(portsOf(server).size).toBe(16);
    const sequence = server.asked.map(({ from }) => from!.port);
    const repeats = sequence.filter((port, i) => i > 0 && port === sequence[i - 1]).length;
    expect(repeats).toBeLessThan(100);
  });

  it('are one for all questions of a turn, which leave in one batch, and another for the next', async () => {
    const server = await upstream((query) => respond(query));
    const { ask } = forwarder([server.endpoint], { portsPerUpstream: 64 });
    const used = new Set<number>();
    for (let turn = 0; turn < 20; turn++) {
      server.asked.length = 0;
      await Promise.all(Array.from({ length: 30 }, (_, i) => ask(`n${i}.example.com`)));
      const [port, ...others] = portsOf(server);
      expect(others).toEqual([]);
      used.add(port!);
    }
    expect(used.size).toBeGreaterThan(5);
  });

  it('of a turn are several when it has many questions', async () => {
    const server = await upstream((query) => respond(query));
    const { ask } = forwarder([server.endpoint], { portsPerUpstream: 1024 });
    await Promise.all(Array.from({ length: 2 * BATCH + 1 }, (_, i) => ask(`n${i}.example.com`)));
    expect(portsOf(server).size).toBeGreaterThan(1);
  });

  it('belong to one socket only', async () => {
    const server = await upstream((query) => respond(query));
    const { ask } = forwarder([server.endpoint], { portsPerUpstream: 1 });
    await ask();
    const { port } = server.asked[0].from!;
    const other = createSocket({ type: 'udp4', reuseAddr: true });
    onTestFinished(() => {
      other.close();
    });
    const listening = once(other, 'listening');
    other.bind(port);
    await expect(listening).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('are replaced after a time, even if they are hardly used', async () => {
    const server = await upstream((query) => respond(query));
    const { nowMs, skip } = skippedClock();
    const { ask } = forwarder([server.endpoint], {
      nowMs,
      portsPerUpstream: 4,
    });
    const before = new Set<number>();
    for (let i = 0; i < 100; i++) {
      await ask();
      before.add(server.asked.at(-1)!.from!.port);
    }
    expect(before.size).toBe(4);
    skip(60_000);
    await expect
      .poll(async () => {
        server.asked.length = 0;
        for (let i = 0; i < 100; i++) await ask();
        return [...portsOf(server)].some((port) => before.has(port!));
      })
      .toBe(false);
  });

  it('are replaced without losing the answer to an open query', async () => {
    const server = await upstream(() => null);
    const { nowMs, skip } = skippedClock();
    const { ask } = forwarder([server.endpoint], {
      nowMs,
      attemptTimeoutMs: 3_600_000,
      queryTimeoutMs: 3_600_000,
      portsPerUpstream: 1,
    });
    const outcome = ask();
    await expect.poll(() => server.asked.length).toBe(1);
    skip(60_000);
    server.answer = (query) => respond(query);
    const old = server.asked[0].from!.port;
    await expect
      .poll(async () => {
        await ask('other.example.com');
        return server.asked.at(-1)!.from!.port;
      })
      .not.toBe(old);
    const answer = respond(server.asked[0], { answers: [a('192.0.2.7')] });
    server.sendTo(answer, server.asked[0].from!);
    expect(await outcome).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 7]) }] });
  });
});
