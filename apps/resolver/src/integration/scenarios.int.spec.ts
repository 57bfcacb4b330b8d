import { decodeMessage, type DecodedMessage, encodeQuery } from '@weir/dns-wire/testing';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { soa } from '../query/testing/questions.js';
import { a, cname } from '../query/testing/records.js';
import { askUdp } from '../testing/client.js';
import { respond } from '../testing/respond.js';
import { type AskedQuery, UpstreamServer } from '../testing/upstream-server.js';
import { TestClock } from '../testing/test-clock.js';
import { createService, isIdle } from '../testing/service.js';

/*
 * What clients see over time. A scenario is a list of steps: the time (seconds of a clock that the test moves), what
 * the two upstreams do, a query, and the expected answer. The sockets are real; the time is not.
 */

/**
 * What an upstream does with a query: an address with a TTL, NXDOMAIN or NODATA with an SOA minimum, an RCODE, or
 * nothing.
 */
type Does =
  | { address: number; ttl: number; via?: string }
  | { nxdomain: number }
  | { nodata: number }
  | { rcode: number }
  | 'silent';

interface Step {
  /** Configuration of the service; in the first step only. */
  readonly configuration?: Partial<DnsConfiguration>;
  readonly at: number;
  readonly first?: Does;
  readonly second?: Does;
  /** Probes get no answer. Without it a probe may find an upstream up before the query is there. */
  readonly losesProbes?: true;
  readonly ask: string;
  readonly qtype?: number;
  readonly flags?: number;
  readonly edns?: boolean;
  /** The answer: last byte of the address and TTL, or RCODE; EDE codes. */
  readonly gets: { address?: number; ttl?: number; rcode?: number; ede?: number[] };
  /** Names that the upstreams were asked in this step. */
  readonly asks: readonly string[];
  /** Seconds that the client waited; default: none. */
  readonly waits?: number;
}

const NAME = 'www.example.com';
/** A step that has not come to its end by then has failed. */
const SETTLE_MS = 60_000;
/** More than an upstream of the test needs to answer on a busy machine. */
const PROBE_MS = 30_000;
const good = (address: number, ttl = 100): Does => ({ address, ttl });
const servfail: Does = { rcode: 2 };
const SILENT = { first: 'silent', second: 'silent' } as const;

// oxfmt-ignore
const SCENARIOS: Record<string, readonly Step[]> = {
  'an answer is cached for its TTL, which is counted down': [
    { at: 0, first: good(1), ask: NAME, gets: { address: 1, ttl: 100 }, asks: ['first'] },
    { at: 40, first: good(2), ask: 'WWW.example.com', gets: { address: 1, ttl: 60 }, asks: [] },
    { at: 99, ask: NAME, edns: false, gets: { address: 1, ttl: 1 }, asks: [] },
    { at: 100, ask: NAME, gets: { address: 2, ttl: 100 }, asks: ['first'] },
  ],
  'different types, DO and CD bits have different cache entries': [
    { at: 0, first: good(1), ask: NAME, gets: { address: 1 }, asks: ['first'] },
    { at: 1, ask: NAME, flags: 0x0110, gets: { address: 1 }, asks: ['first'] },
    { at: 2, ask: NAME, qtype: 16, gets: { rcode: 0 }, asks: ['first'] },
  ],
  'NXDOMAIN holds for all types of the name': [
    { at: 0, first: { nxdomain: 60 }, ask: NAME, gets: { rcode: 3 }, asks: ['first'] },
    { at: 1, first: good(1), ask: NAME, qtype: 28, gets: { rcode: 3 }, asks: [] },
    { at: 2, ask: NAME, qtype: 65, flags: 0x0110, gets: { rcode: 0 }, asks: ['first'] },
    { at: 60, ask: NAME, gets: { address: 1 }, asks: ['first'] },
    { at: 61, ask: NAME, qtype: 28, gets: { rcode: 0 }, asks: ['first'] },
  ],
  'NXDOMAIN says nothing about the names below it': [
    { at: 0, first: { nxdomain: 60 }, ask: 'example.com', gets: { rcode: 3 }, asks: ['first'] },
    { at: 1, first: good(1), ask: NAME, gets: { address: 1 }, asks: ['first'] },
  ],
  'NXDOMAIN holds for the names below it with CACHE_NXDOMAIN_CUT': [
    { at: 0, configuration: { CACHE_NXDOMAIN_CUT: true }, first: { nxdomain: 60 }, ask: 'example.com',
      gets: { rcode: 3 }, asks: ['first'] },
    { at: 1, first: good(1), ask: 'A.b.Example.com', qtype: 28, gets: { rcode: 3, ede: [] }, asks: [] },
    { at: 2, ask: NAME, edns: false, gets: { rcode: 3 }, asks: [] },
    { at: 3, ask: 'other.com', gets: { address: 1 }, asks: ['first'] },
    { at: 4, ask: NAME, flags: 0x0110, gets: { address: 1 }, asks: ['first'] },
    { at: 60, ask: NAME, gets: { address: 1 }, asks: ['first'] },
  ],
  'an answer with a TTL of 0 is not cached': [
    { at: 0, first: good(1, 0), ask: NAME, gets: { address: 1, ttl: 0 }, asks: ['first'] },
    { at: 0, first: good(2, 0), ask: NAME, gets: { address: 2, ttl: 0 }, asks: ['first'] },
  ],
  'CACHE_MIN_TTL raises and CACHE_MAX_TTL lowers the time in the cache': [
    { at: 0, configuration: { CACHE_MIN_TTL: 20, CACHE_MAX_TTL: 60 }, first: good(1, 5), ask: NAME,
      gets: { address: 1, ttl: 5 }, asks: ['first'] },
    { at: 19, ask: NAME, gets: { address: 1, ttl: 1 }, asks: [] },
    { at: 20, first: good(2, 900), ask: NAME, gets: { address: 2, ttl: 60 }, asks: ['first'] },
    { at: 79, ask: NAME, gets: { address: 2, ttl: 1 }, asks: [] },
    { at: 80, first: good(3, 0), ask: NAME, gets: { address: 3, ttl: 0 }, asks: ['first'] },
    { at: 81, ask: NAME, gets: { address: 3, ttl: 0 }, asks: ['first'] },
  ],
  'NXDOMAIN is cached for the SOA minimum': [
    { at: 0, first: { nxdomain: 30 }, ask: NAME, gets: { rcode: 3 }, asks: ['first'] },
    { at: 29, first: good(1), ask: NAME, gets: { rcode: 3 }, asks: [] },
    { at: 30, ask: NAME, gets: { address: 1 }, asks: ['first'] },
  ],
  'NODATA is cached for the SOA minimum, for its type only': [
    { at: 0, first: { nodata: 30 }, ask: NAME, qtype: 28, gets: { rcode: 0 }, asks: ['first'] },
    { at: 29, first: good(1), ask: NAME, qtype: 28, gets: { rcode: 0 }, asks: [] },
    { at: 29, ask: NAME, gets: { address: 1 }, asks: ['first'] },
  ],
  'SERVFAIL is cached for five seconds': [
    { at: 0, first: servfail, ask: NAME, gets: { rcode: 2, ede: [] }, asks: ['first', 'second'] },
    { at: 4, first: good(1), ask: NAME, gets: { rcode: 2, ede: [13] }, asks: [] },
    { at: 5, ask: NAME, gets: { address: 1 }, asks: ['first'] },
  ],
  'SERVFAIL does not replace an expired answer': [
    { at: 0, first: good(1, 10), ask: NAME, gets: { address: 1 }, asks: ['first'] },
    { at: 11, first: servfail, ask: NAME, gets: { address: 1, ttl: 30, ede: [3] }, asks: ['first', 'second'] },
    { at: 40, ask: NAME, edns: false, gets: { address: 1, ttl: 30 }, asks: [] },
    { at: 42, first: good(2, 10), ask: NAME, gets: { address: 2, ttl: 10 }, asks: ['first'] },
  ],
  'SERVFAIL or REFUSED of one upstream is hidden by the answer of the other, which is cached': [
    { at: 0, first: servfail, second: good(1), ask: NAME, gets: { address: 1 }, asks: ['first', 'second'] },
    { at: 1, ask: NAME, gets: { address: 1, ttl: 99 }, asks: [] },
    { at: 2, first: { rcode: 5 }, second: { nxdomain: 30 }, ask: 'no.example.com',
      gets: { rcode: 3 }, asks: ['first', 'second'] },
  ],
  'SERVFAIL of one upstream is passed on when the other was silent for a second and a half': [
    { at: 0, first: servfail, second: 'silent', ask: NAME,
      gets: { rcode: 2, ede: [] }, asks: ['first', 'second'], waits: 1.5 },
  ],
  'the other upstream is asked when one was silent for half a second': [
    { at: 0, first: 'silent', second: good(1), ask: NAME, gets: { address: 1 }, asks: ['first', 'second'], waits: 0.5 },
  ],
  'without any upstream the answer is SERVFAIL with EDE 22 after three seconds, cached for five': [
    { at: 0, ...SILENT, ask: NAME, gets: { rcode: 2, ede: [22] }, asks: ['first', 'second', 'first'], waits: 3 },
    { at: 7, ask: NAME, gets: { rcode: 2, ede: [22] }, asks: [] },
    { at: 9, first: good(1), ask: NAME, gets: { address: 1 }, asks: ['first'] },
  ],
  'without any upstream an expired answer is served for a day: first after 1.8 seconds, then at once': [
    { at: 0, first: good(1, 10), ask: NAME, gets: { address: 1 }, asks: ['first'] },
    { at: 20, ...SILENT, ask: NAME,
      gets: { address: 1, ttl: 30, ede: [3] }, asks: ['first', 'second', 'first'], waits: 2 },
    { at: 24, ask: NAME, gets: { address: 1, ttl: 30, ede: [3] }, asks: [] },
    { at: 86_400, ask: NAME, gets: { address: 1, ttl: 30, ede: [3] }, asks: ['first', 'second', 'first'] },
    { at: 86_420, ask: NAME, gets: { rcode: 2, ede: [22] }, asks: ['first', 'second', 'first'], waits: 3 },
  ],
  'while all upstreams are down an expired answer is served at once and refreshed afterwards': [
    { at: 0, first: good(1, 10), ask: NAME, gets: { address: 1 }, asks: ['first'] },
    { at: 20, ...SILENT, ask: 'a.example.com', gets: { rcode: 2 }, asks: ['first', 'second', 'first'], waits: 3 },
    { at: 23, ask: 'b.example.com', gets: { rcode: 2 }, asks: ['first', 'second', 'first'], waits: 3 },
    { at: 26, ask: 'c.example.com', gets: { rcode: 2 }, asks: ['first', 'second', 'first'], waits: 3 },
    { at: 30, ask: NAME, gets: { address: 1, ttl: 30, ede: [3] }, asks: ['first', 'second', 'first'] },
    { at: 60, ask: NAME, gets: { address: 1, ttl: 30, ede: [3] }, asks: [] },
    { at: 65, first: good(2, 10), losesProbes: true, ask: NAME,
      gets: { address: 1, ttl: 30, ede: [3] }, asks: ['first'] },
    { at: 66, ask: NAME, gets: { address: 2, ttl: 9, ede: [] }, asks: [] },
  ],
  'an expired NXDOMAIN is served with EDE 19': [
    { at: 0, first: { nxdomain: 10 }, ask: NAME, gets: { rcode: 3, ede: [] }, asks: ['first'] },
    { at: 20, ...SILENT, ask: NAME, gets: { rcode: 3, ede: [19] }, asks: ['first', 'second', 'first'], waits: 2 },
  ],
  'a popular answer is refreshed before it expires, an unpopular one is not': [
    { at: 0, first: good(1), ask: NAME, gets: { address: 1, ttl: 100 }, asks: ['first'] },
    { at: 10, first: good(2), ask: NAME, gets: { address: 1, ttl: 90 }, asks: [] },
    { at: 95, ask: NAME, gets: { address: 1, ttl: 5 }, asks: [] },
    { at: 96, ask: NAME, gets: { address: 1, ttl: 4 }, asks: ['first'] },
    { at: 97, ask: NAME, gets: { address: 2, ttl: 99 }, asks: [] },
  ],
  'a failed refresh does not replace the answer': [
    { at: 0, first: good(1), ask: NAME, gets: { address: 1 }, asks: ['first'] },
    { at: 10, first: servfail, ask: NAME, gets: { address: 1 }, asks: [] },
    { at: 11, ask: NAME, gets: { address: 1 }, asks: [] },
    { at: 95, ask: NAME, gets: { address: 1, ttl: 5 }, asks: ['first', 'second'] },
    { at: 96, ask: NAME, gets: { address: 1, ttl: 4, ede: [] }, asks: [] },
  ],
  'without RD the cache is not shown, so nobody learns what a neighbour asked': [
    { at: 0, ask: NAME, flags: 0, gets: { rcode: 5 }, asks: [] },
    { at: 1, first: good(1), ask: NAME, gets: { address: 1 }, asks: ['first'] },
    { at: 2, ask: NAME, flags: 0, gets: { rcode: 5, ede: [20] }, asks: [] },
    { at: 3, ask: 'x.blocked.example', flags: 0, gets: { address: 80, ede: [17] }, asks: [] },
    { at: 101, ask: NAME, flags: 0, gets: { rcode: 5 }, asks: [] },
  ],
  'a cached answer with a blocked target is blocked, like a new one': [
    { at: 0, first: { address: 1, ttl: 100, via: 'x.blocked.example' }, ask: NAME,
      gets: { address: 80, ede: [17] }, asks: ['first'] },
    { at: 1, ask: NAME, gets: { address: 80, ttl: 10, ede: [17] }, asks: [] },
  ],
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function answerOf(query: AskedQuery, does: Does): Uint8Array | null {
  if (does === 'silent') return null;
  if ('rcode' in does) return respond(query, { flags: 0x8180 | does.rcode });
  if ('nodata' in does) return respond(query, { authorities: [soa(900, does.nodata)] });
  if ('nxdomain' in does) {
    return respond(query, { flags: 0x8183, authorities: [soa(900, does.nxdomain)] });
  }
  const { address, ttl, via } = does;
  const chain = via === undefined ? [] : [cname(via, ttl)];
  const isAddress = query.message.questions[0].qtype === 1;
  return respond(query, { answers: isAddress ? [...chain, a(`192.0.2.${address}`, ttl)] : [] });
}

/** Two upstreams and a service on a clock that `play` moves. */
async function startService(configuration: Partial<DnsConfiguration> = {}) {
  const clock = new TestClock({ monotonicMs: 0 });
  const asked: string[] = [];
  const does: Record<'first' | 'second', Does> = { first: servfail, second: servfail };
  let losesProbes = false;
  const upstream = async (name: 'first' | 'second') => {
    const server = await UpstreamServer.start((query) => {
      asked.push(name);
      return answerOf(query, does[name]);
    });
    server.answerProbe = (query) => (losesProbes ? null : answerOf(query, does[name]));
    cleanups.push(() => server.stop());
    return server.endpoint;
  };
  const service = createService(configuration, {
    upstreams: [await upstream('first'), await upstream('second')],
    source: { policy: policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example')) },
    times: clock.times,
  });
  const server = await service.start();
  cleanups.push(() => service.stop());
  // The first ones of both threads.
  const probeAnswers = () => service.counts.forwarding.upstreams.map((one) => one.probeAnswers);
  await expect.poll(probeAnswers).toEqual([2, 2]);

  /**
   * Sends a query. Moves the clock in steps of half a second until there is an answer, or the time that the client is
   * expected to wait is over.
   */
  const ask = async ({ ask: name, qtype = 1, flags = 0x0100, edns = true, waits = 0 }: Step) => {
    const packet = encodeQuery(name, qtype, { flags, ...(edns && { udpBytes: 1232 }) });
    const answered = askUdp(server, packet);
    if (waits > 0) await expect.poll(() => service.counts.forwarding.waiting).toBe(1);
    let waited = 0;
    while (waited < waits && (await Promise.race([answered, sleep(80, 'none')])) === 'none') {
      clock.monotonicMs += 500;
      waited += 0.5;
    }
    const answer = await answered;
    if (answer === null) throw new Error(`no answer after ${waits} s`);
    return { message: decodeMessage(answer), waited };
  };
  /** A probe that is under way when the clock jumps would seem slow or lost. A silent upstream never answers it. */
  const probesEnd = async () => {
    const end = performance.now() + PROBE_MS;
    const isOpen = () =>
      service.counts.forwarding.upstreams.some((one) => one.probes > one.probeAnswers);
    while (isOpen() && performance.now() < end) await sleep(5);
  };
  const play = async (step: Step) => {
    if (does.first !== 'silent' && does.second !== 'silent') await probesEnd();
    losesProbes = step.losesProbes ?? false;
    clock.monotonicMs = step.at * 1000;
    Object.assign(
      does,
      step.first && { first: step.first },
      step.second && { second: step.second },
    );
    asked.length = 0;
    const { message, waited } = await ask(step);
    expect(waited).toBe(step.waits ?? 0);
    expectAnswer(message, step);
    // A refresh after the answer may not have begun yet, or may still be in flight.
    const end = performance.now() + SETTLE_MS;
    const isDone = () => asked.length >= step.asks.length && isIdle(service);
    while (!isDone() && performance.now() < end) {
      await sleep(80);
      if (does.first === 'silent' || does.second === 'silent') clock.monotonicMs += 500;
    }
    expect(asked).toEqual(step.asks);
  };
  return { play };
}

function expectAnswer(message: DecodedMessage, { gets, edns = true, ask: name }: Step): void {
  const { address, ttl, rcode = 0, ede } = gets;
  expect(message).toMatchObject({ rcode, questions: [{ qname: name }], trailing: 0 });
  const last = message.answers.findLast((record) => record.type === 1);
  expect(last?.rdata[3]).toBe(address);
  if (ttl !== undefined) expect(last?.ttl).toBe(ttl);
  if (ede !== undefined) expect(message.ede).toEqual(ede);
  expect(message.opt !== undefined).toBe(edns);
}

describe('over time', () => {
  it.each(Object.entries(SCENARIOS))('%s', async (_, steps) => {
    const { play } = await startService(steps[0]?.configuration);
    for (const step of steps) await play(step);
  });
});
