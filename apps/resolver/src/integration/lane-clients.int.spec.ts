import { proxyHeader, type TestProxyHeader } from '@weir/clients/testing';
import { concat, decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { domainRule, loopback, policyOf, profile, put } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { askUdp, udpClient } from '../testing/client.js';
import { BLOCKED, PERMITTED, serveByLanes } from '../testing/lane-service.js';
import { droppedFor } from '../testing/listeners.js';

const REFUSED = 5;
/** An address of several subscribers: 198.51.100.1. */
const SHARED = 0xc633_6401;
const SHARED_HEX = 'c6336401';

/** Asks an address of this machine. @returns the end of the answer, and the address that it came from */
async function askFrom(address: string, port: number, name: string) {
  const socket = await udpClient(address.includes(':') ? '::1' : '127.0.0.1');
  return new Promise<{ end: string; from: string }>((resolve) => {
    socket.on('message', (answer, { address: from }) => {
      resolve({ end: hexOf(answer.subarray(-4)), from });
    });
    socket.send(encodeQuery(name, 1), port, address);
  });
}

describe('a lane', () => {
  it.each(['127.0.0.1', '::1'])(
    'behind a load balancer takes the client from the PROXY header (%s)',
    async (host) => {
      const { server, source, service, lanes } = await serveByLanes({
        DNS_HOST: [host],
        DNS_PROXY_PROTOCOL_FROM: parseCidrs(['127.0.0.1', '::1']),
      });
      source.policy = policyOf(
        profile(1),
        loopback(1),
        domainRule(1, 'deny', 'blocked.example'),
        profile(2),
        put('naptAssignment', { address: SHARED, lowerPort: 1024, upperPort: 2047, profileId: 1 }),
        put('naptAssignment', { address: SHARED, lowerPort: 2048, upperPort: 4095, profileId: 2 }),
      );
      const ask = async (name: string, header: TestProxyHeader) => {
        const answer = await askUdp(server, concat(proxyHeader(header), encodeQuery(name, 1)));
        const { rcode } = decodeMessage(answer!);
        return rcode === 0 ? hexOf(answer!.subarray(-4)) : rcode;
      };
      const name = 'www.blocked.example';
      expect(await ask(name, { source: SHARED_HEX, port: 1024 })).toBe(BLOCKED);
      expect(await ask(name, { source: SHARED_HEX, port: 4096 })).toBe(REFUSED);
      expect(await ask(name, { source: '20010db8000000000000000000000007', port: 1 })).toBe(
        REFUSED,
      );
      expect(lanes[0].laneCounts.answers).toBe(3);
      // From an upstream, and back to the load balancer.
      expect(await ask(name, { source: SHARED_HEX, port: 2048 })).toBe(PERMITTED);
      if (host === '127.0.0.1') expect(await ask(name, { command: 0x20 })).toBe(BLOCKED);
      const socket = await udpClient(host);
      const send = (packet: Uint8Array) => {
        socket.send(packet, server.port, server.address);
      };
      send(encodeQuery(name, 1));
      send(proxyHeader({ source: SHARED_HEX, port: 1024 }).subarray(0, 20));
      await expect.poll(() => droppedFor(service.counts.queries, 'unproxied')).toBe(2);
      send(proxyHeader({ source: SHARED_HEX, port: 1024 }));
      await expect.poll(() => droppedFor(service.counts.queries, 'malformed')).toBe(1);
    },
  );

  it('ignores a PROXY header of anyone but a load balancer', async () => {
    const { server } = await serveByLanes({
      DNS_PROXY_PROTOCOL_FROM: parseCidrs(['192.0.2.0/24']),
    });
    const header = proxyHeader({ source: SHARED_HEX });
    const answer = await askUdp(server, concat(header, encodeQuery('www.blocked.example', 1)));
    // Its first bytes, read as a DNS header, have an obsolete opcode.
    expect(decodeMessage(answer!)).toMatchObject({ id: 0x0d0a, rcode: 4 });
  });

  it('knows an IPv4 client of a socket for both families', async () => {
    const { server } = await serveByLanes({ DNS_HOST: ['::'] });
    const answer = await askUdp(
      { address: '127.0.0.1', port: server.port },
      encodeQuery('www.blocked.example', 1),
    );
    expect(hexOf(answer!.subarray(-4))).toBe(BLOCKED);
  });

  it('on a wildcard answers from the address that was asked, also when it asks an upstream', async () => {
    const { server, source } = await serveByLanes({ DNS_HOST: ['0.0.0.0', '::'] });
    source.policy = policyOf(
      profile(1),
      loopback(1),
      put('ipv6Network', { address: [0, 0, 0, 1], prefixLength: 128, profileId: 1 }),
      domainRule(1, 'deny', 'blocked.example'),
    );
    for (const address of ['127.0.0.1', '127.0.0.2', '127.1.2.3', '::1']) {
      const ask = (name: string) => askFrom(address, server.port, name);
      expect(await ask('www.blocked.example')).toEqual({ end: BLOCKED, from: address });
      expect(await ask(`${hexOf(Buffer.from(address))}.example`)).toEqual({
        end: PERMITTED,
        from: address,
      });
    }
  });
});
