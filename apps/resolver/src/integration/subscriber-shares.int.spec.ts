import type { PutOperation } from '@weir/config-model';
import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import type { Socket } from 'node:dgram';
import { describe, expect, it, onTestFinished } from 'vitest';
import { a } from '../query/testing/records.js';
import { policyOf, profile, put } from '@weir/policy-feed/testing';
import { udpClient } from '../testing/client.js';
import { clockedService } from '../testing/clocked-service.js';
import { CONFIGURATION } from '../testing/configuration.js';
import { upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { createService } from '../testing/service.js';

const ATTACKER = '127.0.0.66';
const NEIGHBOUR = '127.0.0.7';
/** 127.0.66.0/24. */
const ATTACKER_NETWORK = put('ipv4Network', {
  address: 0x7f00_4200,
  prefixLength: 24,
  profileId: 1,
});

/** A resolver whose upstream answers every name except those below `dead.example`. */
async function serve(
  variables: Partial<typeof CONFIGURATION> = {},
  ...operations: readonly PutOperation[]
) {
  const server = await upstream((query) => {
    const isDead = query.message.questions[0].qname.toLowerCase().includes('dead');
    return isDead ? null : respond(query, { answers: [a('192.0.2.1')] });
  });
  const service = createService(
    { DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']), ...variables },
    {
      upstreams: [server.endpoint],
      source: { policy: policyOf(...operations) },
      forwarding: { capacity: 2048 },
    },
  );
  const { address, port } = await service.start();
  onTestFinished(() => service.stop());
  return { service, server, send: sender(address, port) };
}

const sender = (address: string, port: number) => (socket: Socket, packet: Uint8Array) => {
  socket.send(packet, port, address);
};

describe('a subscriber that asks a dead zone thousands of times a second', () => {
  it('gets SERVFAIL with EDE beyond its share, and the misses of others are answered', async () => {
    const { service, send } = await serve();
    const [attacker, neighbour] = [await udpClient(ATTACKER), await udpClient(NEIGHBOUR)];
    let refused = 0;
    attacker.on('message', (packet) => {
      const { rcode, ede } = decodeMessage(packet);
      // EDE 22 is what a question within the share gets in the end.
      if (rcode === 2 && ede[0] === 0) refused++;
    });
    const rcodes: number[] = [];
    neighbour.on('message', (packet) => {
      rcodes.push(decodeMessage(packet).rcode);
    });
    let asked = 0;
    for (let turn = 0; turn < 100; turn++) {
      for (let i = 0; i < 40; i++) {
        const name = `n${asked++}.dead.example`;
        send(attacker, encodeQuery(name, 1, { id: asked & 0xffff, udpBytes: 1232 }));
      }
      send(neighbour, encodeQuery(`n${turn}.alive.example`, 1, { id: turn }));
      // All of this turn have been received: no receive buffer overflows.
      await expect.poll(() => rcodes.length, { interval: 1 }).toBe(turn + 1);
    }
    expect(rcodes).toEqual(Array.from({ length: 100 }, () => 0));
    expect(service.counts.forwarding.inFlight).toBeLessThanOrEqual(
      CONFIGURATION.CLIENT_UPSTREAM_QUERIES,
    );
    expect(service.counts.forwarding.overShare).toBeGreaterThan(1000);
    await expect.poll(() => refused).toBeGreaterThan(1000);
  });

  it.each([
    ['of one network', [ATTACKER_NETWORK], (n: number) => `127.0.66.${1 + (n % 64)}`],
    ['of many subscribers', [], (n: number) => `127.0.67.${1 + (n % 64)}`],
  ])('from 64 addresses %s leaves room for others', async (_, operations, addressOf) => {
    const { service, send } = await serve({ ZONE_UPSTREAM_QUERIES: 0 }, profile(1), ...operations);
    const attackers = await Promise.all(
      Array.from({ length: 64 }, (_unused, n) => udpClient(addressOf(n))),
    );
    const neighbour = await udpClient(NEIGHBOUR);
    const rcodes: number[] = [];
    neighbour.on('message', (packet) => {
      rcodes.push(decodeMessage(packet).rcode);
    });
    let asked = 0;
    for (let turn = 0; turn < 100; turn++) {
      for (let i = 0; i < 40; i++, asked++) {
        const query = encodeQuery(`www.n${asked}.dead${asked}.example`, 1, { id: asked & 0xffff });
        send(attackers[asked % 64], query);
      }
      for (let i = 0; i < 2; i++)
        send(neighbour, encodeQuery(`n${turn}-${i}.alive.example`, 1, { id: turn }));
      await expect.poll(() => rcodes.length, { interval: 1 }).toBe(2 * (turn + 1));
    }
    expect(rcodes.filter((rcode) => rcode !== 0)).toEqual([]);
    expect(service.counts.forwarding.overShare).toBeGreaterThan(1000);
    expect(service.counts.forwarding.overloads).toBe(0);
  });

  it('has a share of the waiting clients too, and gets it back', async () => {
    const { counts, send, got, settle } = await clockedService({
      answer: () => null,
      variables: { CLIENT_WAITING_QUERIES: 4 },
    });
    const ask = async (address: string) => {
      for (let i = 0; i < 10; i++) await send('www.dead.example', address);
    };
    await ask(ATTACKER);
    await expect.poll(() => got.length).toBe(5);
    expect(counts.forwarding.waiting).toBe(5);
    await ask(NEIGHBOUR);
    await expect.poll(() => counts.forwarding.waiting).toBe(9);
    await settle();
    expect(counts.forwarding.waiting).toBe(0);
    await expect.poll(() => got.length).toBe(20);
  });
});
