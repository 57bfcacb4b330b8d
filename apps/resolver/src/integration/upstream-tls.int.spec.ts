import { decodeOptions } from '@weir/dns-wire/testing';
import { showUpstream } from '@weir/ops';
import { freePort } from '@weir/ops/testing';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority, type Identity } from '../testing/authority.js';
import {
  countsOf,
  forwarder,
  silentUpstream,
  UNREACHABLE,
  upstream,
} from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import type { Answerer, UpstreamServer } from '../testing/upstream-server.js';
import type { ForwarderOptions } from '../upstream/forwarder.js';

const NAME = 'dns.example';
const PADDING = 12;

let folder = '';
let authority: Authority;
let identity: Identity;
let other: Identity;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-upstream-tls-'));
  authority = new Authority(folder);
  identity = authority.issue(NAME);
  other = authority.issue('other.example');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const overTls = (answer: Answerer, port = 0) => upstream(answer, undefined, { identity, port });
const byName = ({ endpoint }: UpstreamServer, name = NAME) => ({ ...endpoint, tls: { name } });
const byPin = ({ endpoint }: UpstreamServer, { pin } = identity) => ({ ...endpoint, tls: { pin } });
const trusting = (upstreams: ForwarderOptions['upstreams'], options = {}) =>
  forwarder(upstreams, {
    secureContext: createSecureContext({ ca: readFileSync(authority.caFile) }),
    ...options,
  });
const noError = { rcode: 0 };
/** Soon notices a silent upstream, and soon tries again. */
const EAGER = { attemptTimeoutMs: 2_000, queryTimeoutMs: 6_000 };

describe('an upstream over TLS', () => {
  it.each([
    ['name', byName],
    ['pin', byPin],
  ])('is asked when its %s is right, padded and without cookies', async (_what, endpoint) => {
    const server = await overTls((query) => respond(query));
    const { ask, subject } = trusting([endpoint(server)], {
      hasCookies: true,
    });
    await expect.poll(() => countsOf(subject.upstreams[0]).probeAnswers).toBeGreaterThan(0);
    expect(await ask('www.example')).toMatchObject(noError);
    expect(server.asked.map(({ transport }) => transport)).toEqual(['tls']);
    const [{ bytes, message }] = server.asked;
    expect(bytes).toHaveLength(128);
    expect(decodeOptions(message.opt!.rdata).map(({ code }) => code)).toEqual([PADDING]);
    expect(subject.upstreams[0].name).toBe(showUpstream(endpoint(server)));
    expect(countsOf(subject.upstreams[0])).toMatchObject({ queries: 1, answers: 1, tlsErrors: 0 });
    expect(server.connectionCount).toBe(1);
  });

  it.each([
    ['another name', (server: UpstreamServer) => trusting([byName(server, 'not.example')], EAGER)],
    ['another key', (server: UpstreamServer) => trusting([byPin(server, other)], EAGER)],
    ['an unknown authority', (server: UpstreamServer) => forwarder([byName(server)], EAGER)],
  ])('with %s is not asked, not even in clear text', async (_what, start) => {
    const server = await overTls((query) => respond(query));
    const { ask, subject } = start(server);
    expect(await ask('www.example')).toEqual(UNREACHABLE);
    const [asked] = subject.upstreams;
    await expect.poll(() => asked.health.isDown).toBe(true);
    expect(await ask('www.example')).toEqual(UNREACHABLE);
    expect(countsOf(asked).tlsErrors).toBeGreaterThan(0);
    expect([...server.asked, ...server.probes]).toEqual([]);
  });

  it('reports what is wrong with a certificate once', async () => {
    const server = await overTls((query) => respond(query));
    const reasons: string[] = [];
    const { subject } = trusting([byPin(server, other)], {
      ...EAGER,
      onTlsError: (_upstream: unknown, { message }: Error) => reasons.push(message),
    });
    await expect.poll(() => countsOf(subject.upstreams[0]).tlsErrors).toBeGreaterThan(1);
    expect(reasons).toEqual([`the pin of its public key is ${identity.pin}`]);
  });

  it('that speaks no TLS gets no query', async () => {
    const server = await upstream((query) => respond(query));
    const { ask } = trusting([byName(server)], {
      attemptTimeoutMs: 100,
      queryTimeoutMs: 1_000,
    });
    expect(await ask('www.example')).toMatchObject({ rcode: 2 });
    expect([...server.asked, ...server.probes]).toEqual([]);
  });

  it('does not take a truncated answer for a reason to ask in clear text', async () => {
    const server = await overTls((query) => respond(query, { flags: 0x8380 }));
    const { ask } = trusting([byName(server)]);
    expect(await ask('www.example')).toMatchObject({ rcode: 2 });
    expect(new Set(server.asked.map(({ transport }) => transport))).toEqual(new Set(['tls']));
  });

  it('gets many questions over one connection and answers them in any order', async () => {
    const held: (() => void)[] = [];
    const server = await overTls(async (query) => {
      await new Promise<void>((resolve) => held.push(resolve));
      return respond(query);
    });
    const patient = { attemptTimeoutMs: 60_000, queryTimeoutMs: 60_000 };
    const { ask } = trusting([byName(server)], patient);
    const done: number[] = [];
    const asked = Array.from({ length: 300 }, (_, i) =>
      ask(`n${i}.example`).then(() => done.push(i)),
    );
    await expect.poll(() => held.length).toBe(300);
    for (const release of held.reverse()) release();
    await Promise.all(asked);
    expect(new Set(done).size).toBe(300);
    expect(done[0]).toBeGreaterThan(done[299]);
    expect(server.connectionCount).toBe(1);
  });

  it('that closes idle connections is asked over a new one', async () => {
    const server = await overTls((query) => respond(query));
    const { ask, subject } = trusting([byName(server)]);
    for (let i = 1; i <= 5; i++) {
      expect(await ask(`n${i}.example`)).toMatchObject(noError);
      for (const connection of server.connections) connection.end();
    }
    expect(countsOf(subject.upstreams[0])).toMatchObject({ answers: 5, failures: 0 });
  });

  it('that closes the connection instead of an answer is asked once more', async () => {
    let closes = 1;
    const server = await overTls((query) => {
      if (closes-- <= 0) return respond(query);
      for (const connection of server.connections) connection.destroy();
      return null;
    });
    const { ask, subject } = trusting([byName(server)]);
    await expect.poll(() => countsOf(subject.upstreams[0]).probeAnswers).toBeGreaterThan(0);
    expect(await ask('www.example')).toMatchObject(noError);
    expect(server.asked).toHaveLength(2);
    expect(countsOf(subject.upstreams[0]).queries).toBe(1);
  });

  it('that answers a few queries of each connection is asked over many', async () => {
    const server = await overTls((query) => respond(query));
    server.queriesPerConnection = 3;
    const { ask, subject } = trusting([byName(server)], {
      attemptTimeoutMs: 60_000,
      queryTimeoutMs: 60_000,
    });
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(`n${i}.example`)));
    for (const outcome of outcomes) expect(outcome).toMatchObject(noError);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ queries: 40, answers: 40, failures: 0 });
    expect(server.connectionCount).toBeGreaterThan(13);
  });

  it('that answers another question and closes is not asked without end', async () => {
    // Another first letter of the name.
    const server = await overTls((query) => respond(query).with(13, 0x7a));
    server.queriesPerConnection = 1;
    const { ask } = trusting([byName(server)], { queryTimeoutMs: 1_000 });
    await ask('a.example');
    // Such an answer is none, so each connection is followed by a pause.
    expect(server.connectionCount).toBeLessThan(10);
  });

  it('that was restarted is asked again', async () => {
    // Nobody else is given this port meanwhile.
    const first = await overTls((query) => respond(query), await freePort());
    const { ask, subject } = trusting([byName(first)], EAGER);
    expect(await ask('a.example')).toMatchObject(noError);
    await first.stop();
    await overTls((query) => respond(query), first.endpoint.port);
    await expect.poll(() => ask('b.example')).toMatchObject(noError);
    await expect.poll(() => subject.upstreams[0].health.isSound).toBe(true);
  });

  it('that falls silent gets another connection', async () => {
    const server = await overTls((query) => respond(query));
    const { ask } = trusting([byName(server)], EAGER);
    expect(await ask('a.example')).toMatchObject(noError);
    server.fallSilent();
    await expect.poll(() => server.connectionCount).toBeGreaterThan(1);
    server.answer = (query) => respond(query);
    await expect.poll(() => ask('b.example')).toMatchObject(noError);
  });

  it.each([
    ['dead', async () => byName(await stopped())],
    ['silent', async () => byName(await silentUpstream())],
    ['wrong', async () => byName(await overTls((query) => respond(query)), 'not.example')],
  ])('that is %s is no harm when there is another', async (_what, endpoint) => {
    const second = await overTls((query) => respond(query));
    const { ask } = trusting([await endpoint(), byPin(second)], { attemptTimeoutMs: 200 });
    expect(await ask('a.example')).toMatchObject(noError);
    expect(await ask('b.example')).toMatchObject(noError);
  });
});

async function stopped(): Promise<UpstreamServer> {
  const server = await overTls(() => null);
  await server.stop();
  return server;
}
