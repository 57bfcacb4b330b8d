import { encodeMessage, hexOf } from '@weir/dns-wire/testing';
import { createLogger } from '@weir/ops';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DnsService } from '../dns-service.js';
import { a } from '../query/testing/records.js';
import type { Server } from '../testing/client.js';
import { CONFIGURATION } from '../testing/configuration.js';
import { queryPackets, SENTINEL, SENTINEL_ID } from '../testing/fuzz/packets.js';
import { SharedSource } from '../testing/shared-source.js';
import { frame, UpstreamServer } from '../testing/upstream-server.js';
import { WAYS } from '../testing/ways.js';

const PACKETS = 4_000;
/** Few enough for a receive buffer. */
const BURST = 64;
const SENTINEL_MS = 2_000;
const TC = 0x02;

/** The answers to the queries of the corpus, by their ids. */
type Answers = Map<number, string>;

/** The server cookie of an answer (RFC 9018) has the time in it. */
function withoutTime(answer: Uint8Array): string {
  return hexOf(answer).replace(/(000a0018.{16}01000000).{24}/, '$1');
}

async function start(RESOLVER_THREADS: number, upstream: UpstreamServer) {
  const source = new SharedSource(
    policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example')),
  );
  const service = new DnsService({
    configuration: { ...CONFIGURATION, RESOLVER_THREADS },
    upstreams: [upstream.endpoint],
    source: await source.readWith(RESOLVER_THREADS),
    readers: source.readers,
    log: createLogger({ name: 'resolver', level: 'silent' }),
  });
  return { service, server: await service.start() };
}

/** One client of a service over UDP. */
async function udpClient(service: DnsService, { address, port }: Server) {
  const client = createSocket('udp4');
  await new Promise<void>((resolve) => client.bind(0, '127.0.0.1', resolve));
  const answers: Answers = new Map();
  let onSentinel = (): void => undefined;
  client.on('message', (answer) => {
    const id = answer.readUInt16BE(0);
    if (id === SENTINEL_ID) onSentinel();
    else answers.set(id, withoutTime(answer));
  });

  /** The answer of the sentinel comes after those of all queries before it that need no other thread or server. */
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
  const isIdle = () =>
    service.forwarder.inFlight === 0 &&
    (service.lanes?.all ?? []).every(({ handedOver }) => handedOver.isEmpty);

  return {
    answers,
    async ask(packets: readonly Uint8Array[]) {
      for (const packet of packets) client.send(packet, port, address);
      await untilRead();
      await expect.poll(isIdle, { interval: 1 }).toBe(true);
      await untilRead();
    },
    close: () => client.close(),
  };
}

/** Asks over one TCP connection. */
function askOverTcp({ address, port }: Server, packets: readonly Uint8Array[]): Promise<Answers> {
  const answers: Answers = new Map();
  return new Promise((resolve, reject) => {
    const socket = connect(port, address);
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const end = rest.length < 2 ? Infinity : 2 + rest.readUInt16BE(0);
        if (rest.length < end) break;
        const answer = rest.subarray(2, end);
        answers.set(answer.readUInt16BE(0), withoutTime(answer));
        rest = rest.subarray(end);
      }
      if (answers.size === packets.length) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(answers);
    });
    for (const packet of packets) socket.write(frame(packet));
  });
}

/** Valid and damaged queries, numbered by their id. */
function corpus(): Uint8Array[] {
  return queryPackets(1, PACKETS)
    .filter((packet) => packet.length >= 2)
    .map((packet, id) => Uint8Array.of(id >>> 8, id & 0xff, ...packet.subarray(2)));
}

function inOrder(answers: Answers): [number, string][] {
  return [...answers].sort(([one], [other]) => one - other);
}

describe('all ways to answer', () => {
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
    const packets = corpus();
    const ways = await Promise.all(WAYS.map(([, threads]) => start(threads && 2, upstream)));
    const clients = await Promise.all(ways.map((way) => udpClient(way.service, way.server)));
    try {
      for (let at = 0; at < packets.length; at += BURST) {
        await Promise.all(clients.map((client) => client.ask(packets.slice(at, at + BURST))));
      }
      const [first, ...others] = clients.map(({ answers }) => answers);
      expect(first.size).toBeGreaterThan(PACKETS / 4);
      for (const other of others) expect(inOrder(other)).toEqual(inOrder(first));
      if (others.length > 0) expect(ways[0].service.lanes?.all[0].isRunning).toBe(true);
      // Over TCP, answers are not truncated, and a query without an answer ends the connection.
      const whole = new Map(
        inOrder(first).filter(([, hex]) => (parseInt(hex.slice(4, 6), 16) & TC) === 0),
      );
      const asked = packets.filter((_, id) => whole.has(id));
      expect(inOrder(await askOverTcp(ways[0].server, asked))).toEqual(inOrder(whole));
    } finally {
      for (const client of clients) client.close();
      for (const way of ways) await way.service.stop();
    }
  });
});
