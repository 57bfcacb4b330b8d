import { encodeMessage, hexOf } from '@weir/dns-wire/testing';
import { createLogger } from '@weir/ops';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { createSocket } from 'node:dgram';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DnsService } from '../dns-service.js';
import { a } from '../query/testing/records.js';
import { CONFIGURATION } from '../testing/configuration.js';
import { queryPackets, SENTINEL, SENTINEL_ID } from '../testing/fuzz/packets.js';
import { UDP_WAYS } from '../testing/listeners.js';
import { UpstreamServer } from '../testing/upstream-server.js';

const PACKETS = 4_000;
/** Few enough for a receive buffer. */
const BURST = 64;
const SENTINEL_MS = 2_000;

/** A service and one client of it. */
async function start(DNS_UDP_BATCH: boolean, upstream: UpstreamServer) {
  const service = new DnsService({
    configuration: { ...CONFIGURATION, DNS_UDP_BATCH },
    upstreams: [upstream.endpoint],
    source: {
      policy: policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example')),
    },
    log: createLogger({ name: 'resolver', level: 'silent' }),
    // Server cookies have the time in them.
    nowMs: () => Date.UTC(2026, 10, 22),
  });
  const { address, port } = await service.start();
  const client = createSocket('udp4');
  await new Promise<void>((resolve) => client.bind(0, '127.0.0.1', resolve));
  const answers = new Map<number, string>();
  let onSentinel = (): void => undefined;
  client.on('message', (answer) => {
    const id = answer.readUInt16BE(0);
    if (id === SENTINEL_ID) onSentinel();
    else answers.set(id, hexOf(answer));
  });

  /** The answer of the sentinel comes after those of all queries before it that need no upstream. */
  const untilRead = () =>
    new Promise<void>((resolve) => {
      const ask = () => {
        client.send(SENTINEL, port, address);
      };
      const timer = setInterval(ask, SENTINEL_MS);
      onSentinel = () => {
        clearInterval(timer);
        resolve();
      };
      ask();
    });

  return {
    answers,
    async ask(packets: readonly Uint8Array[]) {
      for (const packet of packets) client.send(packet, port, address);
      await untilRead();
      await expect.poll(() => service.forwarder.inFlight, { interval: 1 }).toBe(0);
      await untilRead();
    },
    async stop() {
      client.close();
      await service.stop();
    },
  };
}

/** Valid and damaged queries, numbered by their id. */
function corpus(): Uint8Array[] {
  return queryPackets(1, PACKETS)
    .filter((packet) => packet.length >= 2)
    .map((packet, id) => Uint8Array.of(id >>> 8, id & 0xff, ...packet.subarray(2)));
}

describe.skipIf(UDP_WAYS.length < 2)('the two ways to receive UDP packets', () => {
  let upstream: UpstreamServer;
  beforeAll(async () => {
    // Not cached, so that no time passes in what is compared.
    upstream = await UpstreamServer.start(({ bytes, message }) => {
      const qname = bytes.slice(12, message.questionEnd - 4);
      const questions = [{ qname, qtype: message.questions[0].qtype }];
      return encodeMessage({
        id: message.id,
        flags: 0x8180,
        questions,
        answers: [a('192.0.2.1', 0)],
      });
    });
  });
  afterAll(() => upstream.stop());

  it('give the same bytes for the same queries', async () => {
    const ways = [await start(true, upstream), await start(false, upstream)];
    try {
      const packets = corpus();
      for (let at = 0; at < packets.length; at += BURST) {
        await Promise.all(ways.map((way) => way.ask(packets.slice(at, at + BURST))));
      }
      const [batched, single] = ways.map(({ answers }) => answers);
      expect(batched.size).toBeGreaterThan(PACKETS / 4);
      expect([...batched].sort(byId)).toEqual([...single].sort(byId));
    } finally {
      for (const way of ways) await way.stop();
    }
  });
});

function byId([one]: [number, string], [other]: [number, string]): number {
  return one - other;
}
