import {
  CatalogueImage,
  compileCatalogue,
  type GroupDefinition,
  NameList,
  openSource,
  readDefinition,
  readNames,
} from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { decodeMessage, encodeQuery, wireName } from '@weir/dns-wire/testing';
import { HASH_KEY_HEX, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import fc from 'fast-check';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { askUdp } from '../testing/client.js';
import { upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { startService } from '../testing/service.js';
import { inSharedMemory } from '../testing/shared-source.js';

const key = parseHashKey(HASH_KEY_HEX);
const FOLDER = fileURLToPath(new URL('../../../../catalogue', import.meta.url));
const definition = await readDefinition(FOLDER);
const LIMITS = { maxBytes: 1e7, timeoutMs: 60_000 };

async function listed({ sources, domains, ...group }: GroupDefinition) {
  const lists = [NameList.of(domains, key)];
  for (const source of sources) {
    const opened = await openSource(source, LIMITS);
    if (opened.status === 'unchanged') throw new Error('unchanged');
    lists.push((await readNames(opened.body, source.format, key)).names);
  }
  return { ...group, lists };
}

const { image } = compileCatalogue(
  { categories: await Promise.all(definition.categories.map(listed)), applications: [] },
  key,
);
const categoryOf = (id: number) => definition.categories.find((category) => category.id === id)!;

const CNAME = 5;
/** The Extended DNS Error of a block (RFC 8914 §4.18). */
const FILTERED = 17;
const UPSTREAM = '198.51.100.1';

/** What a subscriber gets whose profile blocks these categories of the default catalogue. */
async function resolver(...categoryIds: number[]) {
  const server = await upstream((query) => respond(query, { answers: [a(UPSTREAM)] }));
  const policy = policyOf(loopback(1), profile(1, { categoryIds }));
  policy.setCatalogue(CatalogueImage.open(inSharedMemory(image), key));
  const { address, port } = await startService(
    {},
    { source: { policy }, upstreams: [server.endpoint] },
  );
  return async (name: string): Promise<string> => {
    const query = encodeQuery(name, 1, { udpBytes: 1232 });
    const { answers, ede } = decodeMessage((await askUdp({ address, port }, query))!);
    if (ede.includes(FILTERED)) return 'blocked';
    const [first] = answers;
    if (first?.type !== CNAME) return first === undefined ? 'nothing' : 'unchanged';
    const target = targets.find((to) => Buffer.from(wireName(to)).equals(first.rdata));
    return target ?? 'another target';
  };
}
const targets = [21, 22, 23].flatMap((id) => categoryOf(id).rewrites.map(({ to }) => to));

describe('safe search of the default catalogue', () => {
  it.each([
    ['www.google.com', 'forcesafesearch.google.com'],
    ['www.google.co.uk', 'forcesafesearch.google.com'],
    ['ipv4.google.com', 'forcesafesearch.google.com'],
    ['ipv6.google.com', 'forcesafesearch.google.com'],
    ['bing.com', 'strict.bing.com'],
    ['www.bing.com', 'strict.bing.com'],
    ['cn.bing.com', 'strict.bing.com'],
    ['edgeservices.bing.com', 'strict.bing.com'],
    ['duckduckgo.com', 'safe.duckduckgo.com'],
    ['start.duckduckgo.com', 'safe.duckduckgo.com'],
    ['html.duckduckgo.com', 'blocked'],
    ['lite.duckduckgo.com', 'blocked'],
    ['noai.duckduckgo.com', 'blocked'],
    ['search.brave.com', 'forcesafe.search.brave.com'],
    ['www.ecosia.org', 'strict-safe-search.ecosia.org'],
    ['pixabay.com', 'safesearch.pixabay.com'],
    ['yandex.ru', 'familysearch.yandex.ru'],
    ['ya.ru', 'familysearch.yandex.ru'],
    ['www.yandex.com', 'familysearch.yandex.ru'],
    ['www.qwant.com', 'blocked'],
    ['lite.qwant.com', 'blocked'],
    ['www.startpage.com', 'blocked'],
    ['uk.search.yahoo.com', 'blocked'],
    ['www.baidu.com', 'blocked'],
    ['safe.duckduckgo.com', 'unchanged'],
    ['forcesafesearch.google.com', 'unchanged'],
    ['mail.google.com', 'unchanged'],
    ['mail.yahoo.com', 'unchanged'],
    ['brave.com', 'unchanged'],
    ['www.youtube.com', 'unchanged'],
  ])('leads %s to: %s', async (name, result) => {
    expect(await (await resolver(21))(name)).toBe(result);
    expect(await (await resolver())(name)).toBe('unchanged');
  });

  it.each([
    ['www.youtube.com', 'rewritten'],
    ['m.youtube.com', 'rewritten'],
    ['youtubei.googleapis.com', 'rewritten'],
    ['youtube.googleapis.com', 'rewritten'],
    ['www.youtube-nocookie.com', 'rewritten'],
    ['music.youtube.com', 'blocked'],
    ['tv.youtube.com', 'blocked'],
    ['youtubeembeddedplayer.googleapis.com', 'blocked'],
    // Google says that these must stay as they are: they lead to the names above.
    ['youtube.com', 'unchanged'],
    ['youtu.be', 'unchanged'],
    ['s.ytimg.com', 'unchanged'],
  ])('restricts YouTube: %s is %s', async (name, result) => {
    const to = (target: string) => (result === 'rewritten' ? target : result);
    expect(await (await resolver(22))(name)).toBe(to('restrict.youtube.com'));
    expect(await (await resolver(23))(name)).toBe(to('restrictmoderate.youtube.com'));
    expect(await (await resolver())(name)).toBe('unchanged');
  });

  it('answers every rewritten name by its target, and blocks every other name and all below it', async () => {
    const asked = [21, 22, 23].map(async (id) => {
      const ask = await resolver(id);
      const { domains, rewrites } = categoryOf(id);
      return [
        ...rewrites.flatMap(({ to, names }) => names.map((name) => ({ ask, name, result: to }))),
        ...domains.map((name) => ({ ask, name, result: 'blocked' })),
      ];
    });
    const cases = (await Promise.all(asked)).flat();
    expect(cases.length).toBeGreaterThan(300);
    for (const { ask, name, result } of cases)
      expect([name, await ask(name)]).toEqual([name, result]);
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/);
    const blocked = fc.constantFrom(...cases.filter(({ result }) => result === 'blocked'));
    await fc.assert(
      fc.asyncProperty(label, blocked, async (below, { ask, name }) => {
        expect(await ask(`${below}.${name}`)).toBe('blocked');
      }),
      { numRuns: 50 },
    );
  });
});

describe('the category Encrypted DNS of the default catalogue', () => {
  it.each([
    ...[
      'doh.dns.apple.com',
      'dns.alidns.com',
      'doh.pub',
      'doh.360.cn',
      'dns.google',
      'dns.google.com',
    ],
    ...['mozilla.cloudflare-dns.com', 'dns.quad9.net', 'abc123.dns.nextdns.io', 'dns.umbrella.com'],
    ...['family.dot.dns.yandex.net', 'doh.xfinity.com', 'protective.joindns4.eu', 'doh.sb'],
  ])('blocks %s', async (name) => {
    expect(await (await resolver(16))(name)).toBe('blocked');
  });

  it.each(['www.apple.com', 'www.alidns.com', 'www.google.com', 'www.opendns.com', 'nextdns.io'])(
    'leaves %s alone',
    async (name) => {
      expect(await (await resolver(16))(name)).toBe('unchanged');
    },
  );
});
