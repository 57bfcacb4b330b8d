import { ClientAddress, IncidentSeal, UNKNOWN_PORT } from '@weir/clients';
import { RuleVerdict } from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { domainRule, HASH_KEY_HEX, loopback, profile, put } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import type { BlockPage } from './block-page.js';
import { startCnameServer } from './testing/cname-server.js';
import {
  activateCatalogue,
  ask,
  type Asked,
  GAMBLING,
  type PageAnswer,
  ORDER,
  SAFE_SEARCH,
  useSurroundings,
  VIDEO,
} from './testing/running-page.js';

const KEY = parseHashKey(HASH_KEY_HEX);
const around = useSurroundings();
/** What the page says of the block: labels with their values. */
const said = (body: string) =>
  [...body.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, label, value]) =>
    [label, value].join(': ').replaceAll(/<\/?bdi>|[\u2068\u2069]/g, ''),
  );
const reason = (body: string) =>
  /<dt>Reason<\/dt><dd>(.*?)<\/dd>/.exec(body)?.[1].replace(/[\u2068\u2069]/g, '');

/** Asks until the lookup of the target was quick enough, on a machine that may stall. @returns the page */
async function askUntilLed(page: BlockPage, asked: Asked = { host: 'shop.example' }) {
  let answer!: PageAnswer;
  await expect.poll(async () => (answer = await ask(page, asked)).status).toBe(403);
  return answer;
}

describe('the page of a blocked name', () => {
  it('shows the reason: list, category, application, allow-list only', async () => {
    const rules = [{ applicationId: VIDEO, verdict: RuleVerdict.deny }];
    await around.plane.commit(
      activateCatalogue(around.plane),
      profile(1, { categoryIds: [GAMBLING], applicationRules: rules }),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const page = await around.start();
    const listed = await ask(page, { host: 'www.blocked.example:80' });
    expect(listed.status).toBe(403);
    expect(listed.body).toContain('<h1>This site is blocked</h1>');
    expect(listed.body).toContain('<bdi>www.blocked.example</bdi>');
    expect(reason(listed.body)).toBe('Your list of blocked sites');
    expect(reason((await ask(page, { host: 'www.bet.example' })).body)).toBe(
      'Blocked category: Gambling',
    );
    expect(reason((await ask(page, { host: 'video.example' })).body)).toBe(
      'Blocked application: Video',
    );
    await around.plane.commit(profile(1, { whiteListOnly: true }));
    await expect
      .poll(async () => reason((await ask(page, { host: 'other.example' })).body))
      .toBe('Only sites that you have allowed can be opened');
  });

  it('follows changes of the configuration, and disappears when the name is allowed', async () => {
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
    const page = await around.start();
    expect((await ask(page)).status).toBe(403);
    await around.plane.commit(domainRule(1, 'allow', 'blocked.example'));
    await expect.poll(async () => (await ask(page)).status).toBe(404);
    const allowed = await ask(page);
    expect(allowed.body).toContain('<h1>This site is not blocked</h1>');
    expect(allowed.body).toContain('<a class="button" href="">Try again</a>');
    await around.plane.commit(domainRule(1, 'deny', 'blocked.example'));
    await expect.poll(async () => (await ask(page)).status).toBe(403);
  });

  it('follows the schedule, and shows until when it applies', async () => {
    // Monday to Friday, 20:00 to 22:00.
    const periods = [0, 1, 2, 3, 4].map((day) => ({ start: day * 48 + 40, end: day * 48 + 44 }));
    await around.plane.commit(
      profile(1),
      profile(2, { whiteListOnly: true }),
      loopback(1),
      put('schedule', { profileId: 1, targetProfileId: 2, periods }),
      domainRule(1, 'deny', 'blocked.example'),
    );
    let nowMs = Date.UTC(2026, 10, 23, 19, 59, 59, 600); // a Monday
    const page = await around.start({}, { nowMs: () => nowMs });
    const before = await ask(page);
    expect(reason(before.body)).toBe('Your list of blocked sites');
    expect(before.body).toContain('These settings change: \u2068Monday 20:00\u2069');
    expect((await ask(page, { host: 'other.example' })).status).toBe(404);
    nowMs += 400;
    const during = await ask(page, { host: 'other.example' });
    expect(during.status).toBe(403);
    expect(during.body).toContain('These settings apply until: \u2068Monday 22:00\u2069');
    nowMs = Date.UTC(2026, 10, 23, 22);
    expect((await ask(page, { host: 'other.example' })).status).toBe(404);
  });

  it('is shown for a name with a blocked CNAME target, which the upstream tells', async () => {
    const upstream = await startCnameServer({
      'shop.example': 'cdn.example',
      'cdn.example': 'ads.example',
    });
    around.cleanups.push(() => {
      upstream.close();
    });
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'ads.example'));
    const page = await around.start({
      INSPECT_CNAME: 'true',
      UPSTREAMS: `127.0.0.1:${upstream.port}`,
    });
    const led = await askUntilLed(page);
    expect(led.body).toContain('<dt>Leads to</dt><dd><bdi>ads.example</bdi></dd>');
    expect((await ask(page, { host: 'elsewhere.example' })).status).toBe(404);
    await around.plane.commit(domainRule(1, 'allow', 'shop.example'));
    await expect.poll(async () => (await ask(page, { host: 'shop.example' })).status).toBe(404);
  });

  it('is shown for a name that safe search sends to a blocked name, or to one that leads to it', async () => {
    const upstream = await startCnameServer({ 'strict.example': 'cdn.example' });
    around.cleanups.push(() => {
      upstream.close();
    });
    await around.plane.commit(
      activateCatalogue(around.plane),
      profile(1, { categoryIds: [SAFE_SEARCH] }),
      loopback(1),
      domainRule(1, 'deny', 'strict.example'),
    );
    const variables = { INSPECT_CNAME: 'true', UPSTREAMS: `127.0.0.1:${upstream.port}` };
    const page = await around.start(variables);
    const search = { host: 'search.example' };
    const direct = await ask(page, search);
    expect([direct.status, reason(direct.body)]).toEqual([403, 'Your list of blocked sites']);
    expect(direct.body).toContain('<dt>Leads to</dt><dd><bdi>strict.example</bdi></dd>');
    await around.plane.commit(domainRule(1, 'allow', 'strict.example'));
    await expect.poll(async () => (await ask(page, search)).status).toBe(404);
    await around.plane.commit(domainRule(1, 'deny', 'cdn.example'));
    const led = await askUntilLed(page, search);
    expect(led.body).toContain('<dt>Leads to</dt><dd><bdi>cdn.example</bdi></dd>');
  });

  it('is not looked for in clear text at an upstream that is asked over TLS', async () => {
    const upstream = await startCnameServer({ 'shop.example': 'ads.example' });
    around.cleanups.push(() => {
      upstream.close();
    });
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'ads.example'));
    const overTls = `tls://127.0.0.1:${upstream.port}#dns.example`;
    const secret = await around.start({ INSPECT_CNAME: 'true', UPSTREAMS: overTls });
    expect((await ask(secret, { host: 'shop.example' })).status).toBe(404);
    const mixed = `${overTls},127.0.0.1:${upstream.port}`;
    const page = await around.start({ INSPECT_CNAME: 'true', UPSTREAMS: mixed });
    await askUntilLed(page);
  });

  it('is shown to one visitor while another one causes many lookups', async () => {
    // Answers only for the shop: whoever asks for others waits.
    const upstream = await startCnameServer({ 'shop.example': 'ads.example' }, { isSilent: true });
    around.cleanups.push(() => {
      upstream.close();
    });
    const networks = [1, 2].map((host) =>
      put('ipv4Network', { address: 0xc000_0200 + host, prefixLength: 32, profileId: 1 }),
    );
    await around.plane.commit(profile(1), ...networks, domainRule(1, 'deny', 'ads.example'));
    const page = await around.start({
      INSPECT_CNAME: 'true',
      UPSTREAMS: `127.0.0.1:${upstream.port}`,
      BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.1',
      BLOCK_PAGE_CLIENT_RATE: '0',
    });
    const from = (address: string, host: string) => {
      return { host, headers: { 'X-Forwarded-For': address } };
    };
    const busy = Array.from({ length: 100 }, (_, i) =>
      ask(page, from('192.0.2.1', `n${i}.example`)),
    );
    await askUntilLed(page, from('192.0.2.2', 'shop.example'));
    for (const { status } of await Promise.all(busy)) expect(status).toBe(404);
  });

  it('shows internationalised names with U-labels', async () => {
    await around.plane.commit(profile(1, { whiteListOnly: true }), loopback(1));
    const page = await around.start();
    expect((await ask(page, { host: 'xn--bcher-kva.example' })).body).toContain('bücher.example');
  });
});

describe('a visitor whose port is unknown', () => {
  const ADDRESS = 0xc000_0207; // 192.0.2.7
  const range = (lowerPort: number, upperPort: number, profileId: number) =>
    put('naptAssignment', { address: ADDRESS, lowerPort, upperPort, profileId });
  const NETWORK = put('ipv4Network', { address: 0xc000_0200, prefixLength: 24, profileId: 1 });
  const [BY_1, BY_2] = [
    'Only sites that you have allowed can be opened',
    'Your list of blocked sites',
  ];

  it.each([
    ['the network, where no range is in it', [NETWORK], BY_1],
    ['the one range, if it has all ports', [NETWORK, range(0, 65_535, 2)], BY_2],
    ['nothing, where a range is in the network', [NETWORK, range(1024, 2047, 2)], undefined],
    ['nothing, where narrower ranges are', [range(0, 65_535, 1), range(1024, 2047, 2)], undefined],
    [
      'nothing, where ranges are side by side',
      [range(0, 1023, 1), range(1024, 65_535, 2)],
      undefined,
    ],
  ])('is judged by %s, and by what is blocked for everybody', async (_, subscribers, by) => {
    await around.plane.commit(
      profile(1, { whiteListOnly: true }),
      profile(2),
      domainRule(2, 'deny', 'blocked.example'),
      ORDER,
      ...subscribers,
    );
    const variables = { BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.1', INCIDENT_KEYS: '00'.repeat(16) };
    const page = await around.start(variables);
    const headers = { 'X-Forwarded-For': '192.0.2.7' };
    const { status, body } = await ask(page, { host: 'blocked.example', headers });
    expect([status, reason(body)]).toEqual([by === undefined ? 404 : 403, by]);
    expect(body.includes('Incident')).toBe(by !== undefined);
    expect((await ask(page, { host: 'ordered.example', headers })).status).toBe(451);
  });
});

describe('the incident number', () => {
  const KEYS = ['000102030405060708090a0b0c0d0e0f', '101112131415161718191a1b1c1d1e1f'];
  const AT = Date.UTC(2026, 10, 24, 12);
  const numberIn = (body: string) => /<code dir="ltr">(.*)<\/code>/.exec(body)?.[1];
  const variables = { INCIDENT_KEYS: KEYS.join(), BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.1' };

  it.each([
    ['192.0.2.7:4000', '192.0.2.7', 4000],
    ['192.0.2.7', '192.0.2.7', UNKNOWN_PORT],
    ['[2001:db8::7]:4000', '2001:db8::7', 4000],
  ])(
    'tells of %s, the name and the time, to who has the first key',
    async (from, address, port) => {
      const client = new ClientAddress();
      client.set(address, port);
      await around.plane.commit(
        profile(1, { whiteListOnly: true }),
        put('ipv4Network', { address: 0xc000_0200, prefixLength: 24, profileId: 1 }),
        put('ipv6Network', { address: [0x2001_0db8, 0, 0, 0], prefixLength: 32, profileId: 1 }),
      );
      const page = await around.start(variables, { nowMs: () => AT });
      const headers = { 'X-Forwarded-For': from };
      const { status, body } = await ask(page, { host: 'WWW.blocked.example', headers });
      expect(status).toBe(403);
      const incident = { client, domain: 'www.blocked.example', atMs: AT };
      expect(new IncidentSeal([KEYS[0]]).open(numberIn(body)!)).toEqual(incident);
      expect(new IncidentSeal([KEYS[1]]).open(numberIn(body)!)).toBeNull();
    },
  );

  it('tells of the target, when that is what is blocked', async () => {
    const upstream = await startCnameServer({ 'shop.example': 'ads.example' });
    around.cleanups.push(() => {
      upstream.close();
    });
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'ads.example'));
    const page = await around.start({
      ...variables,
      ...{ INSPECT_CNAME: 'true', UPSTREAMS: `127.0.0.1:${upstream.port}` },
    });
    const { body } = await askUntilLed(page);
    const incident = new IncidentSeal(KEYS).open(numberIn(body)!);
    expect(incident).toMatchObject({ domain: 'shop.example', target: 'ads.example' });
  });

  it('is on pages of blocked names only, and only with a key', async () => {
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
    const page = await around.start(variables);
    const preview = await fetch(`http://127.0.0.1:${page.opsPort}/__preview/default`);
    const bodies = [
      (await ask(page)).body,
      (await ask(page, { host: 'other.example' })).body,
      (await ask(page, { host: null })).body,
      await preview.text(),
      (await ask(await around.start())).body,
    ];
    const numbers = bodies.map((body) => numberIn(body) !== undefined);
    expect(numbers).toEqual([true, false, false, false, false]);
    expect(bodies.slice(1).join()).not.toContain('Incident');
  });
});

describe('the page of a name that is blocked for everybody', () => {
  const start = async (variables: Record<string, string> = {}) => {
    await around.plane.commit(
      activateCatalogue(around.plane),
      profile(1),
      loopback(1),
      domainRule(1, 'allow', 'ordered.example'),
      domainRule(1, 'allow', 'shop.example'),
      ORDER,
    );
    return around.start({ INCIDENT_KEYS: '00'.repeat(16), ...variables });
  };

  it('says who has ordered it, whatever the settings of the visitor are', async () => {
    const page = await start();
    const { status, body } = await ask(page, { host: 'www.ordered.example' });
    expect(status).toBe(451);
    expect(body).toContain('<h1>This site is blocked by law</h1>');
    expect(body).toContain('<bdi>www.ordered.example</bdi>');
    expect(said(body)).toEqual([
      'Ordered by: Landgericht Musterstadt',
      'Reference: 3 O 1/26 &lt;b&gt;',
    ]);
    await around.plane.commit({ type: 'delete', kind: 'order', key: { id: 1 } });
    await expect.poll(async () => (await ask(page, { host: 'ordered.example' })).status).toBe(404);
  });

  it('names a mandatory category; of a secret one it says nothing, nor do the metrics', async () => {
    const page = await start();
    const byLaw = await ask(page, { host: 'mandatory30.example' });
    expect([byLaw.status, said(byLaw.body)]).toEqual([
      451,
      ['Reason: Blocked category: Court list'],
    ]);
    const other = await ask(page, { host: 'mandatory31.example' });
    expect([other.status, said(other.body)]).toEqual([403, ['Reason: Blocked category: Botnets']]);
    expect(other.body).toContain('<h1>This site is blocked for everybody</h1>');
    const secret = await ask(page, { host: 'www.mandatory32.example' });
    expect([secret.status, said(secret.body)]).toEqual([451, []]);
    expect(secret.body).toContain('<h1>This site is blocked by law</h1>');
    expect(secret.body).not.toMatch(/mandatory|Hidden/);
    const metrics = await (await fetch(`http://127.0.0.1:${page.opsPort}/metrics`)).text();
    expect(metrics.match(/weir_block_page_pages_total\{.*\} \d/g)?.sort()).toEqual([
      'weir_block_page_pages_total{page="built_in",subject="blocked",reason="mandatory"} 2',
      'weir_block_page_pages_total{page="built_in",subject="blocked",reason="order"} 1',
    ]);
  });

  it('is shown for a name that leads to an ordered one, though a rule allows it', async () => {
    const upstream = await startCnameServer({ 'shop.example': 'cdn.ordered.example' });
    around.cleanups.push(() => {
      upstream.close();
    });
    const page = await start({ INSPECT_CNAME: 'false', UPSTREAMS: `127.0.0.1:${upstream.port}` });
    let answer!: PageAnswer;
    await expect
      .poll(async () => (answer = await ask(page, { host: 'shop.example' })).status)
      .toBe(451);
    expect(said(answer.body)[0]).toBe('Leads to: cdn.ordered.example');
  });
});

it('the page of an order is shown for a name that safe search sends to an ordered one', async () => {
  await around.plane.commit(
    activateCatalogue(around.plane),
    profile(1, { categoryIds: [SAFE_SEARCH] }),
    loopback(1),
    put('order', { ...ORDER.entity, domainHash: hashDomain('strict.example', KEY) } as never),
  );
  const page = await around.start({ INSPECT_CNAME: 'false' });
  const { status, body } = await ask(page, { host: 'search.example' });
  expect([status, said(body)[0]]).toEqual([451, 'Leads to: strict.example']);
});

describe('a request that names no blocked site', () => {
  it('gets a page that says so: no profile, no name, an address, no configuration yet', async () => {
    const empty = await around.start({ FEED_URL: 'http://127.0.0.1:2' }, { isReady: false });
    const unready = await ask(empty);
    expect([unready.status, unready.headers['retry-after']]).toEqual([503, '1']);
    await around.plane.commit(profile(1));
    const page = await around.start();
    expect((await ask(page)).body).toContain('This site is not blocked');
    for (const host of [
      null,
      '[::1]:8081',
      '192.0.2.1',
      '*',
      '-',
      'a..b',
      `${'a'.repeat(64)}.example`,
    ]) {
      const answer = await ask(page, { host });
      expect([host, answer.status]).toEqual([host, 404]);
      expect(answer.body).toContain('This is the page for blocked sites');
    }
  });

  it('uses the name of a whole URL in the request line instead of the Host header', async () => {
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
    const page = await around.start();
    const path = 'http://blocked.example/a';
    expect((await ask(page, { host: 'other.example', path })).status).toBe(403);
  });
});

describe('the language of the page', () => {
  it('is the visitor’s language, or the configured one if there is no text in it', async () => {
    await around.plane.commit(profile(1, { whiteListOnly: true }), loopback(1));
    const page = await around.start({ BLOCK_PAGE_LANGUAGE: 'pl' });
    const languageFor = async (accepted: string) =>
      (await ask(page, { headers: { 'Accept-Language': accepted } })).headers['content-language'];
    expect(await languageFor('de-AT,de;q=0.9,en;q=0.8')).toBe('de');
    expect(await languageFor('nl,zh;q=0.5')).toBe('pl');
    const arabic = await ask(page, { headers: { 'Accept-Language': 'ar' } });
    expect(arabic.body).toContain('<html lang="ar" dir="rtl">');
  });
});
