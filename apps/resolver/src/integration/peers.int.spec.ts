import { encodeQuery } from '@weir/dns-wire/testing';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate, needs } from '@weir/ops/testing';
import { BOGUS_ZONE, PLAIN_ZONE, SIGNED_ZONE } from '../testing/example-zones.js';
import {
  makeKey,
  type NameServer,
  signZone,
  startNsd,
  startUnbound,
  writeZone,
} from '../testing/name-servers.js';
import { run } from '../testing/programs.js';
import { createService } from '../testing/service.js';

const NEEDS_SERVERS = needs('nsd', 'unbound', 'ldns-signzone', 'dig', 'kdig');

/** Lines that differ from run to run, and the address of the server. */
const VARYING: [RegExp, string][] = [
  [/^;; (Query time|SERVER|WHEN|From|Time|Connection).*$/gm, ''],
  [/^; <<>>.*$/gm, ''],
  [/127\.0\.0\.1@\d+/g, 'SERVER'],
  [/\bid: \d+/g, 'id: ID'],
  [/^(\S+\s+)\d+(\s+IN\s)/gm, '$1TTL$2'],
  [/\n{2,}/g, '\n'],
];
const normalised = (output: string): string =>
  VARYING.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), output);

/** The output without lines about the transport. */
const sections = (output: string): string =>
  output.slice(output.indexOf(';; ->>')).replaceAll(/^;; Received.*$/gm, '');

/** Arguments for dig. Those for kdig are the same except `+nocookie`, which is its default. */
const QUESTIONS = [
  'www.zone.example A',
  'WWW.Zone.EXAMPLE AAAA',
  'www.zone.example A +noedns',
  'www.zone.example A +tcp',
  'www.zone.example A +bufsize=512',
  'www.zone.example A +bufsize=4096',
  'www.zone.example A +adflag',
  'www.zone.example A +cdflag',
  'www.zone.example A +dnssec',
  'www.zone.example A +nsid',
  'www.zone.example A +subnet=192.0.2.0/24',
  'www.zone.example A +ednsopt=65001:abcd',
  'zone.example SOA',
  // Clients with a profile get no additional records.
  'zone.example NS +short',
  'zone.example TXT',
  'mail.zone.example MX',
  '_sip._tcp.zone.example SRV',
  'svc.zone.example TYPE65',
  'any.wild.zone.example A',
  'chain0.zone.example A',
  'chain0.zone.example MX',
  'chain0.zone.example CNAME',
  'dangling.zone.example A',
  'nothing.zone.example A',
  'nothing.zone.example A +noedns',
  'www.zone.example MX',
  'big.zone.example TXT',
  'big.zone.example TXT +bufsize=512 +ignore',
  'big.zone.example TXT +noedns +ignore',
  'big.zone.example TXT +tcp',
  'huge.zone.example TXT',
  'www.signed.example A',
  'www.signed.example A +dnssec',
  'www.signed.example A +adflag',
  'www.signed.example A +dnssec +cdflag',
  'alias.signed.example A +dnssec',
  'nothing.signed.example A +dnssec',
  'nothing.signed.example A',
  'www.signed.example MX +dnssec',
  'any.wild.signed.example A +dnssec',
  'big.signed.example TXT +dnssec',
  'signed.example DNSKEY +dnssec',
  'signed.example DS +dnssec',
  'www.bogus.example A',
  'www.bogus.example A +dnssec',
  'www.bogus.example A +dnssec +cdflag',
];

describe('among real name servers', NEEDS_SERVERS, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-peers-'));
  let nsd: NameServer;
  let unbound: NameServer;
  /** The resolver in front of unbound. */
  let port: number;
  let ports: Record<'udp' | 'tcp' | 'dot' | 'doh', number>;
  const started: { stop(): Promise<void> }[] = [];
  const tls = { DNS_TLS_CERT: join(folder, 'dns.crt'), DNS_TLS_KEY: join(folder, 'dns.key') };

  beforeAll(async () => {
    for (const zone of [PLAIN_ZONE, SIGNED_ZONE, BOGUS_ZONE]) writeZone(folder, zone);
    const key = makeKey(folder, SIGNED_ZONE.origin);
    const [bogusKey, otherKey] = [0, 1].map(() => makeKey(folder, BOGUS_ZONE.origin));
    signZone(folder, SIGNED_ZONE.origin, key);
    signZone(folder, BOGUS_ZONE.origin, bogusKey);
    started.push((nsd = await startNsd(folder)));
    started.push((unbound = await startUnbound(folder, nsd, [key, otherKey])));
    makeCertificate(tls.DNS_TLS_CERT, tls.DNS_TLS_KEY);
    const bound = await startService(unbound);
    port = bound.port;
    ports = { udp: port, tcp: port, dot: bound.tlsPort ?? 0, doh: bound.httpsPort ?? 0 };
  });
  afterAll(async () => {
    for (const one of started.reverse()) await one.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const startService = async (...upstreams: NameServer[]) => {
    const endpoints = upstreams.map(({ endpoint }) => endpoint);
    const service = createService(
      {
        ...tls,
        CACHE_NXDOMAIN_CUT: true,
        UPSTREAM_TRUST_AD: endpoints,
        DNS_TLS_PORT: 0,
        DNS_HTTPS_PORT: 0,
      },
      {
        upstreams: endpoints,
        source: {
          policy: policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example')),
        },
      },
    );
    started.push(service);
    return { cache: service.cache, ...(await service.start()) };
  };
  const ask = async (program: string, at: number, question: string) => {
    const args = question.split(' ').filter((arg) => program === 'dig' || arg !== '+nocookie');
    const server = ['@127.0.0.1', '-p', String(at)];
    return normalised(await run(program, [...server, ...args]));
  };

  describe.each(['dig', 'kdig'])('%s sees no difference', (program) => {
    it.each(QUESTIONS)('%s', async (question) => {
      const asked = `${question} +nocookie`;
      // unbound may answer differently from its cache, with another EDE.
      await ask(program, unbound.endpoint.port, asked);
      const theirs = await ask(program, unbound.endpoint.port, asked);
      expect(await ask(program, port, asked)).toBe(theirs);
      // Also from the cache of the resolver.
      expect(await ask(program, port, asked)).toBe(theirs);
    });
  });

  it('is not authoritative, whatever its upstream is, and fetches large answers over TCP', async () => {
    const { port: before } = await startService(nsd);
    const chain = await ask('dig', before, 'chain0.zone.example A');
    expect(chain).toContain('flags: qr rd ra; QUERY: 1, ANSWER: 6');
    expect(await ask('dig', before, 'huge.zone.example TXT')).toContain('ANSWER: 250,');
    const denial = await ask('kdig', before, 'nothing.signed.example A +dnssec');
    expect(denial).toContain('status: NXDOMAIN');
    expect(denial).toContain('IN\tNSEC3');
  });

  it.each(['zone.example', 'signed.example'])(
    'gives NXDOMAIN of a name in %s, with all its records, for the names below it too',
    async (zone) => {
      const { port: fresh, cache } = await startService(unbound);
      const authority = async (name: string): Promise<string> => {
        const output = await ask('dig', fresh, `${name} AAAA +dnssec`);
        expect(output).toContain('status: NXDOMAIN');
        return /;; AUTHORITY SECTION:\n([^;]+)/.exec(output)?.[1] ?? '';
      };
      const ofParent = await authority(`absent.${zone}`);
      expect(ofParent).toContain('IN\tSOA\t');
      expect(await authority(`www.much-longer.absent.${zone}`)).toBe(ofParent);
      expect(cache.counters).toMatchObject({ hit: 1, miss: 1 });
    },
  );

  it('gives kdig a cookie and recognises it', async () => {
    const first = await ask('kdig', port, 'www.zone.example A +cookie=0123456789abcdef');
    const cookie = /COOKIE: ([0-9A-F]{48})/i.exec(first)?.[1];
    expect(cookie).toMatch(/^0123456789abcdef/i);
    const again = await ask('kdig', port, `www.zone.example A +cookie=${cookie}`);
    expect(again).toContain('status: NOERROR');
    expect(again).not.toMatch(/WARNING|BADCOOKIE/);
  });

  it.each([
    ['+tls', 'dot'],
    ['+https', 'doh'],
    ['+https-get', 'doh'],
  ] as const)('answers kdig with %s as it does over TCP', async (option, transport) => {
    for (const question of ['chain0.zone.example A', 'big.signed.example TXT +dnssec']) {
      // Only encrypted transports use padding (RFC 7830).
      const over = await ask('kdig', ports[transport], `${question} ${option} +nopadding`);
      const plain = await ask('kdig', port, `${question} +tcp`);
      expect(sections(over)).toBe(sections(plain));
      expect(sections(over)).toContain('ANSWER SECTION');
    }
  });

  it('loses none of the queries of dnsperf', needs('dnsperf'), async () => {
    const names = ['www.zone.example A', 'chain0.zone.example A', 'www.signed.example A'];
    const wild = Array.from({ length: 500 }, (_, i) => `n${i}.wild.zone.example A`);
    const blocked = Array.from({ length: 50 }, (_, i) => `n${i}.blocked.example AAAA`);
    const absent = Array.from({ length: 50 }, (_, i) => `n${i}.zone.example A`);
    const load = ['-s', '127.0.0.1', '-c', '8', '-q', '64', '-e', '-n', '10', '-t', '60', '-D'];
    const perform = (queries: readonly string[], ...more: string[]) => {
      const file = join(folder, 'queries');
      writeFileSync(file, [...queries, ''].join('\n'));
      return run('dnsperf', [...load, '-d', file, ...more]);
    };
    // On a busy machine unbound may fail while its cache is empty.
    await expect
      .poll(() => perform([...names, ...wild, ...absent], '-p', String(unbound.endpoint.port)))
      .not.toMatch(/SERVFAIL|lost: +[1-9]/);
    for (const mode of ['udp', 'tcp', 'dot'] as const) {
      const queries = [...names, ...wild, ...blocked, ...absent];
      const output = await perform(queries, '-m', mode, '-p', String(ports[mode]));
      expect(output).toMatch(/Queries sent: +6030$/m);
      expect(output).toMatch(/Queries completed: +6030 \(100\.00%\)/);
      expect(output).toMatch(/Response codes: +NOERROR 5530 \(91\.71%\), NXDOMAIN 500 /);
    }
  });

  // dnsperf 2.10 loses parallel streams of one HTTP/2 connection, so h2load is used instead.
  it('fails none of the requests of h2load', needs('h2load'), async () => {
    const query = encodeQuery('www.signed.example', 1, { id: 0, udpBytes: 1232 });
    const dns = Buffer.from(query).toString('base64url');
    const url = `https://127.0.0.1:${ports.doh}/dns-query?dns=${dns}`;
    const output = await run('h2load', ['-n', '2000', '-c', '8', '-m', '32', url]);
    expect(output).toContain('2000 succeeded, 0 failed, 0 errored, 0 timeout');
    expect(output).toContain('status codes: 2000 2xx');
  });
});
