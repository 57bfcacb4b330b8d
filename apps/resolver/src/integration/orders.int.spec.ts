import { type Operation, type Order, type PutOperation, RuleVerdict } from '@weir/config-model';
import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { parseCidrs } from '@weir/ops';
import { needs } from '@weir/ops/testing';
import {
  domainRule,
  HASH_KEY_HEX,
  loopback,
  policyOf,
  profile,
  put,
} from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { type NameServer, startNsd, writeZone } from '../testing/name-servers.js';
import { run } from '../testing/programs.js';
import { a, cname } from '../query/testing/records.js';
import { clockedService } from '../testing/clocked-service.js';
import { respond } from '../testing/respond.js';
import type { Answerer } from '../testing/upstream-server.js';
import { wireName } from '@weir/dns-wire/testing';
import { recordsFile } from '../testing/records-file.js';
import { startService, useCertificate } from '../testing/service.js';
import { inSharedMemory, SharedSource } from '../testing/shared-source.js';
import { TestClock } from '../testing/test-clock.js';

const certificate = useCertificate();
const key = parseHashKey(HASH_KEY_HEX);
const NOW = Date.UTC(2026, 10, 24, 12) / 1000;
const DEFAULT_PAGE = '192.0.2.80';
const ORDERS_PAGE = '192.0.2.81';
const { image } = compileCatalogue(
  {
    categories: [
      { id: 3, name: 'Botnets', mandatory: true, lists: [NameList.of(['bot.example'], key)] },
      {
        id: 21,
        name: 'Safe search',
        lists: [],
        rewrites: [{ to: 'bad.example', names: ['find.example'] }],
      },
    ],
    applications: [],
  },
  key,
);

function order(
  domain: string,
  until: number | null = null,
  id = 1,
  reference = '1 A 23',
): PutOperation {
  const texts = { authority: 'District Court', reference };
  return put('order', { id, domainHash: hashDomain(domain, key), until, ...texts });
}

function grant(domain: string, verdict: RuleVerdict, until: number): PutOperation {
  return put('grant', { profileId: 1, domainHash: hashDomain(domain, key), verdict, until });
}

/** The RCODE that dig has printed. */
async function statusOf(printed: Promise<string>): Promise<string | undefined> {
  return /status: (\w+)/.exec(await printed)?.[1];
}

/** nsd has the names, and dig asks the resolver in front of it. */
describe('orders and grants', needs('nsd', 'dig'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-orders-'));
  let nsd: NameServer;
  beforeAll(async () => {
    const records = [
      'bad 3600 A 198.51.100.1',
      'alias 3600 CNAME bad',
      'service 3600 HTTPS 1 bad alpn=h3',
      'service 3600 SVCB 1 bad alpn=h3',
      'service-alias 3600 HTTPS 0 bad',
      'service-alias 3600 SVCB 0 bad',
      'several 3600 HTTPS 1 game',
      'several 3600 HTTPS 2 bad',
      'leading 3600 CNAME service',
      'itself 3600 HTTPS 1 . alpn=h3',
      'bot-service 3600 HTTPS 1 bot',
      'bot-service 3600 SVCB 0 bot',
      'bot 3600 A 198.51.100.2',
      'game 3600 A 198.51.100.3',
      'shop 3600 CNAME game',
      'moved 3600 DNAME bad',
      'gone 3600 CNAME missing.bad',
      'reverse 3600 PTR bad',
      'to-bot 3600 CNAME bot',
      'leads.bot 3600 CNAME bad',
    ];
    writeZone(folder, { origin: 'example', records });
    nsd = await startNsd(folder);
  });
  afterAll(async () => {
    await nsd.stop();
    rmSync(folder, { recursive: true });
  });

  /** `skip` moves the wall clock of all threads. */
  async function serve(operations: PutOperation[], variables: Partial<DnsConfiguration> = {}) {
    const clock = new TestClock({ wallMs: NOW * 1000 });
    const policy = policyOf(...operations);
    policy.setCatalogue(CatalogueImage.open(inSharedMemory(image), key));
    const source = new SharedSource(policy);
    const { port } = await startService(
      {
        BLOCK_PAGE_IPV4: [DEFAULT_PAGE],
        BLOCK_PAGE_ADDRESSES: new Map([[7, [ORDERS_PAGE]]]),
        ORDERS_PAGE: 7,
        BLOCK_TTL: 60,
        DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']),
        ...variables,
      },
      { upstreams: [nsd.endpoint], source, times: clock.times },
    );
    const apply = (...changed: Operation[]): void => {
      source.change(() => {
        policy.apply({ revision: policy.revision + 1, digest: '', operations: changed });
      });
    };
    const dig = (...args: string[]) => run('dig', ['@127.0.0.1', '-p', String(port), ...args]);
    /** The TTL, the type and the data of each record of the answer. */
    const ask = async (name: string, type = 'A'): Promise<string[]> => {
      const lines = (await dig('+noall', '+answer', name, type)).trim().split('\n');
      return lines
        .filter((line) => line !== '')
        .map((line) => line.split(/\s+/))
        .map((fields) => [fields[1], ...fields.slice(3)].join(' '));
    };
    const skip = (seconds: number): void => {
      clock.times[0] += seconds * 1000;
    };
    return { apply, ask, dig, skip };
  }

  const SUBSCRIBER = [loopback(1), profile(1, { emptyDnsAnswer: true })];
  const ORDERED = [`60 A ${ORDERS_PAGE}`];

  it.each([
    ['with a profile that allows the names', [...SUBSCRIBER, domainRule(1, 'allow', 'example')]],
    ['without a profile', []],
  ])(
    'deny names and the targets of others to a client %s, whatever INSPECT_CNAME says',
    async (_, operations) => {
      const { ask, apply } = await serve(operations, { INSPECT_CNAME: false });
      // All of them are in the cache then.
      for (const name of ['bad.example', 'alias.example']) {
        expect((await ask(name)).at(-1)).toMatch(/ A 198\.51\.100\.1$/);
      }
      expect(await ask('service.example', 'HTTPS')).toHaveLength(1);
      apply(order('bad.example'));
      for (const name of ['bad.example', 'www.bad.example', 'alias.example', 'bot.example']) {
        expect(await ask(name)).toEqual(ORDERED);
      }
      expect(await ask('service.example', 'HTTPS')).toEqual([]);
      expect((await ask('game.example')).at(-1)).toMatch(/ A 198\.51\.100\.3$/);
      apply({ type: 'delete', kind: 'order', key: { id: 1 } });
      expect((await ask('alias.example')).at(-1)).toMatch(/ A 198\.51\.100\.1$/);
    },
  );

  it('deny targets of DNAME records and targets that do not exist, and no names of PTR records', async () => {
    const { ask, apply, dig } = await serve([]);
    const names = ['www.moved.example', 'gone.example'];
    for (const name of names) expect(await dig(name)).toContain('status: NXDOMAIN');
    apply(order('bad.example'));
    for (const name of names) expect(await ask(name)).toEqual(ORDERED);
    expect(await ask('reverse.example', 'PTR')).toEqual([
      expect.stringMatching(/ PTR bad\.example\.$/),
    ]);
  });

  const SERVICES = [
    ['service.example', 'HTTPS'],
    ['service.example', 'SVCB'],
    ['service-alias.example', 'HTTPS'],
    ['service-alias.example', 'SVCB'],
    ['several.example', 'HTTPS'],
    ['leading.example', 'HTTPS'],
  ] as const;

  it.each([
    ['with a grant for them', [grant('example', RuleVerdict.allow, NOW + 3_600)]],
    ['with a rule that allows them', [domainRule(1, 'allow', 'example')]],
  ])(
    'deny the targets of HTTPS and SVCB records, of services and of aliases, to a client %s',
    async (_, operations) => {
      const { ask, apply, dig } = await serve([loopback(1), profile(1), ...operations]);
      for (const [name, type] of SERVICES) expect(await ask(name, type)).not.toEqual([]);
      apply(order('bad.example'));
      // First from the cache, then from the upstream.
      for (const [name, type] of [...SERVICES, ['new.moved.example', 'HTTPS']]) {
        const printed = await dig(name, type);
        expect(printed).toMatch(/status: NOERROR[^]*ANSWER: 0, AUTHORITY: 1/);
        expect(printed).toContain('EDE: 16 (Censored): (order 1 A 23)');
      }
      for (const type of ['HTTPS', 'SVCB']) {
        expect(await dig('bot-service.example', type)).toMatch(
          /ANSWER: 0[^]*EDE: 15 \(Blocked\): \(category Botnets\)/,
        );
      }
      expect(await ask('itself.example', 'HTTPS')).toHaveLength(1);
      apply({ type: 'delete', kind: 'order', key: { id: 1 } });
      for (const [name, type] of SERVICES) expect(await ask(name, type)).not.toEqual([]);
      apply(order('bad.example'), order('itself.example', null, 2));
      expect(await ask('itself.example', 'HTTPS')).toEqual([]);
    },
  );

  it('leave the targets of a service to a grant, until its end', async () => {
    const { ask, skip } = await serve([
      ...SUBSCRIBER,
      domainRule(1, 'deny', 'bad.example'),
      grant('service.example', RuleVerdict.allow, NOW + 30),
    ]);
    expect(await ask('service.example', 'HTTPS')).toEqual([
      expect.stringMatching(/^30 HTTPS 1 bad\.example\. /),
    ]);
    expect(await ask('service-alias.example', 'SVCB')).toEqual([]);
    skip(30);
    expect(await ask('service.example', 'HTTPS')).toEqual([]);
  });

  it('come before the answer to ANY, and need no RD', async () => {
    const { ask, dig } = await serve([order('bad.example')]);
    expect(await ask('bad.example', 'ANY')).toEqual([]);
    expect(await dig('bad.example', 'ANY')).toContain('EDE: 16');
    expect(await ask('game.example', 'ANY')).toEqual([expect.stringMatching(/ HINFO "RFC8482"/)]);
    expect(await dig('+norec', '+short', 'bad.example')).toBe(`${ORDERS_PAGE}\n`);
    expect(await dig('+norec', 'alias.example')).toContain('status: REFUSED');
  });

  it('come after what the resolver says of itself, local records and discovery names', async () => {
    const file = join(folder, 'records');
    writeFileSync(file, recordsFile('own.example 600 A 192.0.2.9'));
    const DESIGNATED = 'dns.example';
    const { ask, dig, apply } = await serve([], {
      LOCAL_RECORDS: file,
      BLOCK_RESOLVER_DISCOVERY: true,
      DNS_DESIGNATED_NAME: DESIGNATED,
      DNS_TLS_PORT: 0,
      DNS_DESIGNATED_TLS_PORT: 853,
      ...certificate,
    });
    const answers = async () => ({
      information: await ask('resolver.arpa', 'TYPE261'),
      designated: await ask(DESIGNATED, 'TYPE261'),
      discovery: await ask('_dns.resolver.arpa', 'SVCB'),
      own: await ask('own.example'),
      health: await ask('ready.weir.invalid'),
      localhost: await ask('a.localhost'),
      statuses: [
        await statusOf(dig('use-application-dns.net')),
        await statusOf(dig('other.weir.invalid')),
        await statusOf(dig('weir.invalid')),
        await statusOf(dig('invalid')),
        await statusOf(dig('-x', '10.0.0.1')),
        await statusOf(dig('+norec', 'printer.local')),
      ],
    });
    const before = await answers();
    expect(before).toMatchObject({
      discovery: [expect.stringMatching(/^300 SVCB 1 dns\.example\. /)],
      own: ['600 A 192.0.2.9'],
      health: [expect.stringMatching(/ A 127\.0\.0\.1$/)],
      localhost: [expect.stringMatching(/ A 127\.0\.0\.1$/)],
      statuses: ['NXDOMAIN', 'NXDOMAIN', 'NOERROR', 'NOERROR', 'NXDOMAIN', 'NXDOMAIN'],
    });
    expect([before.information.length, before.designated.length]).toEqual([1, 1]);
    const ordered = ['arpa', DESIGNATED, 'own.example', 'use-application-dns.net'];
    const local = ['localhost', 'invalid', 'ready.weir.invalid', 'local'];
    apply(...[...ordered, ...local].map((name, id) => order(name, null, id)));
    expect(await answers()).toEqual(before);
    // It has no records of the resolver's own.
    expect(await ask(DESIGNATED)).toEqual(ORDERED);
    expect(await ask('example.arpa')).toEqual(ORDERED);
  });

  it('come before names that this resolver would keep from upstreams, with LOCAL_ZONES=false', async () => {
    const { ask } = await serve([order('localhost')], { LOCAL_ZONES: false });
    expect(await ask('localhost')).toEqual(ORDERED);
  });

  it('have a negative answer for what has no address, which is not cached beyond the end', async () => {
    const { dig, apply } = await serve([order('bad.example', NOW + 30)]);
    const authority = await dig('+noall', '+authority', 'bad.example', 'MX');
    expect(authority.split(/\s+/)).toMatchObject({ 1: '30', 3: 'SOA', 10: '30' });
    apply(order('bad.example'));
    const later = await dig('+noall', '+authority', 'bad.example', 'MX');
    expect(later.split(/\s+/)).toMatchObject({ 1: '60', 3: 'SOA', 10: '60' });
  });

  it('leave their text out where an answer has no room for it', async () => {
    const long = { ...order('bad.example').entity, reference: '\u{1f600}'.repeat(200) };
    const { dig } = await serve([put('order', long as Order)]);
    for (const [size, hasText] of [
      ['1232', true],
      ['512', false],
    ] as const) {
      const printed = await dig(`+bufsize=${size}`, '+ignore', 'bad.example');
      expect(printed).toContain(ORDERS_PAGE);
      expect(printed).toMatch(/flags: qr rd ra;/);
      expect(/EDE: 16 \(Censored\): \(order /.test(printed)).toBe(hasText);
      expect(printed).toContain('EDE: 16 (Censored)');
    }
  });

  it('deny the target of safe search', async () => {
    const { ask } = await serve([
      loopback(1),
      profile(1, { categoryIds: [21] }),
      order('bad.example'),
    ]);
    expect(await ask('find.example')).toEqual(ORDERED);
  });

  it('refuse clients that are not served, as if there were no order', async () => {
    const range = { address: 0x7f00_0001, lowerPort: 0, upperPort: 0, profileId: 1 };
    const { dig } = await serve([put('naptAssignment', range), order('bad.example')]);
    expect(await dig('bad.example')).toContain('status: REFUSED');
  });

  it('of targets end at their second too, and no answer outlives them', async () => {
    const { ask, dig, skip } = await serve([
      ...SUBSCRIBER,
      domainRule(1, 'deny', 'game.example'),
      grant('game.example', RuleVerdict.allow, NOW + 30),
      order('bad.example', NOW + 30),
    ]);
    const negative = () => dig('+noall', '+authority', 'service.example', 'HTTPS');
    // First from the upstream, then from the cache.
    for (const left of [30, 20]) {
      expect(await ask('alias.example')).toEqual([`${left} A ${ORDERS_PAGE}`]);
      expect((await negative()).split(/\s+/)).toMatchObject({ 1: `${left}`, 3: 'SOA' });
      expect(await ask('shop.example')).toEqual([
        `${left} CNAME game.example.`,
        `${left} A 198.51.100.3`,
      ]);
      skip(10);
    }
    skip(10);
    expect((await ask('alias.example')).at(-1)).toMatch(/ A 198\.51\.100\.1$/);
    expect(await ask('service.example', 'HTTPS')).toHaveLength(1);
    expect(await ask('shop.example')).toEqual([]);
  });

  it('are shown for the name before its targets, an order before a mandatory category', async () => {
    const { apply, dig } = await serve([]);
    const shown = async (name: string) => /EDE: (.*)/.exec(await dig(name))?.[1];
    const botnets = '15 (Blocked): (category Botnets)';
    expect(await shown('to-bot.example')).toBe(botnets);
    apply(order('bad.example'), order('alias.example', null, 2, '2 B'));
    expect(await shown('alias.example')).toBe('16 (Censored): (order 2 B)');
    apply(order('to-bot.example', null, 3, '3 C'));
    expect(await shown('to-bot.example')).toBe('16 (Censored): (order 3 C)');
    // The name is in the mandatory category, its target is ordered.
    expect(await shown('leads.bot.example')).toBe(botnets);
    apply(order('leads.bot.example', null, 4, '4 D'));
    expect(await shown('leads.bot.example')).toBe('16 (Censored): (order 4 D)');
  });

  it('end at their second without a change, and no answer outlives them', async () => {
    const { ask, skip } = await serve([
      ...SUBSCRIBER,
      domainRule(1, 'deny', 'game.example'),
      grant('shop.example', RuleVerdict.allow, NOW + 30),
      order('bad.example', NOW + 30),
    ]);
    expect(await ask('bad.example')).toEqual([`30 A ${ORDERS_PAGE}`]);
    // The grant frees the target of the name. The zone has a longer TTL.
    expect(await ask('shop.example')).toEqual(['30 CNAME game.example.', '30 A 198.51.100.3']);
    expect(await ask('game.example')).toEqual([]);
    skip(29.999);
    expect(await ask('bad.example')).toEqual([`1 A ${ORDERS_PAGE}`]);
    expect(await ask('shop.example')).toEqual(['1 CNAME game.example.', '1 A 198.51.100.3']);
    skip(0.001);
    expect(await ask('bad.example')).toEqual([expect.stringMatching(/ A 198\.51\.100\.1$/)]);
    expect(await ask('shop.example')).toEqual([]);
  });
});

describe('orders and grants, of expired answers', () => {
  const TTL = 10;
  const answer: Answerer = (query) =>
    respond(query, {
      answers: [cname('bad.example', TTL), a('198.51.100.1', TTL, wireName('bad.example'))],
    });

  async function serveExpired(variables: Partial<DnsConfiguration>, ...operations: PutOperation[]) {
    const policy = policyOf(...operations);
    const source = new SharedSource(policy);
    const all = await clockedService({ answer, variables, source, wallMs: NOW * 1000 });
    expect(await all.ask('alias.example')).toMatchObject({ rcode: 0, ede: [] });
    all.skip(TTL * 1000);
    all.server.answer = () => null;
    const apply = (...changed: Operation[]): void => {
      source.change(() => {
        policy.apply({ revision: policy.revision + 1, digest: '', operations: changed });
      });
    };
    return { ...all, apply };
  }

  it.each([
    ['at once', 0],
    ['after the upstream was silent', 1_800],
  ])('judge the targets of one that comes %s', async (_, CACHE_STALE_AFTER_MS) => {
    const expired = await serveExpired({ CACHE_STALE_AFTER_MS });
    const { apply, send, answerTo, skip, counts } = expired;
    const isWaiting = CACHE_STALE_AFTER_MS > 0;
    const ask = async (name: string) => {
      const id = await send(name);
      if (isWaiting) {
        await expect.poll(() => counts.forwarding.waiting).toBe(1);
        skip(1_800);
      }
      return answerTo(id);
    };
    expect(await ask('alias.example')).toMatchObject({
      answers: [{ type: 5 }, { type: 1 }],
      ede: [3],
    });
    apply(order('bad.example'));
    const denied = await answerTo(await send('alias.example'));
    expect(denied).toMatchObject({ rcode: 0, answers: [{ type: 1, ttl: 10 }], ede: [16] });
    expect(denied.answers[0].rdata).toEqual(Buffer.from([192, 0, 2, 80]));
  });

  it('judge the targets of one for which clients wait when the order comes', async () => {
    const { apply, send, answerTo, skip, counts } = await serveExpired({});
    const id = await send('alias.example');
    await expect.poll(() => counts.forwarding.waiting).toBe(1);
    apply(order('bad.example'));
    skip(1_800);
    expect(await answerTo(id)).toMatchObject({ answers: [{ type: 1, ttl: 10 }], ede: [16] });
  });

  it('cap its TTL at the end of a grant, and judge it after that', async () => {
    const { ask, skipWall } = await serveExpired(
      { CACHE_STALE_AFTER_MS: 0, DNS_ALLOWED_CLIENTS: parseCidrs([]) },
      loopback(1),
      profile(1),
      domainRule(1, 'deny', 'bad.example'),
      grant('alias.example', RuleVerdict.allow, NOW + 7),
    );
    const ttls = [{ ttl: 7 }, { ttl: 7 }];
    expect(await ask('alias.example')).toMatchObject({ answers: ttls, ede: [3] });
    skipWall(7_000);
    expect(await ask('alias.example')).toMatchObject({
      answers: [{ type: 1, ttl: 10 }],
      ede: [17],
    });
  });
});
