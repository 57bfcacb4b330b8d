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

/** Asks for the names, and compares what each gets. */
async function expectResults(
  ask: (name: string) => Promise<string>,
  expected: Readonly<Record<string, string>>,
): Promise<void> {
  const results: Record<string, string> = {};
  for (const name of Object.keys(expected)) results[name] = await ask(name);
  expect(results).toEqual(expected);
}

const targets = [21, 22, 23].flatMap((id) => categoryOf(id).rewrites.map(({ to }) => to));

describe('safe search of the default catalogue', () => {
  it('leads search engines to their safe variants, blocks those without one, leaves other names alone', async () => {
    await expectResults(await resolver(21), {
      'www.google.com': 'forcesafesearch.google.com',
      'www.google.co.uk': 'forcesafesearch.google.com',
      'ipv4.google.com': 'forcesafesearch.google.com',
      'ipv6.google.com': 'forcesafesearch.google.com',
      'bing.com': 'strict.bing.com',
      'www.bing.com': 'strict.bing.com',
      'cn.bing.com': 'strict.bing.com',
      'edgeservices.bing.com': 'strict.bing.com',
      'duckduckgo.com': 'safe.duckduckgo.com',
      'start.duckduckgo.com': 'safe.duckduckgo.com',
      'html.duckduckgo.com': 'blocked',
      'lite.duckduckgo.com': 'blocked',
      'noai.duckduckgo.com': 'blocked',
      'search.brave.com': 'forcesafe.search.brave.com',
      'www.ecosia.org': 'strict-safe-search.ecosia.org',
      'pixabay.com': 'safesearch.pixabay.com',
      'yandex.ru': 'familysearch.yandex.ru',
      'ya.ru': 'familysearch.yandex.ru',
      'www.yandex.com': 'familysearch.yandex.ru',
      'www.qwant.com': 'blocked',
      'lite.qwant.com': 'blocked',
      'www.startpage.com': 'blocked',
      'uk.search.yahoo.com': 'blocked',
      'www.baidu.com': 'blocked',
      'safe.duckduckgo.com': 'unchanged',
      'forcesafesearch.google.com': 'unchanged',
      'mail.google.com': 'unchanged',
      'mail.yahoo.com': 'unchanged',
      'brave.com': 'unchanged',
      'www.youtube.com': 'unchanged',
    });
  });

  it.each([
    [22, 'restrict.youtube.com'],
    [23, 'restrictmoderate.youtube.com'],
  ])('category %i restricts YouTube by %s', async (category, target) => {
    await expectResults(await resolver(category), {
      'www.youtube.com': target,
      'm.youtube.com': target,
      'youtubei.googleapis.com': target,
      'youtube.googleapis.com': target,
      'www.youtube-nocookie.com': target,
      'music.youtube.com': 'blocked',
      'tv.youtube.com': 'blocked',
      'youtubeembeddedplayer.googleapis.com': 'blocked',
      // Google says that these must stay as they are: they lead to the names above.
      'youtube.com': 'unchanged',
      'youtu.be': 'unchanged',
      's.ytimg.com': 'unchanged',
    });
  });

  it('leaves every name alone for a profile without these categories', async () => {
    const ask = await resolver();
    for (const id of [21, 22, 23]) {
      const { rewrites } = categoryOf(id);
      const names = rewrites.flatMap((one) => one.names);
      await expectResults(ask, Object.fromEntries(names.map((name) => [name, 'unchanged'])));
    }
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

it('blocks encrypted DNS by the default catalogue, and leaves the websites of its operators alone', async () => {
  await expectResults(await resolver(16), {
    'doh.dns.apple.com': 'blocked',
    'dns.alidns.com': 'blocked',
    'doh.pub': 'blocked',
    'doh.360.cn': 'blocked',
    'dns.google': 'blocked',
    'dns.google.com': 'blocked',
    'mozilla.cloudflare-dns.com': 'blocked',
    'dns.quad9.net': 'blocked',
    'abc123.dns.nextdns.io': 'blocked',
    'dns.umbrella.com': 'blocked',
    'family.dot.dns.yandex.net': 'blocked',
    'doh.xfinity.com': 'blocked',
    'protective.joindns4.eu': 'blocked',
    'doh.sb': 'blocked',
    'www.apple.com': 'unchanged',
    'www.alidns.com': 'unchanged',
    'www.google.com': 'unchanged',
    'www.opendns.com': 'unchanged',
    'nextdns.io': 'unchanged',
  });
});
