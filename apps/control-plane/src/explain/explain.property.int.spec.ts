import { toWireName, hashDomain, parseHashKey } from '@weir/dns-name';
import { proxyHeader } from '@weir/clients/testing';
import type { PutOperation } from '@weir/config-model';
import { ClientAddress, readIpv4 } from '@weir/policy';
import { decided, name as anyName, PolicyOracle, WallClock } from '@weir/policy/testing';
import fc from 'fast-check';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startResolverProcess } from '../../../resolver/src/testing/resolver-process.js';
import { FEED_TOKEN, type Harness, HASH_KEY, startHarness } from '../testing/harness.js';
import type { DnsAnswerDto, ExplanationDto } from './explain.dto.js';
import { encodeQuery, readAnswer } from './messages.js';

/** Ten thousand at night: `explain.property.nightly.spec.ts`. */
const QUESTIONS = Number(process.env['EXPLAIN_QUESTIONS'] ?? 210);
const QUESTIONS_EACH = 30;

const LISTINGS: PolicyOracle['listings'] = new Map([
  ['a.example', { categories: [5, 12], applications: [3], rewrites: [20] }],
  ['a.a.example', { categories: [], applications: [], rewrites: [20] }],
  ['b.a.example', { categories: [12], applications: [3, 4] }],
  ['b.example', { categories: [20], applications: [4] }],
  ['a.b.example', { categories: [5], applications: [] }],
]);
/** Where category 20 sends names. */
const TARGETS: Readonly<Record<string, string>> = {
  'a.example': 'b.a.example',
  'a.a.example': 'b.b.example',
};
const ALLOWED = '198.51.100.0/24,fc00::/7';
const UPSTREAM_ADDRESS = '192.0.2.53';

const profileId = fc.constantFrom(1, 2, 3, 4);
const status = fc.constantFrom('allow', 'deny');
const name = anyName.filter((text) => text.length <= 60);
const profileOf = (id: number) =>
  fc.record({
    profile: fc.record({
      id: fc.constant(id),
      white_list_only: fc.nat({ max: 3 }).map((dice) => dice === 0),
      empty_dns_answer: fc.boolean(),
      appaware_priority_over_bwlists: fc.boolean(),
    }),
    cat_ids: fc.subarray([5, 12, 20]),
    apps: fc
      .tuple(fc.subarray([3, 4]), status, status)
      .map(([ids, ...statuses]) => ids.map((app_id, i) => ({ app_id, status: statuses[i] }))),
  });
/** Some of the records, each with some profile. */
const someOf = <T>(all: readonly T[]) =>
  fc
    .tuple(fc.subarray([...all]), fc.array(profileId, { minLength: 8, maxLength: 8 }))
    .map(([chosen, ids]) => chosen.map((one, i) => ({ ...one, profile_id: ids[i] })));
const NETS = [
  { ip: '203.0.113.1', prefix_len: 24 },
  { ip: '203.0.113.2', prefix_len: 28 },
  { ip: '203.0.113.7', prefix_len: 32 },
  { ip: '198.51.100.9', prefix_len: 26 },
];
const NETS6 = [
  { ip: '2001:db8::1', prefix_len: 32 },
  { ip: '2001:db8::2', prefix_len: 64 },
  { ip: '2001:db8::3', prefix_len: 128 },
];
const NAPTS = ['203.0.113.7', '198.51.100.200'].flatMap((ip) =>
  [
    [0, 65_535],
    [1024, 2047],
    [1024, 1535],
    [1100, 1100],
  ].map(([lower_port_bound, upper_port_bound]) => ({ ip, lower_port_bound, upper_port_bound })),
);
const configuration = fc.record({
  blockpages: fc.constant([]),
  profiles: fc.tuple(...[1, 2, 3, 4].map(profileOf)),
  bw_lists: fc
    .uniqueArray(fc.record({ profile_id: profileId, type: status, domain: name }), {
      maxLength: 12,
      selector: ({ profile_id, domain }) => `${profile_id} ${domain}`,
    })
    .map((rules) => rules.map(({ domain, ...rule }) => ({ ...rule, domains: [domain] }))),
  napts: someOf(NAPTS),
  nets: someOf(NETS),
  nets6: someOf(NETS6),
});
type Configuration = typeof configuration extends fc.Arbitrary<infer T> ? T : never;
const question = fc.record({
  client: fc.constantFrom(
    ...['203.0.113.7', '203.0.113.3', '203.0.113.200', '198.51.100.10', '198.51.100.200'],
    ...['2001:db8::3', '2001:db8::77', '2001:db8:1::', 'fd00::1', '192.0.2.200'],
  ),
  port: fc.constantFrom(0, 1023, 1024, 1100, 1535, 1536, 2048, 40_000),
  domain: fc.oneof(
    { weight: 9, arbitrary: name },
    {
      weight: 1,
      arbitrary: fc.constantFrom('localhost', 'mask.icloud.com', ...Object.keys(TARGETS)),
    },
  ),
  type: fc.constantFrom('A', 'AAAA', 'HTTPS', 'ANY'),
});
const SERVFAIL = 2;
const TYPES = { A: 1, AAAA: 28, HTTPS: 65, ANY: 255 } as const;

let folder: string;
let harness: Harness;
let upstream: Socket;
let resolver: ReturnType<typeof startResolverProcess>;
let asking: Socket;
let dnsPort: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-explain-'));
  const groups = (kind: 'categories' | 'applications', ids: readonly number[]) =>
    ids.map((id) => {
      const domains = [...LISTINGS].flatMap(([domain, its]) =>
        its[kind].includes(id) ? [domain] : [],
      );
      return { id, name: `N${id}`, domains };
    });
  const catalogue = {
    categories: groups('categories', [5, 12, 20]).map((one) => ({
      ...one,
      ...(one.id === 20 && {
        rewrites: Object.entries(TARGETS).map(([from, to]) => ({ to, names: [from] })),
      }),
    })),
    applications: groups('applications', [3, 4]),
  };
  await writeFile(join(folder, 'catalogue.yaml'), JSON.stringify(catalogue));
  const shared = { DNS_ALLOWED_CLIENTS: ALLOWED, BLOCK_PAGE_IPV4: '192.0.2.80', BLOCK_TTL: '7' };
  harness = await startHarness({
    ...shared,
    CATALOGUE: folder,
    INIT_PROPAGATION_TIMEOUT_MS: '120000',
    PROPAGATION_TIMEOUT_MS: '120000',
  });
  upstream = createSocket('udp4').bind(0, '127.0.0.1');
  await once(upstream, 'listening');
  upstream.on('message', (query, { address, port }) => {
    upstream.send(upstreamAnswer(query), port, address);
  });
  resolver = startResolverProcess({
    ...shared,
    DNS_HOST: '127.0.0.1',
    DNS_PORT: '0',
    OPS_PORT: '0',
    DNS_PROXY_PROTOCOL_FROM: '127.0.0.1/32',
    CLIENT_ERROR_RATE: '0',
    DOMAIN_HASH_KEY: HASH_KEY,
    REDIS_URL: harness.environment['REDIS_URL'],
    FEED_URL: harness.feedUrl,
    FEED_TOKENS: FEED_TOKEN,
    UPSTREAMS: `127.0.0.1:${upstream.address().port}`,
  });
  asking = createSocket('udp4').bind(0, '127.0.0.1');
  await once(asking, 'listening');
}, 180_000);
afterAll(async () => {
  resolver.child.kill();
  await resolver.exited;
  upstream.close();
  asking.close();
  await harness.stop();
  await rm(folder, { recursive: true });
});

/** One A record for the queried name, nothing for other types. */
function upstreamAnswer(query: Buffer): Buffer {
  let end = 12;
  while (query[end] !== 0) end += query[end] + 1;
  const isA = query.readUInt16BE(end + 1) === 1;
  const head = Buffer.from(query.subarray(0, end + 5));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(isA ? 1 : 0, 6);
  head.writeUInt16BE(0, 10);
  const record = Buffer.from('c00c000100010000003c0004c0000235', 'hex');
  return isA ? Buffer.concat([head, record]) : head;
}

let lastId = 0;

/** Answers that an upstream did not come in time for, one after the other: more are no stall of the machine. */
const MOST_FAILURES = 5;

/** What the resolver answers to that client. A datagram that is lost, or gets SERVFAIL, is sent again. */
async function dig(client: string, port: number, domain: string, type: number) {
  const address = new ClientAddress();
  address.set(client, port);
  const words = address.family === 4 ? [...address.words.subarray(0, 1)] : [...address.words];
  const source = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const query = Buffer.from(encodeQuery(toWireName(domain), type));
  lastId = (lastId + 1) % 65_536;
  query.writeUInt16BE(lastId);
  const packet = Buffer.concat([proxyHeader({ source, port }), query]);
  const id = lastId;
  return new Promise<DnsAnswerDto>((resolve) => {
    const send = (): void => asking.send(packet, dnsPort, '127.0.0.1');
    const timer = setInterval(send, 2_000);
    let failures = 0;
    const take = (answer: Buffer): void => {
      if (answer.readUInt16BE(0) !== id) return;
      if ((answer[3] & 15) === SERVFAIL && ++failures < MOST_FAILURES) return;
      clearInterval(timer);
      asking.off('message', take);
      resolve(readAnswer(answer, answer.length));
    };
    asking.on('message', take);
    send();
  });
}

/** The scan over all entities that knows nothing of the code under test. */
function oracleOf({ profiles, bw_lists, napts, nets, nets6 }: Configuration): PolicyOracle {
  const key = parseHashKey(HASH_KEY);
  const now = Date.now();
  const oracle = new PolicyOracle(key, new WallClock('UTC', now - 3_600_000, now + 7_200_000));
  oracle.listings = LISTINGS;
  const put = (kind: PutOperation['kind'], entity: unknown): void =>
    oracle.apply({ type: 'put', kind, entity } as PutOperation);
  const verdictOf = (text: string): number => (text === 'allow' ? 1 : 2);
  for (const { profile, cat_ids, apps } of profiles) {
    put('profile', {
      id: profile.id,
      pageId: null,
      whiteListOnly: profile.white_list_only,
      emptyDnsAnswer: profile.empty_dns_answer,
      appawarePriorityOverBwlists: profile.appaware_priority_over_bwlists,
      categoryIds: cat_ids,
      applicationRules: apps.map(({ app_id, status: said }) => ({
        applicationId: app_id,
        verdict: verdictOf(said),
      })),
    });
  }
  for (const { profile_id, type, domains } of bw_lists) {
    const domainHash = hashDomain(domains[0], key);
    put('domainRule', { profileId: profile_id, domainHash, verdict: verdictOf(type) });
  }
  for (const one of napts) {
    const { ip, lower_port_bound: lowerPort, upper_port_bound: upperPort, profile_id } = one;
    put('naptAssignment', { address: readIpv4(ip), lowerPort, upperPort, profileId: profile_id });
  }
  for (const { ip, prefix_len: prefixLength, profile_id } of nets) {
    const mask = (-1 << (32 - prefixLength)) >>> 0;
    const address = (readIpv4(ip) & mask) >>> 0;
    put('ipv4Network', { address, prefixLength, profileId: profile_id });
  }
  for (const { ip, prefix_len: prefixLength, profile_id } of nets6) {
    const last = prefixLength === 128 ? Number(ip.at(-1)) : 0;
    const address = [0x2001_0db8, 0, 0, last];
    put('ipv6Network', { address, prefixLength, profileId: profile_id });
  }
  put('schedule', { profileId: 4, targetProfileId: 3, periods: [{ start: 0, end: 0 }] });
  return oracle;
}

const STEPS = {
  order: 'order',
  mandatoryCategory: 'order',
  grant: 'grant',
  domainRule: 'domain_rule',
  applicationRule: 'application',
  whiteListOnly: 'white_list_only',
  category: 'category',
  none: 'default',
} as const;

interface Asked {
  readonly client: string;
  readonly port: number;
  readonly domain: string;
  readonly type: string;
}

/** What the oracle expects of an explanation. */
function expected(oracle: PolicyOracle, { client, port, domain, type }: Asked): unknown {
  const address = new ClientAddress();
  address.set(client, port);
  const { family, words } = address;
  const value =
    family === 4 ? BigInt(words[0]) : words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const subscriber = oracle.subscriber({ family, address: value, port });
  const active = oracle.active(subscriber.profileId, Date.now());
  if (active === null) {
    const isServed = /^(198\.51\.100|fd00)/.test(client) && subscriber.isOutsideRanges !== true;
    const verdict = isServed ? 'unfiltered' : 'refused';
    const nothing = { id: undefined, active: undefined, matched: null, rewrite: null };
    return { ...nothing, verdict, step: 'default' };
  }
  const own = decided(oracle.judgements(active.profile, domain));
  const isRewritten = oracle.rewriteOf(active.profile, domain, own) !== null;
  const rewrite = isRewritten ? TARGETS[domain] : null;
  const target = rewrite === null ? null : decided(oracle.judgements(active.profile, rewrite));
  const isOfTarget = target?.verdict === 'block' && !own.explicitAllow && type !== 'ANY';
  const { verdict, reason, labels } = isOfTarget ? target : own;
  const judged = isOfTarget ? TARGETS[domain] : domain;
  return {
    id: subscriber.profileId,
    active: active.profile.id,
    verdict: verdict === 'permit' ? 'allow' : 'deny',
    rewrite,
    step: STEPS[reason],
    matched: labels === 0 ? null : judged.split('.').slice(-labels).join('.'),
  };
}

describe('GET /explain/', () => {
  it('agrees with a scan over all entities and with what a resolver answers', async () => {
    dnsPort = (await resolver.ready()).dns.port;
    let asked = 0;
    const property = fc.asyncProperty(
      configuration,
      fc.array(question, { minLength: QUESTIONS_EACH, maxLength: QUESTIONS_EACH }),
      async (body, questions) => {
        const replaced = await harness.call('POST', '/init/', body);
        expect([replaced.status, replaced.headers.get('x-config-applied')]).toEqual([204, '1/1']);
        if (asked === 0) {
          const point = (day: string) => ({ day, time: '00:00' });
          const periods = [
            { start: point('monday'), end: point('wednesday') },
            { start: point('wednesday'), end: point('monday') },
          ];
          const schedule = { target_profile_id: 3, periods };
          const created = await harness.call('POST', '/profile/4/schedule', schedule);
          expect(created.headers.get('x-config-applied')).toBe('1/1');
        }
        const oracle = oracleOf(body);
        for (const { client, port, domain, type } of questions) {
          const query = new URLSearchParams({ client, port: String(port), domain, type });
          const answer = await harness.call('GET', `/explain/?${query.toString()}`);
          const said = answer.body as ExplanationDto;
          const answered = await dig(client, port, domain, TYPES[type]);
          asked++;
          const step = said.steps.find((one) => one.decided);
          if (step?.step !== 'special') {
            const { profile, verdict, rewrite } = said;
            const { step: by, matched } = step!;
            expect({
              ...{ id: profile?.id, active: profile?.active_id },
              ...{ verdict, rewrite, step: by, matched },
            }).toEqual(expected(oracle, { client, port, domain, type }));
          }
          const isA = type === 'A';
          const fromUpstream = {
            rcode: 'NOERROR',
            records: [
              ...(said.rewrite === null ? [] : [{ type: 'CNAME', ttl: 60, data: said.rewrite }]),
              ...(isA ? [{ type: 'A', ttl: 60, data: UPSTREAM_ADDRESS }] : []),
            ],
            ede: null,
          };
          const found = said.answer === null ? withTtl(answered, 60) : answered;
          expect({ client, port, domain, type, found }).toEqual({
            ...{ client, port, domain, type },
            found: said.answer ?? fromUpstream,
          });
        }
      },
    );
    await fc.assert(property, {
      numRuns: Math.ceil(QUESTIONS / QUESTIONS_EACH),
      // A smaller example would take as long as all of them.
      endOnFailure: true,
    });
    expect(asked).toBeGreaterThanOrEqual(QUESTIONS);
  }, 3_600_000);
});

/** The TTL in the cache of the resolver goes down. */
function withTtl({ rcode, records, ede }: DnsAnswerDto, ttl: number): DnsAnswerDto {
  return { rcode, records: records.map(({ type, data }) => ({ type, ttl, data })), ede };
}
