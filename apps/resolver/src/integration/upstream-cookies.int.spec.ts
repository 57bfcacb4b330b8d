import { decodeOptions, encodeMessage, opt, option } from '@weir/dns-wire/testing';
import { needs } from '@weir/ops/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { a } from '../query/testing/records.js';
import { countsOf, forwarder, upstream } from '../testing/forwarding.js';
import { startNamed, writeZone } from '../testing/name-servers.js';
import { respond } from '../testing/respond.js';
import { skippedClock } from '../testing/test-clock.js';
import type { Answerer, AskedQuery } from '../testing/upstream-server.js';

const COOKIE = 10;
const BADCOOKIE = 23;
const SERVER_COOKIE = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');
const TRUE = [a('192.0.2.1')];

/** The COOKIE option of a query; undefined without one. */
function cookiesOf({ message }: AskedQuery): Buffer | undefined {
  return decodeOptions(message.opt!.rdata).find(({ code }) => code === COOKIE)?.data;
}
const clientCookieOf = (query: AskedQuery): Buffer => cookiesOf(query)!.subarray(0, 8);
const transports = (asked: readonly AskedQuery[]): string[] => asked.map((one) => one.transport);

/** An answer with these cookies; by default the right client cookie and the server cookie. */
function withCookies(
  query: AskedQuery,
  options: { cookies?: Uint8Array; extendedRcode?: number; last?: number } = {},
): Uint8Array {
  const { extendedRcode = 0, last = 1 } = options;
  const cookies = options.cookies ?? Buffer.concat([clientCookieOf(query), SERVER_COOKIE]);
  const ttl = (extendedRcode >>> 4) * 2 ** 24;
  return respond(query, {
    flags: 0x8180 | (extendedRcode & 15),
    answers: extendedRcode === 0 ? [a(`192.0.2.${last}`)] : [],
    additionals: [opt(1232, ttl, option(COOKIE, [...cookies]))],
  });
}
const formErr = ({ message }: AskedQuery): Uint8Array =>
  encodeMessage({ id: message.id, flags: 0x8181 });
const supporting: Answerer = (query) => withCookies(query);

describe('cookies towards upstreams (RFC 7873)', () => {
  it('are a client cookie, then also the server cookie of the upstream', async () => {
    const server = await upstream(supporting);
    const { ask, subject } = forwarder([server.endpoint], { hasCookies: true });
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    const [first, second, third] = server.asked.map((query) => cookiesOf(query)!);
    expect(first).toHaveLength(8);
    expect(second).toEqual(Buffer.concat([first, SERVER_COOKIE]));
    expect(third).toEqual(second);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ strays: 0, suspects: 0, overTcp: 0 });
  });

  it('differ between upstreams, and are new after a day', async () => {
    const servers = [await upstream(() => null), await upstream(supporting)];
    let skippedMs = 0;
    const endpoints = servers.map(({ endpoint }) => endpoint);
    const { ask } = forwarder(endpoints, {
      hasCookies: true,
      nowMs: () => performance.now() + skippedMs,
      attemptTimeoutMs: 100,
    });
    await ask('www.example.com');
    const [one, two] = servers.map((server) => clientCookieOf(server.asked[0]));
    expect(one).not.toEqual(two);
    skippedMs = 86_400_000;
    await expect
      .poll(async () => {
        await ask('www.example.com');
        return clientCookieOf(servers[1].asked.at(-1)!);
      })
      .not.toEqual(two);
    expect(await ask('www.example.com')).toMatchObject({ answers: [{ type: 1 }] });
  });

  it('are left out where the option is off', async () => {
    const server = await upstream((query) => respond(query, { answers: TRUE }));
    const { ask } = forwarder([server.endpoint], { hasCookies: false });
    await ask();
    expect(cookiesOf(server.asked[0])).toBeUndefined();
  });

  it.each<[string, (own: Uint8Array) => Uint8Array]>([
    ['of another client', () => Buffer.concat([Buffer.alloc(8, 7), SERVER_COOKIE])],
    ['too short', () => Buffer.alloc(5)],
    ['too long', (own) => Buffer.concat([own, Buffer.alloc(33)])],
  ])('that are %s make the question go over TCP', async (_what, cookies) => {
    const server = await upstream((query) => {
      if (query.transport === 'tcp') return withCookies(query);
      return withCookies(query, { cookies: cookies(clientCookieOf(query)), last: 66 });
    });
    const { ask, subject } = forwarder([server.endpoint], { hasCookies: true });
    for (let i = 0; i < 2; i++) {
      const outcome = await ask();
      expect(outcome).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 1]) }] });
    }
    expect(transports(server.asked)).toEqual(['udp', 'tcp', 'udp', 'tcp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ suspects: 2, strays: 0, failures: 0 });
  });

  it('of other clients are accepted for a while of an upstream whose cache sends them', async () => {
    const server = await upstream((query) =>
      withCookies(query, { cookies: Buffer.concat([Buffer.alloc(8, 7), SERVER_COOKIE]) }),
    );
    const { ask } = forwarder([server.endpoint], { hasCookies: true });
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked)).toEqual(['udp', 'tcp', 'udp', 'udp']);
  });

  it('are asked for over TCP when a supporting upstream seems to leave them out', async () => {
    const server = await upstream(supporting);
    const { ask, subject } = forwarder([server.endpoint], { hasCookies: true });
    await ask();
    server.answer = (query) =>
      query.transport === 'tcp'
        ? withCookies(query)
        : respond(query, { answers: [a('192.0.2.66')] });
    for (let i = 0; i < 2; i++) {
      const outcome = await ask();
      expect(outcome).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 1]) }] });
    }
    expect(transports(server.asked)).toEqual(['udp', 'udp', 'tcp', 'udp', 'tcp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ suspects: 2, failures: 0 });
  });

  it('are not expected for a while of an upstream that leaves them out over TCP too', async () => {
    const server = await upstream(supporting);
    const { nowMs, skip } = skippedClock();
    const { ask } = forwarder([server.endpoint], {
      hasCookies: true,
      nowMs,
    });
    await ask();
    server.answer = (query) => respond(query, { answers: TRUE });
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked)).toEqual(['udp', 'udp', 'tcp', 'udp', 'udp']);
    skip(301_000);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked).slice(5)).toEqual(['udp', 'tcp']);
  });

  it('are not given up because of a bare header, which anybody who guesses the id can send', async () => {
    const server = await upstream(supporting);
    const { ask, subject } = forwarder([server.endpoint], { hasCookies: true });
    await ask();
    server.answer = (query) => (query.transport === 'tcp' ? withCookies(query) : formErr(query));
    for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked)).toEqual(['udp', 'udp', 'tcp', 'udp', 'tcp']);
    expect(server.asked.every((query) => cookiesOf(query) !== undefined)).toBe(true);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ suspects: 2, failures: 0 });
  });

  it('are given up, with EDNS, when the upstream does not understand it over TCP either', async () => {
    const server = await upstream(supporting);
    const { ask } = forwarder([server.endpoint], { hasCookies: true });
    await ask();
    server.answer = (query) =>
      query.message.opt === undefined
        ? respond(query, { answers: TRUE, additionals: [] })
        : formErr(query);
    for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked)).toEqual(['udp', 'udp', 'tcp', 'tcp', 'udp']);
  });

  it('that the upstream calls bad are sent once more with its new cookie', async () => {
    const server = await upstream((query) =>
      cookiesOf(query)!.length === 8
        ? withCookies(query, { extendedRcode: BADCOOKIE })
        : withCookies(query),
    );
    const { ask, subject } = forwarder([server.endpoint], { hasCookies: true });
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked)).toEqual(['udp', 'udp', 'udp', 'udp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ failures: 0, errors: 0 });
  });

  it('that stay bad make the question go over TCP', async () => {
    const server = await upstream((query) =>
      withCookies(query, { extendedRcode: query.transport === 'udp' ? BADCOOKIE : 0 }),
    );
    const { ask } = forwarder([server.endpoint], { hasCookies: true });
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(transports(server.asked)).toEqual(['udp', 'udp', 'tcp']);
  });

  it('are accepted by BIND, even if it requires them', needs('named'), async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-cookies-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    writeZone(folder, { origin: 'example', records: ['www IN A 192.0.2.1'] });
    const named = await startNamed(folder, 'example');
    onTestFinished(() => named.stop());
    const { ask, subject } = forwarder([named.endpoint], {
      hasCookies: true,
    });
    for (let i = 0; i < 5; i++) {
      expect(await ask('www.example')).toMatchObject({ answers: [{ type: 1 }] });
    }
    // The first query has no server cookie yet, so BIND refuses it with BADCOOKIE.
    const counts = { queries: 6, answers: 5, strays: 0, suspects: 0, overTcp: 0 };
    expect(countsOf(subject.upstreams[0])).toMatchObject(counts);
  });
});
