import { SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { encodeQuery } from '@weir/dns-wire/testing';
import { HASH_KEY_HEX, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { WriteSide } from '@weir/policy';
import { LocalRecords } from '@weir/policy/answers';
import { expect, it } from 'vitest';
import { AnswerCache } from '../cache/answer-cache.js';
import { createCacheMemory } from '../cache/cache-memory.js';
import { RateLimits } from '../limits/rate-limits.js';
import { ServerCookies } from '../limits/server-cookies.js';
import { createThreadCounts, countersInto } from '../metrics/thread-counts.js';
import { DropReason, Exchange, ForwardResult } from '../query/exchange.js';
import { responseTo } from '../query/testing/questions.js';
import { a } from '../query/testing/records.js';
import { CONFIGURATION } from '../testing/configuration.js';
import { createQueryPath } from './create-query-path.js';

const hashKey = parseHashKey(HASH_KEY_HEX);
const NOW = { wallMs: Date.UTC(2026, 2, 2, 10), seconds: 7 };

/** The path of a lane, and a function that says whether another answer can be written now. */
function createPath() {
  const policy = policyOf(profile(1), loopback(1));
  const source = {
    policy: policy as typeof policy | null,
    enter: () => undefined,
    leave: () => undefined,
  };
  const memory = createCacheMemory(1 << 20, 2);
  const writer = new WriteSide(memory.lock);
  const canWrite = (): boolean => {
    const isAlone = writer.tryEnter(0);
    if (isAlone) writer.leave();
    return isAlone;
  };
  const lane = new AnswerCache({ memory, thread: 1 });
  const duringLookups: (readonly [method: string, canWrite: boolean])[] = [];
  for (const method of ['find', 'read', 'readStale', 'findStale', 'beginRefresh'] as const) {
    const original = lane[method].bind(lane) as (...args: unknown[]) => unknown;
    const watched = (...args: unknown[]): unknown => {
      duringLookups.push([method, canWrite()]);
      return original(...args);
    };
    Object.assign(lane, { [method]: watched });
  }
  const duringRefreshes: boolean[] = [];
  const upstream = { isStaleDue: false, isFull: false, onForward: (): void => undefined };
  const defects: string[] = [];
  const subscriber = new SubscriberKey(source, 5);
  const counts = createThreadCounts(0, 0);
  const [nowSeconds, wallClockMs] = [() => NOW.seconds, () => NOW.wallMs];
  const { CLIENT_QUERY_RATE: queriesPerSecond, CLIENT_ERROR_RATE: errorsPerSecond } = CONFIGURATION;
  const rates = { queriesPerSecond, errorsPerSecond, handshakesPerSecond: 0, bytesPerSecond: 0 };
  const path = createQueryPath(CONFIGURATION, {
    ...{ source, hashKey, wallClockMs, nowSeconds, nowMs: () => 0 },
    ...countersInto(counts, null),
    allowedClients: { has: () => true },
    localRecords: { value: LocalRecords.none },
    isReady: () => true,
    cache: lane,
    limits: new RateLimits({ ...rates, subscriber, nowSeconds, counts: counts.limits }),
    cookies: new ServerCookies([hashKey], subscriber, wallClockMs),
    queryLog: null,
    dnstap: null,
    upstream: () => ({
      isStaleDue: () => upstream.isStaleDue,
      refresh: () => {
        duringRefreshes.push(canWrite());
        return false;
      },
      forward: (exchange, question) => {
        if (upstream.isFull) return ForwardResult.refused;
        upstream.onForward();
        const response = responseTo(question, { answers: [a('192.0.2.1')] });
        path.onCompleted(question, response, 0);
        path.onResponse(exchange, response);
        return ForwardResult.taken;
      },
    }),
    onDefect: (error) => defects.push(String(error)),
  });
  return { path, source, upstream, canWrite, defects, duringLookups, duringRefreshes };
}

/** A query, whose replies and drops go to these. */
function exchangeOf(name: string, reply: () => void, drop: (why: DropReason) => void): Exchange {
  const exchange = new Exchange();
  exchange.client.set('127.0.0.1', 4242);
  exchange.bytes = encodeQuery(name, 1);
  exchange.length = exchange.bytes.length;
  exchange.replyPath = {
    transport: 0,
    maxAnswerBytes: (query) => query.udpBytes,
    keepaliveUnits: () => -1,
    reply,
    drop,
  };
  return exchange;
}

it('drops a query whose handling throws, at first or when its answer has come, and goes on', () => {
  const { path, source, upstream, defects } = createPath();
  const { policy } = source;
  const ends: (string | DropReason)[] = [];
  const exchange = exchangeOf(
    'www.example.com',
    () => ends.push('answered'),
    (why) => ends.push(why),
  );
  const breakPolicy = (): void => {
    Object.defineProperty(source, 'policy', {
      configurable: true,
      get: () => {
        throw new Error('defect');
      },
    });
  };
  const mendPolicy = (): void => {
    Object.defineProperty(source, 'policy', { configurable: true, value: policy });
  };
  breakPolicy();
  path.handle(exchange);
  mendPolicy();
  upstream.onForward = breakPolicy;
  path.handle(exchange);
  upstream.onForward = () => undefined;
  mendPolicy();
  path.handle(exchange);
  expect(ends).toEqual([DropReason.defect, DropReason.defect, 'answered']);
  expect(defects).toEqual(['Error: defect', 'Error: defect']);
});

it('keeps the cache from being written during a lookup only, not while it refreshes or until the batch ends', () => {
  const { path, upstream, canWrite, defects, duringLookups, duringRefreshes } = createPath();
  const duringAnswers: boolean[] = [];
  const exchange = exchangeOf(
    'www.example.com',
    () => duringAnswers.push(canWrite()),
    () => undefined,
  );
  const seen = () =>
    duringLookups.splice(0).map(([method, isWritable]) => `${method} ${isWritable}`);
  // From upstream, then from the cache.
  NOW.seconds = 7;
  path.handle(exchange);
  expect(seen()).toEqual(['find false']);
  path.handle(exchange);
  path.handle(exchange);
  expect(seen()).toEqual(['find false', 'read false', 'find false', 'read false']);
  NOW.seconds = 7 + 299;
  path.handle(exchange);
  expect(seen()).toEqual(['find false', 'beginRefresh false', 'read false']);
  NOW.seconds = 7 + 301;
  upstream.isFull = true;
  path.handle(exchange);
  expect(seen()).toEqual(['find false', 'findStale false', 'readStale false']);
  upstream.isStaleDue = true;
  path.handle(exchange);
  expect(seen()).toEqual(['find false', 'beginRefresh false', 'readStale false']);
  expect(duringAnswers).toEqual([true, true, true, true, true, true]);
  expect(duringRefreshes).toEqual([true, true]);
  expect(defects).toEqual([]);
});
