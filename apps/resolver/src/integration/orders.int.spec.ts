import { type Operation, type Order, type PutOperation, RuleVerdict } from '@weir/config-model';
import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { CidrSet } from '@weir/ops';
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
import { recordsFile } from '../testing/records-file.js';
import { startService } from '../testing/service.js';
import { inSharedMemory, SharedSource } from '../testing/shared-source.js';
import { TestClock } from '../testing/test-clock.js';

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

function order(domain: string, until: number | null = null, id = 1): PutOperation {
  const texts = { authority: 'District Court', reference: '1 A 23' };
  return put('order', { id, domainHash: hashDomain(domain, key), until, ...texts });
}

function grant(domain: string, verdict: RuleVerdict, until: number): PutOperation {
  return put('grant', { profileId: 1, domainHash: hashDomain(domain, key), verdict, until });
}

/** nsd has the names, and dig asks the resolver in front of it. */
describe('orders and grants', needs('nsd', 'dig'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-orders-'));
  let nsd: NameServer;
  beforeAll(async () => {
    const records = [
      'bad 3600 A 198.51.100.1',
      'alias 3600 CNAME bad',
      'service 3600 HTTPS 1 bad',
      'bot 3600 A 198.51.100.2',
      'game 3600 A 198.51.100.3',
      'shop 3600 CNAME game',
      'moved 3600 DNAME bad',
      'gone 3600 CNAME missing.bad',
      'reverse 3600 PTR bad',
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
        DNS_ALLOWED_CLIENTS: CidrSet.parse(['127.0.0.0/8']),
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
    const { ask, dig } = await serve(
      ['resolver.arpa', 'own.example', 'use-application-dns.net', 'localhost'].map((name, id) =>
        order(name, null, id),
      ),
      { LOCAL_RECORDS: file, BLOCK_RESOLVER_DISCOVERY: true },
    );
    expect(await ask('resolver.arpa', 'TYPE261')).toHaveLength(1);
    expect(await ask('own.example')).toEqual(['600 A 192.0.2.9']);
    expect(await dig('use-application-dns.net')).toContain('status: NXDOMAIN');
    // The policy comes before names that the resolver only keeps from upstreams.
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
