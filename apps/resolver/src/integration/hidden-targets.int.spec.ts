import {
  concat,
  decodeMessage,
  encodeQuery,
  opt,
  pointerTo,
  type TestMessage,
  wireName,
} from '@weir/dns-wire/testing';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { parseCidrs } from '@weir/ops';
import {
  domainRule,
  HASH_KEY_HEX,
  loopback,
  policyOf,
  profile,
  put,
} from '@weir/policy-feed/testing';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { needs } from '@weir/ops/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { a, cname } from '../query/testing/records.js';
import { askUdp } from '../testing/client.js';
import { upstream } from '../testing/forwarding.js';
import { startNsd, writeZone } from '../testing/name-servers.js';
import { run } from '../testing/programs.js';
import { respond } from '../testing/respond.js';
import { startService } from '../testing/service.js';

const DENIED = 'denied.example';
const TYPES = { NS: 2, MX: 15, SRV: 33 } as const;

const RULE = [profile(1), domainRule(1, 'deny', DENIED)];
const SUBSCRIBER = [...RULE, loopback(1)];

/** Asks twice, of the upstream and of the cache. @returns both answers */
async function ask(name: string, type: number, answer: TestMessage, operations = SUBSCRIBER) {
  const server = await upstream((query) => respond(query, answer));
  const { address, port } = await startService(
    { DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']) },
    { source: { policy: policyOf(...operations) }, upstreams: [server.endpoint] },
  );
  const query = encodeQuery(name, type, { udpBytes: 1232 });
  const answers = [];
  for (let i = 0; i < 2; i++)
    answers.push(decodeMessage((await askUdp({ address, port }, query))!));
  return answers;
}

const OWNER = pointerTo(12);
const rdataOf = (type: number) =>
  concat(type === 33 ? [0, 0, 0, 0, 0, 53] : type === 15 ? [0, 10] : [], wireName(`mx.${DENIED}`));

describe('the address of a denied name', () => {
  it.each(Object.entries(TYPES))('does not come beside an %s record', async (_, type) => {
    const answer = {
      answers: [{ owner: OWNER, type, ttl: 300, rdata: rdataOf(type) }],
      additionals: [a('198.51.100.66', 300, wireName(`mx.${DENIED}`)), opt(1232)],
    };
    const domainHash = hashDomain(DENIED, parseHashKey(HASH_KEY_HEX));
    const texts = { authority: 'District Court', reference: '1 A 23' };
    const order = put('order', { id: 1, domainHash, until: null, ...texts });
    for (const operations of [SUBSCRIBER, [order]]) {
      for (const message of await ask('mail.example', type, answer, operations)) {
        expect(message.rcode).toBe(0);
        expect(message.answers).toHaveLength(1);
        expect(message.additionals.filter((one) => one.type !== 41)).toEqual([]);
      }
    }
    for (const message of await ask('mail.example', type, answer, RULE))
      expect(message.additionals.filter((one) => one.type === 1)).toHaveLength(1);
  });

  it.each([
    ['example', DENIED, 'block'],
    ['example', 'other.test', 'pass'],
    ['example', 'example.test', 'pass'],
  ])('does not come by a DNAME record alone: %s to %s', async (owner, target, expected) => {
    const dname = { owner: wireName(owner), type: 39, ttl: 300, rdata: wireName(target) };
    for (const message of await ask('www.mail.example', 1, { answers: [dname] }))
      expect(message.answers[0]?.type).toBe(expected === 'block' ? 1 : 39);
  });

  it('does not come by a DNAME record to the parent of the denied name', async () => {
    const dname = {
      owner: wireName('mail.example'),
      type: 39,
      ttl: 300,
      rdata: wireName('example'),
    };
    for (const message of await ask('denied.mail.example', 1, { answers: [dname] })) {
      expect(message.answers).toMatchObject([{ type: 1, rdata: Buffer.of(192, 0, 2, 80) }]);
    }
  });

  const dname = (owner: string, target: string) => ({
    owner: wireName(owner),
    type: 39,
    ttl: 300,
    rdata: wireName(target),
  });
  const PAGE = [{ type: 1, rdata: Buffer.of(192, 0, 2, 80) }];

  it('does not come by a DNAME record alone that is further down the chain', async () => {
    const answers = [cname('denied.mail.example'), dname('mail.example', 'example')];
    for (const chain of [answers, answers.toReversed()]) {
      for (const message of await ask('www.other.net', 1, { answers: chain })) {
        expect(message.answers).toMatchObject(PAGE);
      }
    }
  });

  it('does not come by a DNAME record to another one', async () => {
    const answers = [dname('a.net', 'b.net'), dname('b.net', 'example')];
    for (const message of await ask('denied.a.net', 1, { answers })) {
      expect(message.answers).toMatchObject(PAGE);
    }
  });

  it('does not come in the answer section beside the records that were asked for', async () => {
    const edge = wireName('edge.net');
    const answers = [
      a('198.51.100.66', 300, wireName(DENIED)),
      cname('edge.net'),
      { ...cname(DENIED), owner: wireName('other.net') },
      a('198.51.100.1', 300, edge),
      // Its owner points into a record that goes.
      { ...a('198.51.100.67'), owner: concat([1, 0x78], pointerTo(29)) },
      a('198.51.100.2', 300, edge),
    ];
    for (const operations of [SUBSCRIBER, RULE]) {
      for (const message of await ask('www.pub.net', 1, { answers }, operations)) {
        expect(message.rcode).toBe(0);
        const shown = message.answers.map(({ owner, rdata }) => [owner, rdata[3]]);
        expect(shown).toEqual([
          ['www.pub.net', 0x67],
          ['edge.net', 1],
          ['edge.net', 2],
        ]);
        expect(message.trailing).toBe(0);
      }
    }
  });

  it('does not come in the authority section, nor the addresses of name servers', async () => {
    const ns = { owner: wireName('net'), type: 2, ttl: 300, rdata: wireName(`ns.${DENIED}`) };
    const glue = a('198.51.100.66', 300, wireName(`ns.${DENIED}`));
    const answer = { answers: [a('198.51.100.1')], authorities: [glue, ns], additionals: [glue] };
    for (const message of await ask('www.pub.net', 1, answer)) {
      expect(message.answers).toHaveLength(1);
      expect(message.authorities).toMatchObject([{ type: 2 }]);
      expect(message.additionals.filter(({ type }) => type !== 41)).toEqual([]);
    }
  });
});

describe('the address of a denied name at a real name server', needs('nsd', 'dig'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-hidden-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('comes neither by DNAME, CNAME, MX nor NS records', async () => {
    const records = [
      'denied.hidden A 192.0.2.66',
      'fine.hidden A 192.0.2.1',
      'moved DNAME hidden',
      'www CNAME denied.moved',
      'web CNAME fine.moved',
      'mail MX 10 denied.hidden',
      'sub NS denied.hidden',
    ];
    writeZone(folder, { origin: 'zone.example', records });
    const nsd = await startNsd(folder);
    onTestFinished(() => nsd.stop());
    const rule = domainRule(1, 'deny', 'denied.hidden.zone.example');
    const { port } = await startService(
      {},
      {
        source: { policy: policyOf(profile(1), loopback(1), rule) },
        upstreams: [nsd.endpoint],
      },
    );
    const dig = (...args: string[]) => run('dig', ['@127.0.0.1', '-p', String(port), ...args]);
    for (let i = 0; i < 2; i++) {
      for (const name of ['denied.moved', 'www']) {
        expect(await dig('+short', `${name}.zone.example`)).toBe('192.0.2.80\n');
      }
      expect(await dig('+noall', '+answer', 'web.zone.example')).toMatch(
        /^web\.\S+\s+\d+\s+IN\s+CNAME\s+fine\.moved\.\S+\nmoved\.\S+\s+\d+\s+IN\s+DNAME(.*\n){2}.*192\.0\.2\.1\n$/,
      );
      const others = [
        await dig('mail.zone.example', 'MX'),
        await dig('any.sub.zone.example'),
        await dig('zone.example', 'NS'),
      ];
      expect(others.join('')).toContain('IN\tMX\t10 denied.hidden.zone.example.');
      expect(others.join('')).not.toContain('192.0.2.66');
    }
  });
});
