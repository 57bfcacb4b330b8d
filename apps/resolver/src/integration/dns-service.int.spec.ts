import {
  concat,
  decodeMessage,
  encodeMessage,
  encodeQuery,
  hexOf,
  opt,
  pointerTo,
  wireName,
  type DecodedMessage,
} from '@weir/dns-wire/testing';
import type { PutOperation } from '@weir/config-model';
import { parseCidrs } from '@weir/ops';
import type { Policy } from '@weir/policy';
import { domainRule, loopback, policyOf, profile, put } from '@weir/policy-feed/testing';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { a, cname, https, txt } from '../query/testing/records.js';
import { askOneTcp, askTcp, askUdp, type Server } from '../testing/client.js';
import { LOCAL_ZONES } from '@weir/policy/answers';
import { NEVER } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { createService, type TestServiceOptions } from '../testing/service.js';
import { SharedSource } from '../testing/shared-source.js';
import { TestClock } from '../testing/test-clock.js';
import { frame, UpstreamServer } from '../testing/upstream-server.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

let upstream: UpstreamServer;
beforeEach(async () => {
  upstream = await UpstreamServer.start((query) => respond(query, { answers: [a('192.0.2.1')] }));
  cleanups.push(() => upstream.stop());
});

type Ask = (
  name: string,
  qtype?: number,
  options?: Parameters<typeof encodeQuery>[2],
) => Promise<DecodedMessage>;

describe('the DNS service', () => {
  /** A service with a policy, and ways to query it; by default over UDP with EDNS. */
  async function serve(
    policy: Policy | null,
    configuration: Partial<DnsConfiguration> = {},
    options: Partial<TestServiceOptions> = {},
    source = new SharedSource(policy),
  ) {
    const service = createService(configuration, {
      upstreams: [upstream.endpoint],
      source,
      ...options,
    });
    const server: Server = await service.start();
    cleanups.push(() => service.stop());
    const send = async (packet: Uint8Array, transport: 'udp' | 'tcp' = 'udp') => {
      const answer = await (transport === 'udp' ? askUdp : askOneTcp)(server, packet);
      if (answer === null) throw new Error('no answer');
      const message = decodeMessage(answer);
      expect(message.trailing).toBe(0);
      return message;
    };
    const ask: Ask = (name, qtype = 1, asked = { udpBytes: 1232 }) =>
      send(encodeQuery(name, qtype, asked));
    const askTcp: Ask = (name, qtype = 1, asked = { udpBytes: 1232 }) =>
      send(encodeQuery(name, qtype, asked), 'tcp');
    return { service, source, server, send, ask, askTcp };
  }

  const blocking = (...more: PutOperation[]) =>
    policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'), ...more);

  const rdata = ({ answers }: DecodedMessage) => answers.map((record) => hexOf(record.rdata));

  describe('a blocked name', () => {
    it('and its subdomains lead to the block page, over UDP and TCP, without an upstream query', async () => {
      const { ask, askTcp } = await serve(blocking());
      for (const how of [ask, askTcp]) {
        const answer = await how('www.Blocked.example');
        expect(answer).toMatchObject({ flags: 0x8180, rcode: 0, ede: [17] });
        expect(answer.questions).toEqual([{ qname: 'www.Blocked.example', qtype: 1, qclass: 1 }]);
        expect(answer.answers).toMatchObject([{ owner: 'www.Blocked.example', type: 1, ttl: 10 }]);
        expect(rdata(answer)).toEqual(['c0000250']);
        expect(rdata(await how('blocked.example', 28))).toEqual([
          '20010db8000000000000000000000080',
        ]);
      }
      expect(upstream.asked).toHaveLength(0);
    });

    it.each([65, 64, 16, 15, 255])(
      'has an SOA record instead of records of type %i',
      async (qtype) => {
        const { ask } = await serve(blocking());
        expect(await ask('blocked.example', qtype)).toMatchObject({
          rcode: 0,
          answers: [],
          authorities: [{ type: 6, ttl: 10 }],
          ede: [17],
        });
      },
    );

    it('has no OPT record for a query without one', async () => {
      const { ask } = await serve(blocking());
      expect(await ask('blocked.example', 1, {})).toMatchObject({ additionals: [] });
    });

    it('leads to the page of the profile, and to no address in a family that the page lacks', async () => {
      const { ask } = await serve(
        policyOf(
          put('blockPage', { id: 7, type: 1 }),
          profile(1, { pageId: 7, whiteListOnly: true }),
          loopback(1),
        ),
      );
      expect(rdata(await ask('www.example.com'))).toEqual(['c0000207']);
      expect(rdata(await ask('www.example.com', 28))).toEqual([]);
    });

    it('is empty when the profile wants empty answers', async () => {
      const { ask } = await serve(
        policyOf(profile(1, { whiteListOnly: true, emptyDnsAnswer: true }), loopback(1)),
      );
      expect(await ask('www.example.com')).toMatchObject({ rcode: 0, answers: [], ede: [17] });
    });

    it('is blocked also when RD is not set', async () => {
      const { ask } = await serve(blocking());
      const answer = await ask('blocked.example', 1, { flags: 0 });
      expect(answer).toMatchObject({ flags: 0x8080, answers: [{ type: 1 }] });
    });

    it('is blocked from the next query after a change, and permitted again after the next change', async () => {
      const { ask, source } = await serve(policyOf(profile(1), loopback(1)));
      expect(rdata(await ask('blocked.example'))).toEqual(['c0000201']);
      source.policy = blocking();
      expect(rdata(await ask('blocked.example'))).toEqual(['c0000250']);
      source.policy = policyOf(profile(1), loopback(1));
      expect(rdata(await ask('blocked.example'))).toEqual(['c0000201']);
    });

    it('is blocked when the policy changed while the upstream query was in flight', async () => {
      const { ask, source } = await serve(policyOf(profile(1), loopback(1)));
      upstream.answer = (query) => {
        source.policy = blocking();
        return respond(query, { answers: [a('192.0.2.1')] });
      };
      expect(rdata(await ask('blocked.example'))).toEqual(['c0000250']);
    });
  });

  describe('a permitted name', () => {
    it('is answered by the upstream, with id, case, RD and CD of the client', async () => {
      const { ask } = await serve(blocking());
      const answer = await ask('wWw.eXample.Com', 1, { id: 0x7777, flags: 0x0110, udpBytes: 4096 });
      expect(answer).toMatchObject({
        id: 0x7777,
        flags: 0x8190,
        questions: [{ qname: 'wWw.eXample.Com' }],
        answers: [{ owner: 'wWw.eXample.Com', ttl: 300 }],
        opt: { class: 1232 },
        ede: [],
      });
      expect(upstream.asked[0].message.questions[0].qname).toBe('wWw.eXample.Com');
      expect(upstream.asked[0].message.id).not.toBe(0x7777);
    });

    it('keeps the case of the client even when the upstream does not', async () => {
      upstream.answer = (query) =>
        respond(query, {
          questions: [{ qname: wireName('www.example.com'), qtype: 1 }],
          answers: [a('192.0.2.1')],
        });
      const { ask } = await serve(blocking());
      expect(await ask('WWW.example.com')).toMatchObject({
        questions: [{ qname: 'WWW.example.com' }],
        answers: [{ owner: 'WWW.example.com' }],
      });
    });

    it('passes NXDOMAIN on', async () => {
      upstream.answer = (query) => respond(query, { flags: 0x8183 });
      const { ask } = await serve(blocking());
      expect(await ask('nothing.example')).toMatchObject({ rcode: 3, flags: 0x8183 });
    });

    const long = Array.from({ length: 12 }, (_, i) => txt(`${i}`.padEnd(70, '.')));

    it.each([
      [undefined, 'truncated'],
      [512, 'truncated'],
      [1232, 'whole'],
      [4096, 'whole'],
    ])('fits an answer of 1100 bytes to a client that takes %s: %s', async (udpBytes, expected) => {
      upstream.answer = (query) => respond(query, { answers: long });
      const { ask, askTcp } = await serve(blocking());
      const options = udpBytes === undefined ? {} : { udpBytes };
      const answer = await ask('www.example.com', 16, options);
      if (expected === 'whole') {
        expect(answer.answers).toHaveLength(12);
        return;
      }
      expect(answer).toMatchObject({ flags: 0x8380, answers: [] });
      expect(answer.opt !== undefined).toBe(udpBytes !== undefined);
      expect((await askTcp('www.example.com', 16, options)).answers).toHaveLength(12);
    });

    it('gets at most 1232 bytes over UDP, whatever size the client advertises', async () => {
      const many = Array.from({ length: 40 }, (_, i) => txt(`${i}`.padEnd(70, '.')));
      upstream.answer = (query) =>
        query.transport === 'udp'
          ? respond(query, { flags: 0x8380 })
          : respond(query, { answers: many });
      const { ask, askTcp } = await serve(blocking());
      const options = { udpBytes: 65535 };
      expect(await ask('www.example.com', 16, options)).toMatchObject({ flags: 0x8380 });
      expect((await askTcp('www.example.com', 16, options)).answers).toHaveLength(40);
    });

    it('gets the minimal answer for ANY (RFC 8482)', async () => {
      const { ask } = await serve(blocking());
      expect(await ask('www.example.com', 255)).toMatchObject({
        rcode: 0,
        answers: [{ type: 13 }],
      });
      expect(upstream.asked).toHaveLength(0);
    });

    it('is refused when RD is not set', async () => {
      const { ask } = await serve(blocking());
      const answer = await ask('www.example.com', 1, { flags: 0, udpBytes: 1232 });
      // Not Authoritative (RFC 8914 §4.21).
      expect(answer).toMatchObject({ rcode: 5, ede: [20] });
    });
  });

  describe('a special name', () => {
    const localSoa = { type: 6, ttl: 10_800 };

    it.each<[string, number, object]>([
      ['localhost', 1, { rcode: 0, answers: [{ type: 1, rdata: Buffer.from([127, 0, 0, 1]) }] }],
      ['x.localhost', 28, { rcode: 0, answers: [{ type: 28 }] }],
      [
        'localhost',
        15,
        { rcode: 0, answers: [], authorities: [{ ...localSoa, owner: 'localhost' }] },
      ],
      ['A.Test', 1, { rcode: 3, answers: [], authorities: [{ ...localSoa, owner: 'Test' }] }],
      [
        '4.3.2.10.in-addr.arpa',
        12,
        { rcode: 3, authorities: [{ ...localSoa, owner: '10.in-addr.arpa' }] },
      ],
      ['10.in-addr.arpa', 6, { rcode: 0, answers: [localSoa], authorities: [] }],
      ['10.in-addr.arpa', 2, { rcode: 0, answers: [{ type: 2, owner: '10.in-addr.arpa' }] }],
      ['10.in-addr.arpa', 12, { rcode: 0, answers: [], authorities: [localSoa] }],
      ['use-application-dns.net', 1, { rcode: 3, authorities: [localSoa] }],
      ['_dns.resolver.arpa', 64, { rcode: 0, answers: [], authorities: [localSoa] }],
      ['resolver.arpa', 6, { rcode: 0, answers: [localSoa], authorities: [] }],
      ['x.resolver.arpa', 1, { rcode: 0, answers: [], authorities: [localSoa] }],
    ])('%s, type %i, is answered here', async (name, qtype, expected) => {
      const { ask } = await serve(blocking());
      const answer = await ask(name, qtype);
      expect(answer).toMatchObject({ ...expected, ede: [], opt: { class: 1232 } });
      const plain = await ask(name, qtype, { flags: 0 });
      expect(plain).toMatchObject({ ...expected, flags: 0x8080 | answer.rcode, additionals: [] });
      expect(upstream.asked).toHaveLength(0);
    });

    it('has an SOA record with TTL and MINIMUM in every answer without records', async () => {
      const { ask } = await serve(blocking());
      for (const zone of LOCAL_ZONES.map(([name]) => name)) {
        for (const name of [zone, `x.${zone}`]) {
          for (const qtype of [1, 2, 16, 28, 65, 255]) {
            const { answers, authorities } = await ask(name, qtype);
            const isNegative = answers.length === 0;
            expect(authorities).toMatchObject(isNegative ? [{ ...localSoa, owner: zone }] : []);
            if (isNegative) expect(hexOf(authorities[0].rdata)).toMatch(/00002a30$/);
          }
        }
      }
      expect(upstream.asked).toHaveLength(0);
    });

    it.each([
      ['www.invalid', 3, 0],
      ['onion', 3, 0],
      ['4.3.2.10.in-addr.arpa', 3, 0],
      ['10.in-addr.arpa', 0, 1],
      ['localhost', 0, 1],
      ['_dns.resolver.arpa', 0, 0],
    ])(
      '%s gets RCODE %i and %i records for ANY: only what exists has any',
      async (name, rcode, count) => {
        const { ask } = await serve(blocking());
        const answer = await ask(name, 255);
        expect(answer).toMatchObject({ rcode, authorities: count === 0 ? [localSoa] : [] });
        expect(answer.answers).toHaveLength(count);
      },
    );

    it('that is a zone leaves its DS record to the parent zone, which the upstream is asked for', async () => {
      const { ask } = await serve(blocking(domainRule(1, 'deny', 'home.arpa')));
      const DS = 43;
      await ask('10.in-addr.arpa', DS);
      await ask('Resolver.arpa', DS);
      const askedNames = upstream.asked.map(({ message }) => message.questions[0].qname);
      expect(askedNames).toEqual(['10.in-addr.arpa', 'Resolver.arpa']);
      // Below the apex, and for names that are no zones, nothing changes; nor for the policy.
      expect(await ask('1.10.in-addr.arpa', DS)).toMatchObject({
        rcode: 3,
        authorities: [localSoa],
      });
      expect(await ask('onion', DS)).toMatchObject({ rcode: 3, authorities: [localSoa] });
      expect(await ask('localhost', DS)).toMatchObject({ rcode: 0, authorities: [localSoa] });
      expect(await ask('home.arpa', DS)).toMatchObject({ rcode: 0, ede: [17] });
      expect(await ask('10.in-addr.arpa', DS, { flags: 0 })).toMatchObject({ rcode: 5 });
      expect(upstream.asked).toHaveLength(2);
    });

    it('is forwarded when the variables disable it', async () => {
      const { ask } = await serve(blocking(), { LOCAL_ZONES: false });
      expect(rdata(await ask('www.test'))).toEqual(['c0000201']);
      expect(await ask('_dns.resolver.arpa', 64)).toMatchObject({ answers: [] });
      expect(upstream.asked).toHaveLength(1);
      const open = await serve(blocking(), { BLOCK_RESOLVER_DISCOVERY: false });
      expect(rdata(await open.ask('use-application-dns.net'))).toEqual(['c0000201']);
      expect(await open.ask('_dns.resolver.arpa', 64)).toMatchObject({ rcode: 0, answers: [] });
      expect(upstream.asked).toHaveLength(2);
    });

    it('is blocked or refused first when the policy says so', async () => {
      const { ask } = await serve(blocking(domainRule(1, 'deny', 'localhost')));
      expect(rdata(await ask('localhost'))).toEqual(['c0000250']);
      const refusing = await serve(policyOf());
      expect(await refusing.ask('localhost')).toMatchObject({ rcode: 5, authorities: [] });
    });
  });

  describe('a name by which clients look for another resolver', () => {
    const soa = { type: 6, ttl: 10_800 };

    it.each<[string, number, object]>([
      ['use-application-dns.net', 1, { rcode: 3, authorities: [soa] }],
      ['use-application-dns.net', 28, { rcode: 3, authorities: [soa] }],
      ['mask.icloud.com', 1, { rcode: 3, authorities: [soa] }],
      ['mask-h2.icloud.com', 65, { rcode: 3, authorities: [soa] }],
      ['_dns.resolver.arpa', 64, { rcode: 0, authorities: [soa] }],
    ])('%s, type %i, is denied whatever the profile says', async (name, qtype, expected) => {
      const policies = [
        blocking(domainRule(1, 'deny', name)),
        blocking(domainRule(1, 'allow', name)),
        policyOf(profile(1, { whiteListOnly: true }), loopback(1)),
        policyOf(profile(1, { whiteListOnly: true, emptyDnsAnswer: true }), loopback(1)),
      ];
      for (const policy of policies) {
        const { ask } = await serve(policy);
        expect(await ask(name, qtype)).toMatchObject({ ...expected, answers: [], ede: [] });
      }
      const refusing = await serve(policyOf());
      expect(await refusing.ask(name, qtype)).toMatchObject({ rcode: 5 });
      expect(upstream.asked).toHaveLength(0);
    });

    it('is a normal name when BLOCK_RESOLVER_DISCOVERY is off', async () => {
      const { ask } = await serve(blocking(domainRule(1, 'deny', 'mask.icloud.com')), {
        BLOCK_RESOLVER_DISCOVERY: false,
      });
      expect(rdata(await ask('mask.icloud.com'))).toEqual(['c0000250']);
      expect(rdata(await ask('mask-h2.icloud.com'))).toEqual(['c0000201']);
    });
  });

  describe('a block answer without records', () => {
    it('has an SOA record, so that clients cache it as long as the block page', async () => {
      const { ask } = await serve(blocking());
      const soa = { owner: 'www.blocked.example', type: 6, ttl: 10 };
      for (const qtype of [65, 16, 255]) {
        const answer = await ask('www.blocked.example', qtype);
        expect(answer).toMatchObject({ rcode: 0, answers: [], authorities: [soa], ede: [17] });
        // Its last four bytes are MINIMUM (RFC 2308 §5).
        expect(
          answer.authorities[0].rdata.readUInt32BE(answer.authorities[0].rdata.length - 4),
        ).toBe(10);
      }
      const silent = await serve(
        policyOf(profile(1, { emptyDnsAnswer: true, whiteListOnly: true }), loopback(1)),
      );
      expect(await silent.ask('www.example.com')).toMatchObject({
        answers: [],
        authorities: [{ ttl: 10 }],
      });
    });
  });

  describe('the targets of an answer', () => {
    const chain = [
      cname('edge.example.net'),
      cname('tracker.blocked.example', 300, wireName('edge.example.net')),
      a('192.0.2.1', 300, wireName('tracker.blocked.example')),
    ];

    it('block the answer when one of them is blocked', async () => {
      upstream.answer = (query) => respond(query, { answers: chain });
      const { ask } = await serve(blocking());
      const answer = await ask('www.example.com');
      expect(answer).toMatchObject({ ede: [17], answers: [{ owner: 'www.example.com', type: 1 }] });
      expect(rdata(answer)).toEqual(['c0000250']);
    });

    it('are not inspected when INSPECT_CNAME is off', async () => {
      upstream.answer = (query) => respond(query, { answers: chain });
      const { ask } = await serve(blocking(), { INSPECT_CNAME: false });
      expect((await ask('www.example.com')).answers).toHaveLength(3);
    });

    it('are not inspected when the queried name is allowed explicitly', async () => {
      upstream.answer = (query) => respond(query, { answers: chain });
      const { ask } = await serve(blocking(domainRule(1, 'allow', 'example.com')));
      expect((await ask('www.example.com')).answers).toHaveLength(3);
      const strict = await serve(
        policyOf(
          profile(1, { whiteListOnly: true }),
          loopback(1),
          domainRule(1, 'allow', 'example.com'),
        ),
      );
      expect((await strict.ask('www.example.com')).answers).toHaveLength(3);
    });

    it('are all inspected: an allowed target does not permit a later one', async () => {
      upstream.answer = (query) => respond(query, { answers: chain });
      const { ask } = await serve(blocking(domainRule(1, 'allow', 'edge.example.net')));
      expect(rdata(await ask('www.example.com'))).toEqual(['c0000250']);
    });

    it.each([0, 1])('are inspected in HTTPS records too (priority %i)', async (priority) => {
      upstream.answer = (query) =>
        respond(query, { answers: [https(priority, 'svc.blocked.example')] });
      const { ask } = await serve(blocking());
      expect(await ask('www.example.com', 65)).toMatchObject({ answers: [], ede: [17] });
    });

    it('are ignored when they are the owner itself', async () => {
      upstream.answer = (query) => respond(query, { answers: [https(1, '.')] });
      const { ask } = await serve(blocking());
      expect((await ask('www.example.com', 65)).answers).toHaveLength(1);
    });

    it('are not inspected for a client without a profile', async () => {
      upstream.answer = (query) => respond(query, { answers: chain });
      const allowed = { DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']) };
      const { ask } = await serve(policyOf(), allowed);
      expect((await ask('www.example.com')).answers).toHaveLength(3);
    });

    it.each<[number, object]>([
      [32, { rcode: 0, ede: [] }],
      [33, { rcode: 2, ede: [0], answers: [] }],
    ])('are at most 32 in one answer: %i (decisions §13)', async (count, expected) => {
      const answers = Array.from({ length: count }, (_, i) => https(1, `t${i}.example.net`));
      upstream.answer = (query) =>
        respond(query, {
          answers: query.transport === 'udp' ? [] : answers,
          flags: query.transport === 'udp' ? 0x8380 : 0x8180,
        });
      const { askTcp } = await serve(blocking());
      expect(await askTcp('www.example.com', 65)).toMatchObject(expected);
      expect(await askTcp('www.example.com', 65)).toMatchObject(expected);
    });

    it('turn the answer into SERVFAIL when they are malformed', async () => {
      upstream.answer = (query) =>
        respond(query, { answers: [{ ...cname('x.example'), rdata: pointerTo(4000) }] });
      const { ask } = await serve(blocking());
      expect(await ask('www.example.com')).toMatchObject({ rcode: 2 });
    });
  });

  describe('a client', () => {
    it('without a profile is refused unless it is allowed', async () => {
      const refusing = await serve(policyOf());
      // Prohibited (RFC 8914 §4.19).
      expect(await refusing.ask('www.example.com')).toMatchObject({
        rcode: 5,
        answers: [],
        ede: [18],
      });
      expect(await refusing.askTcp('www.example.com', 255)).toMatchObject({ rcode: 5 });
      const allowing = await serve(policyOf(), {
        DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']),
      });
      expect(await allowing.ask('www.example.com')).toMatchObject({
        rcode: 0,
        answers: [{ type: 1 }],
      });
    });

    it('with a profile is served wherever it comes from', async () => {
      const { ask } = await serve(blocking());
      expect(await ask('www.example.com')).toMatchObject({ rcode: 0, answers: [{ type: 1 }] });
    });

    it('is identified by its source port behind a shared address', async () => {
      const napt = (lowerPort: number, upperPort: number, profileId: number) =>
        put('naptAssignment', { address: 0x7f00_0001, lowerPort, upperPort, profileId });
      const strict = profile(2, { whiteListOnly: true });
      const all = await serve(policyOf(profile(1), strict, loopback(1), napt(0, 65535, 2)));
      expect(rdata(await all.ask('www.example.com'))).toEqual(['c0000250']);
      expect(rdata(await all.askTcp('www.example.com'))).toEqual(['c0000250']);
      const none = await serve(policyOf(profile(1), strict, loopback(1), napt(0, 0, 2)));
      expect(rdata(await none.ask('www.example.com'))).toEqual(['c0000201']);
    });

    it('is identified over IPv6', async () => {
      const network = put('ipv6Network', {
        address: [0, 0, 0, 1],
        prefixLength: 128,
        profileId: 1,
      });
      const { ask } = await serve(policyOf(profile(1, { whiteListOnly: true }), network), {
        DNS_HOST: ['::1'],
      });
      expect(rdata(await ask('www.example.com'))).toEqual(['c0000250']);
    });
  });

  describe('a client over its limits', () => {
    const at = (seconds: number) => ({
      times: new TestClock({ monotonicMs: seconds * 1000 }).times,
    });
    const silent = async (server: Server, packet: Uint8Array) =>
      (await askUdp(server, packet, 150)) === null;

    it('gets answers up to the limit in a second, and again in the next second', async () => {
      const clock = new TestClock({ monotonicMs: 5000 });
      const { ask, server, service } = await serve(blocking(), { CLIENT_QUERY_RATE: 2 }, clock);
      const packet = encodeQuery('blocked.example', 1);
      for (let i = 0; i < 2; i++) expect(rdata(await ask('blocked.example'))).toEqual(['c0000250']);
      expect(await silent(server, packet)).toBe(true);
      expect(await askTcp(server, [frame(packet)], 1, { halfClose: true })).toEqual([]);
      await expect
        .poll(() => service.counts.queries.droppedCounts())
        .toContainEqual([{ why: 'limited' }, 2]);
      clock.monotonicMs = 6000;
      expect(rdata(await ask('blocked.example'))).toEqual(['c0000250']);
    });

    it('gets the answers below the limit, and those of the next second, over one TCP connection', async () => {
      const gate = Promise.withResolvers<undefined>();
      upstream.answer = async (query) => {
        await gate.promise;
        return respond(query);
      };
      const clock = new TestClock({ monotonicMs: 5000 });
      const { server, service } = await serve(
        blocking(),
        { CLIENT_QUERY_RATE: 2 },
        { times: clock.times, forwarding: NEVER },
      );
      const socket = connect({ host: server.address, port: server.port });
      const pieces = [1, 2, 3, 4].map((id) => frame(encodeQuery(`n${id}.example`, 1, { id })));
      const asked = askTcp(server, pieces, 3, { open: () => socket });
      const limited = () => service.counts.queries.droppedCounts();
      await expect.poll(limited).toContainEqual([{ why: 'limited' }, 2]);
      clock.monotonicMs = 6000;
      socket.write(frame(encodeQuery('blocked.example', 1, { id: 5 })));
      gate.resolve(undefined);
      const ids = (await asked).map((bytes) => decodeMessage(bytes).id);
      expect(new Set(ids)).toEqual(new Set([1, 2, 5]));
    });

    it('gets errors up to the limit over UDP, any number over TCP, and normal answers as before', async () => {
      const limits = { CLIENT_ERROR_RATE: 2 };
      const { ask, askTcp, send, server, service } = await serve(blocking(), limits, at(5));
      const refused = encodeQuery('www.example.com', 1, { qclass: 3 });
      expect(await send(refused)).toMatchObject({ rcode: 5 });
      expect(await send(encodeMessage({ id: 5 }))).toMatchObject({ rcode: 1 });
      expect(await silent(server, encodeQuery('www.example.com', 252))).toBe(true);
      // Every second refusal is a hint (TC=1), which is no larger than the query.
      expect(await silent(server, refused)).toBe(true);
      const hint = (await askUdp(server, refused))!;
      expect(decodeMessage(hint)).toMatchObject({ flags: 0x8380, rcode: 0, answers: [] });
      expect(hint.length).toBeLessThanOrEqual(refused.length);
      expect(await silent(server, refused)).toBe(true);
      expect(service.counts.limits.slips).toBe(1);
      expect(await send(refused, 'tcp')).toMatchObject({ rcode: 5 });
      expect(await askTcp('www.example.com', 252)).toMatchObject({ rcode: 4 });
      expect(rdata(await ask('blocked.example'))).toEqual(['c0000250']);
    });

    it('does not share its limit with a neighbour at the same address who has other ports', async () => {
      const napt = { address: 0x7f00_0001, lowerPort: 16_000, upperPort: 16_999, profileId: 1 };
      const limits = { CLIENT_QUERY_RATE: 1, CLIENT_TCP_CONNECTIONS: 1 };
      const policy = blocking(put('naptAssignment', napt));
      const { server, service } = await serve(policy, limits, at(5));
      const packet = encodeQuery('blocked.example', 1);
      // Ports that the kernel gives to no other socket by itself, nor other tests to their servers.
      const isAnswered = async (port: number, timeoutMs?: number) =>
        (await askUdp(server, packet, timeoutMs, port)) !== null;
      expect(await isAnswered(16_001)).toBe(true);
      expect(await isAnswered(16_002, 150)).toBe(false);
      expect(await isAnswered(17_000)).toBe(true);
      expect(await isAnswered(17_001, 150)).toBe(false);
      const open = (localPort: number) => {
        const socket = connect({ host: server.address, port: server.port, localPort });
        cleanups.push(() => socket.destroy());
        return new Promise((resolve) => socket.once('connect', resolve));
      };
      await open(16_003);
      await open(17_003);
      expect(service.counts.queries.droppedCounts()).toContainEqual([{ why: 'crowded' }, 0]);
      await open(16_004);
      await expect
        .poll(() => service.counts.queries.droppedCounts())
        .toContainEqual([{ why: 'crowded' }, 1]);
    });

    it('has a limited number of TCP connections, and can open another when it closes one', async () => {
      const { server, askTcp, service } = await serve(blocking(), { CLIENT_TCP_CONNECTIONS: 1 });
      const first = connect(server.port, server.address);
      await new Promise((resolve) => first.once('connect', resolve));
      expect(
        await askOneTcp(server, encodeQuery('blocked.example', 1)).catch(() => null),
      ).toBeNull();
      expect(service.counts.queries.droppedCounts()).toContainEqual([{ why: 'crowded' }, 1]);
      const closed = new Promise((resolve) => first.once('close', resolve));
      first.end();
      await closed;
      await expect
        .poll(() => askTcp('blocked.example').catch(() => null))
        .toMatchObject({ rcode: 0 });
    });
  });

  describe('a schedule', () => {
    /** Monday 2026-01-05, 00:00 UTC. */
    const MONDAY = Date.UTC(2026, 0, 5);
    const policy = policyOf(
      profile(1),
      profile(2, { whiteListOnly: true }),
      loopback(1),
      put('schedule', { profileId: 1, targetProfileId: 2, periods: [{ start: 2, end: 4 }] }),
    );
    const at = (seconds: number) =>
      serve(policy, { BLOCK_TTL: 60 }, new TestClock({ wallMs: MONDAY + seconds * 1000 }));

    it('limits the TTLs of upstream answers to the time until the switch', async () => {
      const { ask } = await at(3600 - 100);
      expect((await ask('www.example.com')).answers).toMatchObject([{ ttl: 100 }]);
      const early = await at(0);
      expect((await early.ask('www.example.com')).answers).toMatchObject([{ ttl: 300 }]);
    });

    it('limits the TTL of block answers and of the answer to ANY', async () => {
      const blocked = await at(7200 - 5);
      expect((await blocked.ask('www.example.com')).answers).toMatchObject([{ ttl: 5 }]);
      const open = await at(3600 - 7);
      expect((await open.ask('www.example.com', 255)).answers).toMatchObject([{ ttl: 7 }]);
    });

    it('switches the profile', async () => {
      expect(rdata(await (await at(3599)).ask('www.example.com'))).toEqual(['c0000201']);
      expect(rdata(await (await at(3600)).ask('www.example.com'))).toEqual(['c0000250']);
      expect(rdata(await (await at(7200)).ask('www.example.com'))).toEqual(['c0000201']);
    });
  });

  describe('when an upstream does not answer,', () => {
    const fast = { forwarding: { attemptTimeoutMs: 100, queryTimeoutMs: 300 } };

    it('the second upstream is asked', async () => {
      const dead = await UpstreamServer.start(() => null);
      cleanups.push(() => dead.stop());
      const upstreams = [dead.endpoint, upstream.endpoint];
      const clock = new TestClock({ monotonicMs: 0 });
      const { ask } = await serve(blocking(), {}, { ...fast, upstreams, times: clock.times });
      const answer = ask('www.example.com');
      await expect.poll(() => dead.asked.length).toBe(1);
      clock.monotonicMs += 100;
      expect(rdata(await answer)).toEqual(['c0000201']);
      expect(dead.asked).toHaveLength(1);
    });

    it('the answer is SERVFAIL with EDE 22', async () => {
      upstream.answer = () => null;
      const { ask } = await serve(blocking(), {}, fast);
      expect(await ask('www.example.com')).toMatchObject({ rcode: 2, answers: [], ede: [22] });
      expect(await ask('www.example.com', 1, {})).toMatchObject({ rcode: 2, additionals: [] });
    });

    it('blocked names are answered as usual', async () => {
      upstream.answer = () => null;
      const { ask } = await serve(blocking(), {}, fast);
      expect(rdata(await ask('blocked.example'))).toEqual(['c0000250']);
    });

    it('queries over the capacity get SERVFAIL', async () => {
      upstream.answer = () => null;
      const clock = new TestClock({ monotonicMs: 0 });
      const options = { forwarding: { ...fast.forwarding, capacity: 1 }, times: clock.times };
      const { ask, service } = await serve(blocking(), {}, options);
      const first = ask('www.example.com');
      await expect.poll(() => service.counts.forwarding.inFlight).toBe(1);
      expect(await ask('other.example.com')).toMatchObject({ rcode: 2, ede: [0] });
      clock.monotonicMs += 300;
      expect(await first).toMatchObject({ rcode: 2, ede: [22] });
    });
  });

  describe('before the first snapshot,', () => {
    it('every query gets SERVFAIL with EDE 14, also from allowed clients', async () => {
      const { ask } = await serve(null, { DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']) });
      expect(await ask('www.example.com')).toMatchObject({ rcode: 2, ede: [14] });
      expect(upstream.asked).toHaveLength(0);
    });
  });

  describe('an unusable query', () => {
    it('gets FORMERR', async () => {
      const { send } = await serve(blocking());
      const compressed = encodeMessage({ id: 5, questions: [{ qname: pointerTo(12), qtype: 1 }] });
      for (const packet of [compressed, encodeMessage({ id: 5 })]) {
        expect(await send(packet)).toMatchObject({ id: 5, flags: 0x8081, questions: [] });
        expect(await send(packet, 'tcp')).toMatchObject({ id: 5, flags: 0x8081 });
      }
      const trailing = concat(encodeQuery('www.example.com', 1, { udpBytes: 1232 }), [0]);
      expect(await send(trailing)).toMatchObject({ rcode: 1, questions: [{ qtype: 1 }] });
    });

    it('gets NOTIMP for another opcode, BADVERS for another EDNS version, REFUSED for another class', async () => {
      const { ask } = await serve(blocking());
      expect(await ask('www.example.com', 6, { flags: 0x2000 })).toMatchObject({ flags: 0xa084 });
      expect(await ask('www.example.com', 252)).toMatchObject({ rcode: 4 });
      const version1 = { udpBytes: 1232, ednsTtl: 0x0001_0000 };
      expect(await ask('www.example.com', 1, version1)).toMatchObject({ rcode: 16 });
      expect(await ask('www.example.com', 16, { qclass: 3, udpBytes: 1232 })).toMatchObject({
        rcode: 5,
        opt: { class: 1232 },
      });
    });

    it('that is a reply is dropped', async () => {
      const { server, service, ask } = await serve(blocking());
      expect(await askUdp(server, encodeQuery('a.example', 1, { flags: 0x8180 }), 100)).toBeNull();
      expect(await askUdp(server, Uint8Array.of(1, 2, 3), 100)).toBeNull();
      await expect
        .poll(() => service.counts.queries.droppedCounts())
        .toContainEqual([{ why: 'malformed' }, 2]);
      expect(await ask('www.example.com')).toMatchObject({ rcode: 0 });
    });

    it('never crashes the service', async () => {
      const { server, ask } = await serve(blocking());
      const packet = encodeMessage({
        flags: 0x0100,
        questions: [{ qname: wireName('www.blocked.example'), qtype: 1 }],
        additionals: [opt(1232)],
      });
      await Promise.all(
        Array.from(packet, (_, i) => askUdp(server, packet.with(i, 0xc0 | (i & 0x3f)), 50)),
      );
      expect(await ask('blocked.example')).toMatchObject({ ede: [17] });
    });
  });

  describe('DnsService', () => {
    it('reports which port is taken, and its variable', async () => {
      const { server } = await serve(blocking());
      const second = createService({ DNS_PORT: server.port }, { source: { policy: null } });
      await expect(second.start()).rejects.toThrow(
        `127.0.0.1:${server.port} is in use by another process (DNS_PORT)`,
      );
    });

    it('answers the queries in flight before it stops', async () => {
      const { ask, service } = await serve(blocking());
      upstream.answer = () => null;
      const answer = ask('www.example.com');
      await expect.poll(() => upstream.asked.length).toBe(1);
      const stopped = service.stop();
      cleanups.pop();
      const [query] = upstream.asked;
      upstream.sendTo(respond(query, { answers: [a('192.0.2.1')] }), query.from!);
      await stopped;
      expect(rdata(await answer)).toEqual(['c0000201']);
    });

    it('measures the latency of answers by their source', async () => {
      const { ask, service } = await serve(blocking());
      for (let i = 0; i < 3; i++) await ask(`n${i}.example.com`);
      for (let i = 0; i < 8; i++) await ask('n0.example.com');
      for (let i = 0; i < 8; i++) await ask('blocked.example');
      for (let i = 0; i < 8; i++) await ask('localhost');
      const count = (source: string) =>
        service.counts.latencies
          .lines('x')
          .find(({ metricName, labels }) => metricName === 'x_count' && labels.source === source);
      const counts = () =>
        ['upstream', 'cached', 'blocked', 'local'].map((source) => count(source)?.value);
      await expect.poll(counts).toEqual([3, 8, 8, 8]);
    });

    it('counts its answers', async () => {
      const { ask, service } = await serve(blocking());
      await ask('blocked.example');
      await ask('www.example.com');
      expect([...service.counts.queries.answeredCounts()]).toEqual([
        [{ transport: 'udp', type: 'A', verdict: 'permit', reason: 'none', rcode: 'NOERROR' }, 1],
        [
          {
            transport: 'udp',
            type: 'A',
            verdict: 'block',
            reason: 'domain_rule',
            rcode: 'NOERROR',
          },
          1,
        ],
      ]);
    });
  });
});
