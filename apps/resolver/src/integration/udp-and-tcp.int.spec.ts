import { encodeMessage, hexOf } from '@weir/dns-wire/testing';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { expect, it } from 'vitest';
import type { DnsService } from '../dns-service.js';
import { a } from '../query/testing/records.js';
import { askTcp, type Server, udpClient } from '../testing/client.js';
import { upstream } from '../testing/forwarding.js';
import { queryPackets } from '../testing/fuzz/packets.js';
import { startService } from '../testing/service.js';
import { frame } from '../testing/upstream-server.js';

const PACKETS = 4_000;
/** Few enough for a receive buffer. */
const BURST = 64;
const LANES = 2;
const TC = 0x02;

/** The answers to the queries of the corpus, by their ids. */
type Answers = Map<number, string>;

const idOf = (packet: Uint8Array): number => packet[0] * 256 + packet[1];

/** The server cookie of an answer (RFC 9018) has the time in it. */
function withoutTime(answer: Uint8Array): string {
  return hexOf(answer).replace(/(000a0018.{16}01000000).{24}/, '$1');
}

/** Asks from one socket. Its answers come in any order: two lanes take its queries, and some wait for an upstream. */
async function askOverUdp(
  { counts }: DnsService,
  { address, port }: Server,
  packets: readonly Uint8Array[],
): Promise<Answers> {
  const client = await udpClient();
  const answers: Answers = new Map();
  client.on('message', (answer) => answers.set(idOf(answer), withoutTime(answer)));
  const dropped = (): number =>
    counts.queries.droppedCounts().reduce((sum, [, count]) => sum + count, 0);
  for (let at = 0; at < packets.length; at += BURST) {
    const burst = packets.slice(at, at + BURST);
    for (const packet of burst) client.send(packet, port, address);
    const handled = (): number => answers.size + dropped();
    await expect.poll(handled, { interval: 1 }).toBe(at + burst.length);
  }
  return answers;
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

it('the same queries have the same answers over UDP and TCP', async () => {
  // Not cached, so that no time passes in what is compared.
  const { endpoint } = await upstream(({ bytes, message }) => {
    const qname = bytes.slice(12, message.questionEnd - 4);
    const questions = [{ qname, qtype: message.questions[0].qtype }];
    const answers = [a('192.0.2.1', 0)];
    return encodeMessage({ id: message.id, flags: 0x8180, questions, answers });
  });
  const policy = policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
  const { service, ...server } = await startService(
    { RESOLVER_THREADS: LANES },
    { upstreams: [endpoint], source: { policy } },
  );
  const packets = corpus();
  const overUdp = await askOverUdp(service, server, packets);
  expect(overUdp.size).toBeGreaterThan(PACKETS / 4);
  // Over TCP, no answer is truncated.
  const whole = new Map(
    inOrder(overUdp).filter(([, hex]) => (parseInt(hex.slice(4, 6), 16) & TC) === 0),
  );
  const asked = packets.filter((packet) => whole.has(idOf(packet)));
  const overTcp = await askTcp(server, [Buffer.concat(asked.map(frame))], asked.length);
  expect(inOrder(new Map(overTcp.map((answer) => [idOf(answer), withoutTime(answer)])))).toEqual(
    inOrder(whole),
  );
  // A query without an answer ends its connection.
  for (const packet of packets.filter((one) => !overUdp.has(idOf(one)))) {
    expect(await askTcp(server, [frame(packet)], 1).catch(() => [])).toEqual([]);
  }
});
