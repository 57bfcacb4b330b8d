import { SubscriberKey } from '@weir/clients';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { parseResponse, Response } from '@weir/dns-wire';
import { encodeMessage, encodeQuery, hexOf, opt, wireName } from '@weir/dns-wire/testing';
import {
  domainRule,
  HASH_KEY_HEX,
  loopback,
  policyOf,
  profile,
  put,
} from '@weir/policy-feed/testing';
import {
  BlockErrors,
  BlockPages,
  QueryDecider,
  TargetHasher,
  TargetInspector,
  LocalRecords,
  ServerInformation,
  SpecialNameTable,
  DISCOVERY_ZONES,
  LOCAL_ZONES,
} from '@weir/policy/answers';
import { recordsFile } from '../testing/records-file.js';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { newCache } from '../cache/testing/new-cache.js';
import { readRecords } from '../local-records/read-records.js';
import { RateLimits } from '../limits/rate-limits.js';
import { ServerCookies } from '../limits/server-cookies.js';
import { LatencyHistogram } from '../metrics/query-timer.js';
import { ProfileCounters, ProfileRows } from '../metrics/profile-counters.js';
import { QueryCounters } from '../metrics/query-counters.js';
import { QueryPath } from '../query-path/query-path.js';
import { RebindingProtection } from '../query-path/rebinding-protection.js';
import { Exchange, ForwardResult, type ReplyPath } from '../query/exchange.js';
import { a, cname } from '../query/testing/records.js';
import { CONFIGURATION } from '../testing/configuration.js';

const hashKey = parseHashKey(HASH_KEY_HEX);
const QUERIES = 20_000;
const ROUNDS = 7;

const NAMES = Array.from({ length: 64 }, (_, i) => `www.n${i}.example.com`);
const RECORDS = recordsFile(
  'local.example A 192.0.2.9',
  ...NAMES.map((name) => `${name}.rewritten CNAME ${name}`),
);

/** A query path whose upstream answers at once, and queries that it has the answers to. */
function createPath() {
  const NOW_MS = Date.UTC(2026, 2, 2, 10);
  const policy = policyOf(
    profile(1),
    loopback(1),
    domainRule(1, 'deny', 'blocked.example'),
    put('order', {
      ...{ id: 1, domainHash: hashDomain('ordered.example', hashKey), until: null },
      ...{ authority: 'District Court', reference: '3 O 1/26' },
    }),
  );
  const response = new Response();
  // Not a real clock: every eighth reading would put a number on the heap, which this test does not look for.
  let ticks = 0;
  const targetInspector = new TargetInspector({ source: { policy }, isEnabled: true });
  const cache = newCache(1 << 20, { targetHasher: new TargetHasher(hashKey) });
  const path: QueryPath = new QueryPath({
    targetInspector,
    decider: new QueryDecider({
      source: { policy },
      allowedClients: CONFIGURATION.DNS_ALLOWED_CLIENTS,
      nowMs: () => NOW_MS,
      discoveryNames: new SpecialNameTable(hashKey, DISCOVERY_ZONES),
      localNames: new SpecialNameTable(hashKey, LOCAL_ZONES),
      localRecords: { value: LocalRecords.of(readRecords(RECORDS), hashKey) },
      targetInspector,
      rewriteTtlSeconds: 10,
      serverInformation: new ServerInformation(),
      isReady: () => true,
    }),
    rebindingProtection: new RebindingProtection({
      isEnabled: true,
      allowedZones: [],
      hashKey,
    }),
    structuredErrorsOption: 65_001,
    source: { policy, enter: () => undefined, leave: () => undefined },
    hashKey,
    blockErrors: new BlockErrors({
      source: { policy },
      hasText: true,
      provider: { name: undefined, contacts: [] },
    }),
    pages: new BlockPages(['192.0.2.80'], new Map()),
    ordersPageId: -1,
    blockTtlSeconds: 10,
    designatedResolvers: [],
    serverInformation: new ServerInformation(),
    maxTtlSeconds: Infinity,
    queryLog: null,
    dnstap: null,
    cache,
    hasNxDomainCut: true,
    upstream: () => ({
      isStaleDue: () => false,
      refresh: () => false,
      forward: (exchange, question) => {
        const { bytes, query } = question;
        const questions = [{ qname: bytes.slice(12, query.questionEnd - 4), qtype: 1 }];
        const isPrivate = hexOf(questions[0].qname) === hexOf(wireName('private.example'));
        const answers = isPrivate
          ? [a('192.0.2.1'), a('192.168.1.1')]
          : [cname('edge.example.net', 300), a('192.0.2.1', 300, wireName('edge.example.net'))];
        const packet = encodeMessage({
          flags: 0x8180,
          questions,
          answers,
          additionals: [opt(512)],
        });
        if (!parseResponse(packet, packet.length, response)) throw new Error('malformed response');
        path.onCompleted(question, response, 0);
        path.onResponse(exchange, response);
        return ForwardResult.taken;
      },
    }),
    nowSeconds: () => 7,
    limits: new RateLimits({
      queriesPerSecond: 1_000_000_000,
      errorsPerSecond: 0,
      handshakesPerSecond: 0,
      bytesPerSecond: 1_000_000_000,
      subscriber: new SubscriberKey({ policy }, 5),
      nowSeconds: () => 7,
    }),
    cookies: new ServerCookies([hashKey], new SubscriberKey({ policy }, 5), () => NOW_MS),
    counters: new QueryCounters(),
    profileCounters: new ProfileCounters(new ProfileRows(1)),
    latencies: new LatencyHistogram(),
    nowMs: () => ++ticks,
    onDefect: (error) => {
      throw error;
    },
  });
  let answered = 0;
  const replyPath: ReplyPath = {
    transport: 0,
    maxAnswerBytes: (query) => query.udpBytes,
    keepaliveUnits: () => -1,
    reply: (_exchange, answer, length) => {
      if (answer[7] > 0 && length > 40) answered++;
    },
    drop: () => undefined,
  };
  const exchange = new Exchange();
  exchange.client.set('127.0.0.1', 4242);
  exchange.replyPath = replyPath;
  const packets = NAMES.map((name) => encodeQuery(name, 1, { udpBytes: 1232 }));
  const blocked = encodeQuery('www.blocked.example', 1, { udpBytes: 1232 });
  const ask = (packet: Uint8Array): void => {
    exchange.bytes = packet;
    exchange.length = packet.length;
    path.handle(exchange);
  };
  const local = encodeQuery('local.example', 1, { udpBytes: 1232 });
  const rewritten = NAMES.map((name) => encodeQuery(`${name}.rewritten`, 1, { udpBytes: 1232 }));
  const packetsOf = {
    cached: packets,
    blocked: [blocked],
    ordered: [encodeQuery('www.ordered.example', 1, { udpBytes: 1232 })],
    local: [local],
    private: [encodeQuery('private.example', 1, { udpBytes: 1232 })],
    rewritten,
  };
  return { ask, packets, packetsOf, answered: () => answered };
}

describe('QueryPath', () => {
  it.each(['cached', 'blocked', 'ordered', 'local', 'private', 'rewritten'] as const)(
    'allocates nothing for a %s answer',
    (kind) => {
      const { ask, packets, packetsOf, answered } = createPath();
      const asked = packetsOf[kind];
      for (const packet of packets) ask(packet);
      const askAll = (): void => {
        for (let i = 0; i < QUERIES; i++) ask(asked[i % asked.length]);
      };
      for (let i = 0; i < 4; i++) askAll();
      const grown: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const before = getHeapStatistics().used_heap_size;
        askAll();
        grown.push(getHeapStatistics().used_heap_size - before);
      }
      expect(answered()).toBe(QUERIES * (ROUNDS + 4) + NAMES.length);
      // The median, because garbage collection or compilation may disturb some rounds. One small object per query
      // would be 320,000.
      expect(grown.sort((x, y) => x - y)[ROUNDS >> 1]).toBeLessThan(2 * QUERIES);
    },
  );
});
