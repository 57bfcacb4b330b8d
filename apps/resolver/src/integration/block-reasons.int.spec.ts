import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import { RuleVerdict } from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { decodeMessage, decodeOptions, encodeQuery } from '@weir/dns-wire/testing';
import { needs } from '@weir/ops/testing';
import {
  domainRule,
  HASH_KEY_HEX,
  loopback,
  policyOf,
  profile,
  put,
} from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { askUdp } from '../testing/client.js';
import { run } from '../testing/programs.js';
import { startService, useCertificate } from '../testing/service.js';
import { inSharedMemory } from '../testing/shared-source.js';

const certificate = useCertificate();
const key = parseHashKey(HASH_KEY_HEX);
const LONG_NAME = 'x'.repeat(200);
const { image } = compileCatalogue(
  {
    categories: [
      { id: 2, name: 'Glücksspiel', lists: [NameList.of(['bet.example'], key)] },
      { id: 3, name: 'Malware', purpose: 'security', lists: [NameList.of(['evil.example'], key)] },
      { id: 4, name: LONG_NAME, lists: [NameList.of(['long.example'], key)] },
      ...[
        { id: 5, name: 'Court list', purpose: 'legal', mandatory: true } as const,
        { id: 6, name: 'Botnets', purpose: 'security', mandatory: true } as const,
        { id: 7, name: 'Hidden', purpose: 'legal', mandatory: true, secret: true } as const,
      ].map((group) => ({
        ...group,
        lists: [NameList.of([`mandatory${group.id}.example`], key)],
      })),
    ],
    applications: [{ id: 7, name: 'TikTok', lists: [NameList.of(['video.example'], key)] }],
  },
  key,
);
const OPTION = 65_001;

function policyWithCatalogue() {
  const applicationRules = [{ applicationId: 7, verdict: RuleVerdict.deny }];
  const policy = policyOf(
    profile(1, { categoryIds: [2, 3, 4], applicationRules }),
    loopback(1),
    domainRule(1, 'deny', 'denied.example'),
    put('order', {
      id: 1,
      domainHash: hashDomain('ordered.example', key),
      until: null,
      authority: 'District Court',
      reference: '3 O 1/26 "x"',
    }),
    put('grant', {
      profileId: 1,
      domainHash: hashDomain('granted.example', key),
      verdict: RuleVerdict.deny,
      until: Math.floor(Date.now() / 1000) + 86_400,
    }),
  );
  policy.setCatalogue(CatalogueImage.open(inSharedMemory(image), key));
  return policy;
}

async function serve(
  configuration: Partial<DnsConfiguration> = {},
  policy = policyWithCatalogue(),
) {
  const server = await startService(configuration, { source: { policy } });
  const at = ['@127.0.0.1', '-p', String(server.port)];
  return { server, dig: (...args: string[]) => run('dig', [...at, '+tries=1', ...args]), at };
}

describe('the reason of a block', () => {
  it('is printed by dig', needs('dig'), async () => {
    const { dig } = await serve();
    // dig 9.18 prints only ASCII as it is.
    expect(await dig('www.bet.example')).toMatch(/EDE: 17 \(Filtered\): \(category Gl.+cksspiel\)/);
    expect(await dig('evil.example')).toContain('EDE: 15 (Blocked): (category Malware)');
    expect(await dig('video.example')).toContain('EDE: 17 (Filtered): (application TikTok)');
    expect(await dig('denied.example', 'HTTPS')).toContain('EDE: 17 (Filtered): (deny list)');
    const strict = policyOf(profile(1, { whiteListOnly: true }), loopback(1));
    const { dig: digStrict } = await serve({}, strict);
    expect(await digStrict('example')).toContain('EDE: 17 (Filtered): (allow list only)');
  });

  it('is printed by dig for what everybody is denied, and for a grant', needs('dig'), async () => {
    const { dig } = await serve();
    const order = 'EDE: 16 (Censored): (order 3 O 1/26 "x")';
    expect(await dig('www.ordered.example')).toContain(order);
    expect(await dig('mandatory5.example')).toContain('EDE: 16 (Censored): (category Court list)');
    expect(await dig('mandatory6.example')).toContain('EDE: 15 (Blocked): (category Botnets)');
    expect(await dig('mandatory7.example')).toMatch(/EDE: 16 \(Censored\)$/m);
    expect(await dig('granted.example')).toContain('EDE: 17 (Filtered): (grant)');
  });

  it('is printed by kdig, over UDP and over TLS', needs('kdig'), async () => {
    const { at, server } = await serve({ DNS_TLS_PORT: 0, ...certificate });
    const tls = ['@127.0.0.1', '-p', String(server.tlsPort), '+tls'];
    for (const way of [at, tls]) {
      const printed = await run('kdig', [...way, '+edns', 'evil.example']);
      expect(printed).toMatch(/EDE: 15 \(Blocked\): 'category Malware'/);
    }
  });

  it('does not keep delv from the answer', needs('delv'), async () => {
    const { at } = await serve();
    for (const name of ['www.ordered.example', 'mandatory7.example', 'evil.example']) {
      const printed = await run('delv', [...at, '-i', name]);
      expect(printed).toMatch(
        new RegExp(`^${name}\\.\\s+\\d+\\s+IN\\s+A\\s+192\\.0\\.2\\.80$`, 'm'),
      );
    }
  });

  it('is printed by drill', needs('drill'), async () => {
    const { server } = await serve();
    const errors = {
      'www.ordered.example': /EDE: 16 \(Censored\): .*\(order 3 O 1\/26/,
      'mandatory7.example': /EDE: 16 \(Censored\)\s*$/m,
      'evil.example': /EDE: 15 \(Blocked\): .*\(category Malware\)/,
    };
    for (const [name, error] of Object.entries(errors)) {
      const args = ['-p', String(server.port), '-b', '1232', name, '@127.0.0.1'];
      const printed = await run('drill', args);
      expect(printed).toContain('rcode: NOERROR');
      expect(printed).toMatch(error);
      expect(printed).toMatch(/IN\s+A\s+192\.0\.2\.80$/m);
    }
  });

  it('is only a code with BLOCK_EDE_TEXT=false', needs('dig'), async () => {
    const { dig } = await serve({ BLOCK_EDE_TEXT: false });
    expect(await dig('evil.example')).toMatch(/EDE: 15 \(Blocked\)$/m);
    expect(await dig('bet.example')).toMatch(/EDE: 17 \(Filtered\)$/m);
  });

  it('loses its text before the answer is truncated', async () => {
    const { server } = await serve();
    const name = `${`${'n'.repeat(60)}.`.repeat(3)}long.example`;
    const ask = async (udpBytes: number) => {
      const answer = await askUdp(server, encodeQuery(name, 1, { udpBytes }));
      const { flags, answers, opt } = decodeMessage(answer!);
      return { flags, answers: answers.length, text: decodeOptions(opt!.rdata)[0].data.toString() };
    };
    const [code, whole] = ['\0\u0011', `\0\u0011category ${LONG_NAME}`];
    expect(await ask(1232)).toEqual({ flags: 0x8180, answers: 1, text: whole });
    expect(await ask(512)).toEqual({ flags: 0x8180, answers: 1, text: whole });
    const fullPage = Array.from({ length: 7 }, (_, i) => `192.0.2.${i + 1}`);
    const { server: full } = await serve({ BLOCK_PAGE_IPV4: fullPage });
    const answer = await askUdp(full, encodeQuery(name, 1, { udpBytes: 512 }));
    const { flags, answers, opt } = decodeMessage(answer!);
    expect([flags, answers.length]).toEqual([0x8180, 7]);
    expect(decodeOptions(opt!.rdata)[0].data.toString()).toBe(code);
  });
});

describe('structured errors', needs('dig'), () => {
  it('are for clients that send the option, over TLS and HTTPS only', async () => {
    const { dig, server } = await serve({
      ...{ DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, ...certificate },
      STRUCTURED_ERRORS_OPTION: OPTION,
      BLOCK_PAGE_BRAND_NAME: 'Example Net',
      BLOCK_PAGE_BRAND_SUPPORT: 'https://example.net/help',
      BLOCK_PAGE_BRAND_PHONE: '+44 (20) 7946-0000',
    });
    const asked = `+ednsopt=${OPTION}`;
    const [tls, https] = [
      ['-p', String(server.tlsPort), '+tls'],
      ['-p', String(server.httpsPort), '+https'],
    ];
    const json =
      '{"c":["https://example.net/help","tel:+442079460000"],"j":"category Malware","s":1,' +
      '"o":"Example Net","l":"en"}';
    expect(await dig('evil.example', asked, ...tls)).toContain(`EDE: 15 (Blocked): (${json})`);
    expect(await dig('evil.example', asked, ...https)).toContain(`EDE: 15 (Blocked): (${json})`);
    const order = String.raw`"j":"order 3 O 1/26 \"x\"","o":"Example Net","l":"en"})`;
    expect(await dig('ordered.example', asked, ...tls)).toContain(order);
    const plain = 'EDE: 15 (Blocked): (category Malware)';
    expect(await dig('evil.example', ...tls)).toContain(plain);
    expect(await dig('evil.example', asked)).toContain(plain);
    expect(await dig('evil.example', asked, '+tcp')).toContain(plain);
    expect(await dig('evil.example', '+ednsopt=65002', ...tls)).toContain(plain);
  });

  it('are printed by kdig', needs('kdig'), async () => {
    const { server } = await serve({
      ...{ DNS_TLS_PORT: 0, ...certificate },
      STRUCTURED_ERRORS_OPTION: OPTION,
    });
    const tls = ['@127.0.0.1', '-p', String(server.tlsPort), '+tls', `+ednsopt=${OPTION}`];
    const json = '{"j":"category Malware","s":1,"l":"en"}';
    expect(await run('kdig', [...tls, 'evil.example'])).toContain(json);
    // Of a secret category not even the kind is told.
    const secret = await run('kdig', [...tls, 'mandatory7.example']);
    expect(secret).toMatch(/EDE: 16 \(Censored\)/);
    expect(secret).not.toMatch(/Hidden|category|"j"/);
  });

  it('are off by default', async () => {
    const { dig, server } = await serve({ DNS_TLS_PORT: 0, ...certificate });
    const printed = await dig(
      'evil.example',
      `+ednsopt=${OPTION}`,
      '-p',
      String(server.tlsPort),
      '+tls',
    );
    expect(printed).toContain('EDE: 15 (Blocked): (category Malware)');
  });
});

describe('RESINFO (RFC 9606)', () => {
  const INFO = 'exterr=0-30';
  const URL = 'https://example.net/resolvers';
  const NAME = 'dns.example.net';
  const strict = () => policyOf(profile(1, { whiteListOnly: true }), loopback(1));
  const rdata = (...texts: string[]) =>
    Buffer.concat(texts.map((text) => Buffer.from(`${String.fromCharCode(text.length)}${text}`)));

  it('is an authoritative record of both names, whatever the policy says', async () => {
    const variables = { DNS_DESIGNATED_NAME: NAME, RESOLVER_INFO_URL: URL };
    const { server } = await serve(variables, strict());
    for (const name of ['resolver.arpa', 'RESOLVER.ARPA', NAME]) {
      // Clients ask without RD, and take no answer without AA (RFC 9606 §3).
      const query = encodeQuery(name, 261, { flags: 0, udpBytes: 1232 });
      const { flags, answers } = decodeMessage((await askUdp(server, query))!);
      expect(flags).toBe(0x8480);
      expect(answers).toMatchObject([{ type: 261, class: 1, ttl: 300 }]);
      expect(answers[0].rdata).toEqual(rdata(INFO, `infourl=${URL}`));
    }
    const others = await askUdp(server, encodeQuery(NAME, 1, { udpBytes: 1232 }));
    expect(decodeMessage(others!)).toMatchObject({ flags: 0x8180, ede: [17] });
  });

  it('is a record of resolver.arpa alone, without infourl, where neither is set', async () => {
    const { server } = await serve({}, strict());
    const ask = async (name: string) =>
      decodeMessage((await askUdp(server, encodeQuery(name, 261, { udpBytes: 1232 })))!);
    expect((await ask('resolver.arpa')).answers[0].rdata).toEqual(rdata(INFO));
    expect(await ask(NAME)).toMatchObject({ answers: [], ede: [17] });
    expect(await ask('x.resolver.arpa')).toMatchObject({ answers: [], ede: [17] });
  });

  it('is printed by dig and kdig', needs('dig', 'kdig'), async () => {
    const { dig, at } = await serve({ RESOLVER_INFO_URL: URL });
    const hex = rdata(INFO, `infourl=${URL}`).toString('hex').toUpperCase();
    const said = (printed: string) => printed.replaceAll(/[\s"]/g, '');
    const known = [`${INFO}infourl=${URL}`, `\\#${hex.length / 2}${hex}`];
    expect(known).toContain(said(await dig('resolver.arpa', 'TYPE261', '+norec', '+short')));
    const args = [...at, 'resolver.arpa', 'TYPE261', '+norec', '+short'];
    expect(known).toContain(said(await run('kdig', args)));
    expect(await dig('resolver.arpa', 'TYPE261', '+norec')).toMatch(/flags: qr aa ra;/);
  });

  it('is not told to a client that is not served', async () => {
    const { server } = await serve({}, policyOf());
    const query = encodeQuery('resolver.arpa', 261, { udpBytes: 1232 });
    expect(decodeMessage((await askUdp(server, query))!)).toMatchObject({ rcode: 5, ede: [18] });
  });
});
