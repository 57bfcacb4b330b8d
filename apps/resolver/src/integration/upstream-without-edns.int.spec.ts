import { encodeMessage, wireName } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { countsOf, forwarder, NEVER, upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { skippedClock } from '../testing/test-clock.js';
import type { Answerer, AskedQuery } from '../testing/upstream-server.js';

const hasEdns = ({ message }: AskedQuery): boolean => message.additionals.length > 0;
const asked = (query: AskedQuery): string => `${query.transport}${hasEdns(query) ? '+edns' : ''}`;
const header = ({ message }: AskedQuery, rcode: number): Uint8Array =>
  encodeMessage({ id: message.id, flags: 0x8180 | rcode });

/** An old server: it does not understand a query with EDNS. */
const old =
  (rcode: number): Answerer =>
  (query) =>
    hasEdns(query)
      ? header(query, rcode)
      : respond(query, { answers: [a('192.0.2.1')], additionals: [] });

describe('an upstream that answers EDNS queries with a header only', () => {
  it.each([1, 4])('(RCODE %i) is asked again without EDNS, at once', async (rcode) => {
    const server = await upstream(old(rcode));
    const { ask, subject } = forwarder([server.endpoint], NEVER);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(server.asked.map(asked)).toEqual(['udp+edns', 'tcp+edns', 'tcp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ strays: 0, errors: 0, failures: 0 });
  });

  it('is asked without EDNS for a while, then with it again', async () => {
    const server = await upstream(old(1));
    const { nowMs, skip } = skippedClock();
    const { ask } = forwarder([server.endpoint], {
      nowMs,
    });
    for (let i = 0; i < 3; i++) await ask(`n${i}.example.com`);
    expect(server.asked.map(asked)).toEqual(['udp+edns', 'tcp+edns', 'tcp', 'udp', 'udp']);
    skip(301_000);
    await ask('last.example.com');
    expect(server.asked.map(asked).slice(5)).toEqual(['udp+edns', 'tcp+edns', 'tcp']);
  });

  it('is asked without EDNS over TCP too', async () => {
    const server = await upstream((query) => {
      if (hasEdns(query)) return header(query, 1);
      const isTruncated = query.transport === 'udp';
      const answers = isTruncated ? [] : [a('192.0.2.1')];
      return respond(query, { flags: isTruncated ? 0x8380 : 0x8180, answers, additionals: [] });
    });
    const { ask } = forwarder([server.endpoint]);
    await ask();
    expect(await ask('other.example.com')).toMatchObject({ answers: [{ type: 1 }] });
    expect(server.asked.map(asked).slice(3)).toEqual(['udp', 'tcp']);
  });

  it('has answered with an error when it does so without EDNS too', async () => {
    const server = await upstream((query) => header(query, 4));
    const { ask, subject } = forwarder([server.endpoint]);
    expect(await ask()).toEqual({ rcode: 4, ede: -1 });
    expect(server.asked.map(asked)).toEqual(['udp+edns', 'tcp+edns', 'tcp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ errors: 1, strays: 0 });
    // Without EDNS it is believed over TCP only, too.
    expect(await ask('other.example.com')).toEqual({ rcode: 4, ede: -1 });
    expect(server.asked.map(asked).slice(3)).toEqual(['udp', 'tcp']);
  });
});

it.each([2, 5])(
  'an upstream that answers with a header only (RCODE %i) has answered',
  async (rcode) => {
    const server = await upstream((query) => header(query, rcode));
    const { ask, subject } = forwarder([server.endpoint], NEVER);
    expect(await ask()).toMatchObject({ rcode });
    expect(await ask('other.example.com')).toMatchObject({ rcode });
    // Anybody could send that over UDP. EDNS stays.
    const each = ['udp+edns', 'tcp+edns'];
    expect(server.asked.map(asked)).toEqual([...each, ...each]);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ errors: 2, strays: 0, failures: 0 });
  },
);

it.each([1, 4])(
  'an upstream that answers EDNS queries with RCODE %i, the question and no OPT is asked again without EDNS',
  async (rcode) => {
    const server = await upstream((query) =>
      respond(
        query,
        hasEdns(query)
          ? { flags: 0x8180 | rcode, additionals: [] }
          : { answers: [a('192.0.2.1')], additionals: [] },
      ),
    );
    const { ask, subject } = forwarder([server.endpoint], NEVER);
    expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
    expect(await ask('other.example.com')).toMatchObject({ answers: [{ type: 1 }] });
    // It may be about this name alone, so others are asked with EDNS.
    expect(server.asked.map(asked)).toEqual(['udp+edns', 'udp', 'udp+edns', 'udp']);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ errors: 0, failures: 0, suspects: 0 });
  },
);

it('an upstream that refuses a question with and without EDNS is asked with EDNS again', async () => {
  const server = await upstream((query) => respond(query, { flags: 0x8184, additionals: [] }));
  const { ask } = forwarder([server.endpoint], NEVER);
  for (const name of ['a.example.com', 'b.example.com']) {
    expect(await ask(name)).toMatchObject({ rcode: 4 });
  }
  expect(server.asked.map(asked)).toEqual(['udp+edns', 'udp', 'udp+edns', 'udp']);
});

it('an upstream that does so over TCP is asked again over TCP', async () => {
  const server = await upstream((query) => {
    if (query.transport === 'udp') return respond(query, { flags: 0x8380 });
    return respond(
      query,
      hasEdns(query)
        ? { flags: 0x8181, additionals: [] }
        : { answers: [a('192.0.2.1')], additionals: [] },
    );
  });
  const { ask } = forwarder([server.endpoint], NEVER);
  expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
  expect(server.asked.map(asked)).toEqual(['udp+edns', 'tcp+edns', 'tcp']);
});

it('the same error with an OPT record is the answer', async () => {
  const server = await upstream((query) => respond(query, { flags: 0x8184 }));
  const { ask } = forwarder([server.endpoint], NEVER);
  expect(await ask()).toMatchObject({ rcode: 4 });
  expect(server.asked.map(asked)).toEqual(['udp+edns']);
});

describe('a forged header with FORMERR, which needs the port and the id, but no name,', () => {
  it.each([true, false])(
    'does not take EDNS from an upstream (cookies: %s)',
    async (hasCookies) => {
      const server = await upstream((query) => {
        const answer = respond(query, { answers: [a('192.0.2.1')] });
        return query.transport === 'udp' ? [header(query, 1), answer] : answer;
      });
      const { ask, subject } = forwarder([server.endpoint], { hasCookies });
      for (const name of ['a.example.com', 'b.example.com', 'c.example.com']) {
        expect(await ask(name)).toMatchObject({ answers: [{ type: 1 }] });
      }
      expect(server.asked.every(hasEdns)).toBe(true);
      expect(server.asked.filter(({ transport }) => transport === 'tcp')).toHaveLength(3);
      expect(countsOf(subject.upstreams[0])).toMatchObject({ suspects: 3, errors: 0, failures: 0 });
    },
  );

  it('is no answer of an upstream without EDNS', async () => {
    let isForged = false;
    const server = await upstream((query) => {
      const plain = respond(query, { answers: [a('192.0.2.1')], additionals: [] });
      if (hasEdns(query)) return header(query, 1);
      return isForged && query.transport === 'udp' ? [header(query, 1), plain] : plain;
    });
    const { ask } = forwarder([server.endpoint]);
    await ask();
    isForged = true;
    expect(await ask('other.example.com')).toMatchObject({ answers: [{ type: 1 }] });
  });

  it('is not believed when TCP brings nothing', async () => {
    const server = await upstream((query) => (query.transport === 'udp' ? header(query, 1) : null));
    const { ask } = forwarder([server.endpoint], {
      attemptTimeoutMs: 100,
      queryTimeoutMs: 500,
    });
    expect(await ask()).toMatchObject({ rcode: 2 });
    expect(server.asked.every(hasEdns)).toBe(true);
  });
});

it('a header with another id, and a reply to another question, are still strays', async () => {
  const other = { qname: wireName('www.example.net'), qtype: 1 };
  const server = await upstream((query) => [
    header(query, 1).with(0, (query.message.id >> 8) ^ 0xff),
    respond(query, { flags: 0x8181, questions: [other] }),
    respond(query, { answers: [a('192.0.2.1')] }),
  ]);
  const { ask, subject } = forwarder([server.endpoint]);
  expect(await ask()).toMatchObject({ answers: [{ type: 1 }] });
  expect(countsOf(subject.upstreams[0]).strays).toBe(2);
  expect(server.asked).toHaveLength(1);
});
