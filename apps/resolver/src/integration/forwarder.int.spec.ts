import { concat, type DecodedMessage, pointerTo, wireName } from '@weir/dns-wire/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSystemCalls, SocketPoller } from '@weir/udp-batch';
import { describe, expect, it, onTestFinished } from 'vitest';
import { a, txt } from '../query/testing/records.js';
import { udpClient } from '../testing/client.js';
import {
  countsOf,
  deadEndpoint,
  forwarder,
  NEVER,
  SILENCE,
  silentUpstream,
  UNREACHABLE,
  upstream,
} from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { skippedClock } from '../testing/test-clock.js';
import type { Forwarder } from '../upstream/forwarder.js';

/** Rdata with that replacement. */
const naptr = (replacement: Uint8Array) =>
  concat(Uint8Array.of(0, 1, 0, 1, 1, 0x75, 1, 0x73, 0), replacement);

/** Shorter timeouts, for tests with a silent upstream. */
const HASTY = { attemptTimeoutMs: 100, queryTimeoutMs: 300 };

/** The first probes of two upstreams are answered. The next ones come seconds later. */
const probed = ({ upstreams }: Forwarder) =>
  expect.poll(() => upstreams.map((one) => countsOf(one).probeAnswers)).toEqual([1, 1]);

describe('Forwarder', () => {
  it.each(['127.0.0.1', '::1'])(
    'asks an upstream at %s and passes its response on',
    async (host) => {
      const server = await upstream((query) => respond(query, { answers: [a('192.0.2.1')] }), host);
      const { subject, ask } = forwarder([server.endpoint]);
      expect(await ask()).toMatchObject({ answers: [{ type: 1, ttl: 300 }] });
      expect(server.asked[0]).toMatchObject({
        message: { questions: [{ qname: 'www.Example.com', qtype: 1 }], opt: { class: 1232 } },
      });
      expect(subject.inFlight).toBe(0);
      expect(countsOf(subject.upstreams[0])).toMatchObject({ queries: 1, answers: 1, timeouts: 0 });
    },
  );

  it.each([
    ['the owner of a record', pointerTo(0x3fff), 1, Uint8Array.of(192, 0, 2, 1)],
    ['a mail exchange', pointerTo(12), 15, Uint8Array.of(0, 10, 0xff, 0xff)],
    ['a name behind the strings of a NAPTR record', pointerTo(12), 35, naptr(pointerTo(0x3fff))],
  ])('does not pass on a response in which %s is no name', async (_what, owner, type, rdata) => {
    const answers = [{ owner, type, ttl: 60, rdata }];
    const bad = await upstream((query) => respond(query, { answers }));
    const good = await upstream((query) => respond(query, { answers: [a('192.0.2.1')] }));
    const { ask, subject } = forwarder([bad.endpoint, good.endpoint], NEVER);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(countsOf(subject.upstreams[0])).toMatchObject({ failures: 1 });
  });

  it.each([
    ['A', 1, 3],
    ['A', 1, 5],
    ['AAAA', 28, 4],
  ])('does not pass on an %s record whose address is not one', async (_name, type, size) => {
    const answers = [{ owner: pointerTo(12), type, ttl: 60, rdata: new Uint8Array(size) }];
    const bad = await upstream((query) => respond(query, { answers }));
    const good = await upstream((query) => respond(query));
    const { ask, subject } = forwarder([bad.endpoint, good.endpoint], NEVER);
    expect(await ask('www.example.com', type)).toMatchObject({ answers: [] });
    expect(countsOf(subject.upstreams[0])).toMatchObject({ failures: 1 });
  });

  it('uses random ids and ports', async () => {
    const server = await upstream((query) => respond(query));
    const { ask } = forwarder([server.endpoint]);
    for (let i = 0; i < 100; i++) await ask();
    const ids = new Set(server.asked.map(({ message }) => message.id));
    const ports = new Set(server.asked.map(({ from }) => from?.port));
    expect(ids.size).toBeGreaterThan(95);
    expect(ports.size).toBe(4);
  });

  it('changes ports after a number of queries without losing an answer', async () => {
    const server = await upstream((query) => respond(query));
    const { ask } = forwarder([server.endpoint], { portsPerUpstream: 1 });
    const portsAfterMore = async (): Promise<number> => {
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, n) => ask(`n${n}.example.com`)),
      );
      expect(outcomes).not.toContainEqual(SILENCE);
      return new Set(server.asked.map(({ from }) => from?.port)).size;
    };
    for (let i = 0; i < 40; i++) await portsAfterMore();
    // The socket is replaced at the next sweep after 4,096 queries.
    await expect.poll(portsAfterMore).toBeGreaterThan(1);
  });

  it('asks the next upstream when the first is silent', async () => {
    const silent = await upstream(() => null);
    const second = await upstream((query) => respond(query, { answers: [a('192.0.2.2')] }));
    const { nowMs, skip } = skippedClock();
    const options = { ...HASTY, nowMs };
    const { subject, ask } = forwarder([silent.endpoint, second.endpoint], options);
    const outcome = ask();
    await expect.poll(() => silent.asked.length).toBe(1);
    skip(99);
    await sleep(100);
    expect(second.asked).toEqual([]);
    skip(1);
    expect(await outcome).toMatchObject({ answers: [{ type: 1 }] });
    expect(silent.asked).toHaveLength(1);
    expect(countsOf(subject.upstreams[0]).timeouts).toBe(1);
  });

  it('takes an answer that came while the process stood still', async () => {
    const { nowMs, skip } = skippedClock();
    const server = await upstream((query) => {
      setImmediate(() => {
        skip(4_000);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      });
      return respond(query, { answers: [a('192.0.2.1')] });
    });
    const { ask } = forwarder([server.endpoint], { ...HASTY, nowMs });
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
  });

  it('asks the next upstream at once when the first is unreachable', async () => {
    const second = await upstream((query) => respond(query));
    const { ask } = forwarder([await deadEndpoint(), second.endpoint], NEVER);
    for (let i = 0; i < 10; i++) expect(await ask()).toMatchObject({ rcode: 0 });
  });

  it('asks an upstream that is down last', async () => {
    const silent = await silentUpstream();
    const second = await upstream((query) => respond(query));
    const { nowMs, skip } = skippedClock();
    const options = { ...HASTY, nowMs };
    const { subject, ask } = forwarder([silent.endpoint, second.endpoint], options);
    await expect
      .poll(() => {
        skip(50);
        return subject.upstreams[0].health.isDown;
      })
      .toBe(true);
    for (let i = 0; i < 10; i++) expect(await ask()).toMatchObject({ rcode: 0 });
    expect(silent.asked).toHaveLength(0);
  });

  it('asks the fastest upstream, and probes measure the others', async () => {
    const gate = Promise.withResolvers<undefined>();
    const slow = await upstream((query) => respond(query));
    slow.answerProbe = async (query) => {
      await gate.promise;
      return respond(query);
    };
    const fast = await upstream((query) => respond(query));
    const { nowMs, skip } = skippedClock();
    const { subject, ask } = forwarder([slow.endpoint, fast.endpoint], {
      nowMs,
      attemptTimeoutMs: 1_000,
      queryTimeoutMs: 3_000,
    });
    const [first, second] = subject.upstreams;
    await expect.poll(() => [slow.probes.length, countsOf(second).probeAnswers]).toEqual([1, 1]);
    skip(300);
    gate.resolve(undefined);
    await expect.poll(() => first.latencyMs).toBe(300);
    for (let i = 0; i < 6; i++) await ask();
    expect(slow.asked).toHaveLength(0);
    // Now it answers as fast as the other.
    await expect
      .poll(() => {
        if (!first.health.hasOpenProbe && !second.health.hasOpenProbe) skip(5_000);
        return first.latencyMs;
      })
      .toBeLessThan(20);
    expect(slow.asked).toHaveLength(0);
    expect((await ask()) && slow.asked).toHaveLength(1);
  });

  it('follows the configured order among upstreams of similar latency', async () => {
    let elapsedMs = 0;
    const first = await upstream((query) => {
      elapsedMs += 20;
      return respond(query);
    });
    const second = await upstream((query) => respond(query));
    const { ask, subject } = forwarder([first.endpoint, second.endpoint], {
      nowMs: () => elapsedMs,
    });
    await probed(subject);
    for (let i = 0; i < 10; i++) await ask();
    expect(second.asked).toHaveLength(0);
  });

  it('accepts a late answer of the first upstream after the second was asked', async () => {
    const late = await upstream(() => null);
    const silent = await upstream(() => null);
    const { nowMs, skip } = skippedClock();
    const { ask } = forwarder([late.endpoint, silent.endpoint], { ...HASTY, nowMs });
    const outcome = ask();
    await expect.poll(() => late.asked.length).toBe(1);
    skip(100);
    await expect.poll(() => silent.asked.length).toBe(1);
    const [query] = late.asked;
    late.sendTo(respond(query, { answers: [a('192.0.2.9')] }), query.from!);
    expect(await outcome).toMatchObject({ answers: [{ type: 1 }] });
  });

  it('fails once, after the query timeout, when no upstream answers', async () => {
    const silent = await upstream(() => null);
    const { nowMs, skip } = skippedClock();
    const { subject, ask, outcomes } = forwarder([silent.endpoint], {
      nowMs,
      attemptTimeoutMs: 200,
      queryTimeoutMs: 2_000,
    });
    const outcome = ask();
    for (const attempt of [1, 2, 3]) {
      await expect.poll(() => silent.asked.length).toBe(attempt);
      if (attempt < 3) skip(200);
    }
    skip(1_599);
    await sleep(100);
    expect(outcomes).toEqual([]);
    skip(1);
    expect(await outcome).toEqual(SILENCE);
    expect(silent.asked).toHaveLength(3);
    for (const query of silent.asked) silent.sendTo(respond(query), query.from!);
    await expect.poll(() => countsOf(subject.upstreams[0]).late).toBe(3);
    expect(outcomes).toEqual([SILENCE]);
  });

  it('fails at once when no upstream can be reached', async () => {
    const { ask } = forwarder([await deadEndpoint()], NEVER);
    expect(await ask()).toEqual(UNREACHABLE);
  });

  it('accepts only the answer to its question (RFC 5452 §9.1)', async () => {
    const server = await upstream((query) => {
      const forged = respond(query, { answers: [a('192.0.2.66')] });
      const other = { qname: wireName('www.example.net'), qtype: 1 };
      return [
        forged.with(0, forged[0] ^ 0xff), // another id
        respond(query, { questions: [other], answers: [a('192.0.2.66')] }),
        forged.with(2, 0x01), // no reply
        forged.slice(0, -1), // cut
        Uint8Array.of(1, 2, 3),
        respond(query, { answers: [a('192.0.2.1')] }),
      ];
    });
    const { subject, ask } = forwarder([server.endpoint]);
    const outcome = await ask();
    expect(outcome).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 1]) }] });
    expect(countsOf(subject.upstreams[0]).strays).toBe(5);
  });

  it('accepts packets only from the upstream that it asked', async () => {
    const attacker = await udpClient();
    const server = await upstream((query) => {
      attacker.send(
        respond(query, { answers: [a('192.0.2.66')] }),
        query.from!.port,
        query.from!.address,
      );
      setTimeout(() => {
        server.sendTo(respond(query, { answers: [a('192.0.2.1')] }), query.from!);
      }, 30);
      return null;
    });
    const { ask } = forwarder([server.endpoint]);
    expect(await ask()).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 1]) }] });
  });

  it('asks again over TCP when the answer is truncated', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => txt(`${i}`.padEnd(60, '.')));
    const server = await upstream((query) =>
      query.transport === 'udp'
        ? respond(query, { flags: 0x8380 })
        : respond(query, { answers: texts }),
    );
    const { subject, ask } = forwarder([server.endpoint]);
    const outcome = await ask('www.example.com', 16);
    expect(outcome).toMatchObject({ flags: 0x8180 });
    expect((outcome as DecodedMessage).answers).toHaveLength(40);
    expect(server.asked.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
    expect(countsOf(subject.upstreams[0]).overTcp).toBe(1);
    for (let i = 0; i < 3; i++) await ask(`n${i}.example.com`, 16);
    expect(server.connectionCount).toBe(1);
  });

  it('asks again over TCP when the truncated answer ends within a record', async () => {
    const answers = [a('192.0.2.1'), a('192.0.2.2')];
    const server = await upstream((query) =>
      query.transport === 'udp'
        ? respond(query, { flags: 0x8380, answers }).subarray(0, 60)
        : respond(query, { answers }),
    );
    const { subject, ask } = forwarder([server.endpoint], NEVER);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }, { type: 1 }] });
    expect(server.asked.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ overTcp: 1, strays: 0 });
  });

  it('asks the next upstream when TCP fails', async () => {
    const server = await upstream((query) =>
      query.transport === 'udp' ? respond(query, { flags: 0x8380 }) : Uint8Array.of(0),
    );
    const second = await upstream((query) => respond(query, { answers: [a('192.0.2.2')] }));
    const { ask } = forwarder([server.endpoint, second.endpoint], NEVER);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(server.asked.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
  });

  it('ignores a TCP answer that comes after the answer of another upstream', async () => {
    const late = await upstream(() => null);
    const gate = Promise.withResolvers<undefined>();
    let overTcp = 0;
    const truncating = await upstream(async (query) => {
      if (query.transport === 'udp') return respond(query, { flags: 0x8380 });
      overTcp++;
      await gate.promise;
      return respond(query, { answers: [a('192.0.2.2')] });
    });
    const { nowMs, skip } = skippedClock();
    const { subject, ask, outcomes } = forwarder([late.endpoint, truncating.endpoint], {
      nowMs,
      attemptTimeoutMs: 100,
      queryTimeoutMs: 1_000,
    });
    await probed(subject);
    const first = ask();
    await expect.poll(() => late.asked.length).toBe(1);
    skip(100);
    await expect.poll(() => overTcp).toBe(1);
    const [query] = late.asked;
    late.sendTo(respond(query, { answers: [a('192.0.2.1')] }), query.from!);
    expect(await first).toMatchObject({ answers: [{ rdata: Buffer.from([192, 0, 2, 1]) }] });
    // The other is the faster one now.
    const second = ask('second.example.com');
    await expect.poll(() => overTcp).toBe(2);
    gate.resolve(undefined);
    expect(await second).toMatchObject({ questions: [{ qname: 'second.example.com' }] });
    expect(outcomes).toHaveLength(2);
    expect(subject.inFlight).toBe(0);
  });

  it('does not treat an EDNS error as an answer about the name', async () => {
    const odd = await upstream((query) =>
      respond(query, {
        additionals: [{ owner: Uint8Array.of(0), type: 41, class: 1232, ttl: 0x0100_0000 }],
      }),
    );
    const second = await upstream((query) => respond(query, { answers: [a('192.0.2.2')] }));
    const { ask } = forwarder([odd.endpoint, second.endpoint]);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
  });

  it('rejects queries when too many are in flight, and accepts them again later', async () => {
    const silent = await upstream(() => null);
    const { totals, ask, tryAsk } = forwarder([silent.endpoint], { ...HASTY, capacity: 2 });
    const first = [ask('a.example.com'), ask('b.example.com')];
    expect(tryAsk('www.example.com', 1)).toBe(false);
    expect(totals()).toMatchObject({ overloads: 1, inFlight: 2 });
    await Promise.all(first);
    expect(tryAsk('www.example.com', 1)).not.toBe(false);
  });

  it('asks a question once for several clients, and answers each in its own case', async () => {
    let release: () => void = () => undefined;
    const server = await upstream(
      (query) =>
        new Promise((resolve) => {
          release = () => {
            resolve(respond(query, { answers: [a('192.0.2.1')] }));
          };
        }),
    );
    const { totals, ask, outcomes, settled } = forwarder([server.endpoint]);
    const all = [ask('www.example.com'), ask('WWW.example.com'), ask('www.Example.com')];
    const others = [ask('www.example.com', 28), ask('www.example.net')];
    await expect.poll(() => server.asked.length).toBe(3);
    expect(totals()).toMatchObject({ inFlight: 3, waiting: 5, coalesced: 2 });
    server.answer = (query) => respond(query, { answers: [a('192.0.2.2')] });
    expect(server.asked.map(({ message }) => message.questions[0].qname)).toEqual([
      'www.example.com',
      'www.example.com',
      'www.example.net',
    ]);
    for (const query of server.asked) server.sendTo(respond(query), query.from!);
    release();
    await Promise.all([...all, ...others]);
    expect(outcomes).toHaveLength(5);
    expect(settled).toHaveLength(3);
    expect(totals()).toMatchObject({ inFlight: 0, waiting: 0 });
    // And again, once the question is completed.
    await ask('www.example.com');
    expect(server.asked).toHaveLength(4);
  });

  it('answers all waiting clients when no upstream answers', async () => {
    const silent = await upstream(() => null);
    const { ask, settled } = forwarder([silent.endpoint], HASTY);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([SILENCE, SILENCE, SILENCE]);
    expect(settled).toEqual([SILENCE]);
    // One after the other, for all clients together: a busy machine gets to fewer within the time.
    expect(silent.asked.length).toBeLessThanOrEqual(3);
  });

  it('rejects clients when too many wait for the same question', async () => {
    const silent = await upstream(() => null);
    const { totals, ask, tryAsk } = forwarder([silent.endpoint], {
      ...HASTY,
      waitingCapacity: 1,
    });
    const first = [ask(), ask()];
    expect(tryAsk('www.example.com', 1)).toBe(false);
    expect(totals()).toMatchObject({ overloads: 1, waiting: 2 });
    expect(await Promise.all(first)).toEqual([SILENCE, SILENCE]);
    expect(tryAsk('www.example.com', 1)).not.toBe(false);
  });

  it('refreshes without a client, and lets a client join the refresh', async () => {
    const server = await upstream((query) => respond(query, { answers: [a('192.0.2.1')] }));
    const { subject, ask, outcomes, settled, exchangeOf } = forwarder([server.endpoint]);
    const refresh = (name: string) => {
      const exchange = exchangeOf(name);
      return subject.refresh(exchange, exchange);
    };
    expect(refresh('www.example.com')).toBe(true);
    expect(refresh('www.example.com')).toBe(false);
    expect(subject.waiting).toBe(0);
    await expect.poll(() => settled.length).toBe(1);
    expect(outcomes).toEqual([]);
    expect(refresh('www.example.com')).toBe(true);
    expect(await ask('www.example.com')).toMatchObject({ answers: [{ type: 1 }] });
    expect(settled).toHaveLength(2);
    expect(server.asked).toHaveLength(2);
  });

  it('asks anew after a flush of the cache; clients from before it get the earlier answer', async () => {
    const server = await upstream(() => null);
    let generation = 7;
    const { subject, ask, totals, settled, generations, exchangeOf } = forwarder(
      [server.endpoint],
      { ...NEVER, generation: () => generation },
    );
    const before = [ask(), ask()];
    await expect.poll(() => server.asked.length).toBe(1);
    generation++;
    const after = [ask(), ask()];
    await expect.poll(() => server.asked.length).toBe(2);
    expect(totals()).toMatchObject({ inFlight: 2, waiting: 4, coalesced: 2 });
    const exchange = exchangeOf('www.Example.com');
    expect(subject.refresh(exchange, exchange)).toBe(false);
    for (const [i, query] of server.asked.entries()) {
      server.sendTo(respond(query, { answers: [a(`192.0.2.${i}`)] }), query.from!);
    }
    const withAddress = (last: number) => ({
      answers: [{ rdata: Buffer.from([192, 0, 2, last]) }],
    });
    expect(await Promise.all(before)).toMatchObject([withAddress(0), withAddress(0)]);
    expect(await Promise.all(after)).toMatchObject([withAddress(1), withAddress(1)]);
    expect(settled).toHaveLength(2);
    expect(generations).toEqual([7, 8]);
    expect(totals()).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it('refreshes anew after a flush, and does not call a question of before it late', async () => {
    const server = await upstream(() => null);
    const { nowMs, skip } = skippedClock();
    let generation = 0;
    const { subject, exchangeOf } = forwarder([server.endpoint], {
      ...NEVER,
      nowMs,
      generation: () => generation,
      staleAfterMs: 100,
    });
    const exchange = exchangeOf('www.example.com');
    expect(subject.refresh(exchange, exchange)).toBe(true);
    skip(100);
    expect(subject.isStaleDue(exchange)).toBe(true);
    generation++;
    expect(subject.isStaleDue(exchange)).toBe(false);
    expect(subject.refresh(exchange, exchange)).toBe(true);
    expect(subject.inFlight).toBe(2);
  });

  it('sends and receives when its owner says so, where that has the sockets in a poller', async () => {
    const server = await silentUpstream();
    const poller = new SocketPoller(loadSystemCalls());
    onTestFinished(() => {
      poller.close();
    });
    const { subject, ask } = forwarder([server.endpoint, server.endpoint], { ...NEVER, poller });
    const outcomes = Promise.all([ask('one.example.com'), ask('two.example.com')]);
    await sleep(50);
    expect(server.asked).toEqual([]);
    subject.flush();
    await expect.poll(() => server.asked.length).toBe(2);
    for (const query of server.asked) server.sendTo(respond(query), query.from!);
    await sleep(50);
    expect(subject.inFlight).toBe(2);
    const ready = Array.from({ length: poller.wait(0) }, (_, i) => poller.fdAt(i));
    expect(ready.map((fd) => subject.receive(fd)).reduce((sum, count) => sum + count)).toBe(2);
    expect(await outcomes).toHaveLength(2);
    expect(subject.inFlight).toBe(0);
    subject.close();
    expect(ready.map((fd) => subject.receive(fd))).toEqual(ready.map(() => 0));
  });

  it('reports when all upstreams are down', async () => {
    const silent = await silentUpstream();
    const { subject, ask } = forwarder([silent.endpoint], {
      ...HASTY,
      queryTimeoutMs: 60_000,
    });
    expect(subject.allDown).toBe(false);
    await expect.poll(() => subject.allDown).toBe(true);
    silent.answer = (query) => respond(query);
    await ask();
    expect(subject.allDown).toBe(false);
  });

  it('gives every client its own answer under load', async () => {
    const server = await upstream((query) => respond(query, { answers: [a('192.0.2.1')] }));
    const { ask } = forwarder([server.endpoint]);
    const names = Array.from({ length: 200 }, (_, i) => `n${i}.example.com`);
    const outcomes = await Promise.all(names.map((name) => ask(name)));
    expect(outcomes.map((outcome) => (outcome as DecodedMessage).questions[0].qname)).toEqual(
      names,
    );
  });
});
