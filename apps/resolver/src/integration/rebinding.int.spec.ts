import { concat, decodeMessage, encodeQuery, hexOf, wireName } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { needs } from '@weir/ops/testing';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { a, aaaa, cname, https } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import type { CONFIGURATION } from '../testing/configuration.js';
import { upstream } from '../testing/forwarding.js';
import { run } from '../testing/programs.js';
import { respond } from '../testing/respond.js';
import { startService } from '../testing/service.js';
import { TestClock } from '../testing/test-clock.js';

const [A, AAAA, HTTPS] = [1, 28, 65];
const DNSSEC_OK = 0x8000;

/** A hint at 192.168.1.1 (RFC 9460 §7.3). */
const withHint = (target: string) => {
  const { rdata, ...record } = https(1, target);
  return { ...record, rdata: concat(rdata!, [0, 4, 0, 4, 192, 168, 1, 1]) };
};

/** The records of the upstream, by the first label of the name. */
const RECORDS: Readonly<Record<string, readonly ReturnType<typeof a>[]>> = {
  public: [a('192.0.2.1'), a('192.0.2.2')],
  mixed: [a('192.0.2.1'), a('127.0.0.1'), a('192.0.2.2')],
  private: [a('192.168.1.1')],
  alias: [cname('private.plex.example'), a('192.168.1.1', 300, wireName('private.plex.example'))],
  mapped: [aaaa('00000000000000000000ffff0a000001')],
  hints: [withHint('private.example'), https(2, 'public.example')],
};

const filtered = policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));

async function serve(variables: Partial<typeof CONFIGURATION> = {}, policy = filtered) {
  const server = await upstream((query) => {
    const [label] = query.message.questions[0].qname.split('.');
    return respond(query, { flags: 0x81a0, answers: RECORDS[label] ?? RECORDS['private'] });
  });
  const { service, address, port } = await startService(
    {
      BLOCK_REBINDING: true,
      UPSTREAM_TRUST_AD: [server.endpoint],
      DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']),
      ...variables,
    },
    {
      upstreams: [server.endpoint],
      source: { policy },
      times: new TestClock({ monotonicMs: 5_000, wallMs: 1_000_000 }).times,
    },
  );
  /** The answer over UDP from the upstream, over UDP from the cache, and over TCP, which must be the same. */
  const ask = async (name: string, qtype = A) => {
    const query = encodeQuery(name, qtype, { udpBytes: 1232, ednsTtl: DNSSEC_OK });
    const first = (await askUdp({ address, port }, query))!;
    for (const again of [askUdp, askOneTcp]) {
      expect(hexOf((await again({ address, port }, query))!)).toBe(hexOf(first));
    }
    return { hex: hexOf(first), ...decodeMessage(first) };
  };
  const addresses = async (name: string, qtype = A) =>
    (await ask(name, qtype)).answers
      .filter(({ type }) => type === qtype)
      .map(({ rdata }) => rdata.join('.'));
  return { service, ask, addresses, address, port };
}

const NODATA = { rcode: 0, answers: [], ede: [15] };

describe('a client with a profile', () => {
  it('gets the public addresses of an answer only, with EDE 15 and without AD', async () => {
    const { service, ask, addresses } = await serve();
    expect(await addresses('mixed.example')).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(await ask('mixed.example')).toMatchObject({ ede: [15], flags: 0x8180 });
    expect(await addresses('public.example')).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(await ask('public.example')).toMatchObject({ ede: [], flags: 0x81a0 });
    expect(service.counts.queries.addressRemovals).toBe(6);
  });

  it('gets NODATA with an SOA record of BLOCK_TTL and EDE 15 when none is left', async () => {
    const { ask } = await serve();
    for (const [name, qtype] of [
      ['private.example', A],
      ['alias.example', A],
      ['mapped.example', AAAA],
    ] as const) {
      const answer = await ask(name, qtype);
      expect(answer, name).toMatchObject(NODATA);
      expect(answer.authorities).toMatchObject([{ type: 6, ttl: 10 }]);
    }
  });

  it('gets no HTTPS record with a private hint', async () => {
    const { ask } = await serve();
    const { answers } = await ask('hints.example', HTTPS);
    expect(answers.map(({ rdata }) => hexOf(rdata))).toEqual([
      hexOf(https(2, 'public.example').rdata!),
    ]);
  });

  it('gets private addresses of names in the allowed zones, but not by an alias into them', async () => {
    const { ask, addresses } = await serve({ REBINDING_ALLOWED_ZONES: ['plex.example'] });
    expect(await addresses('private.plex.example')).toEqual(['192.168.1.1']);
    expect(await addresses('plex.example')).toEqual(['192.168.1.1']);
    expect(await ask('private.simplex.example')).toMatchObject(NODATA);
    expect(await ask('alias.example')).toMatchObject(NODATA);
  });

  it('gets those of block pages and of local records, and where these lead to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-rebinding-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const LOCAL_RECORDS = join(folder, 'local.yaml');
    const records = [
      { name: 'own.example', type: 'A', data: '10.0.0.1' },
      { name: 'led.example', type: 'CNAME', data: 'private.example' },
    ];
    writeFileSync(LOCAL_RECORDS, JSON.stringify(records));
    const { addresses } = await serve({ BLOCK_PAGE_IPV4: ['127.0.0.1'], LOCAL_RECORDS });
    expect(await addresses('blocked.example')).toEqual(['127.0.0.1']);
    expect(await addresses('own.example')).toEqual(['10.0.0.1']);
    expect(await addresses('led.example')).toEqual(['192.168.1.1']);
  });

  it('gets everything when BLOCK_REBINDING is off, and so does a client without a profile', async () => {
    for (const off of [await serve({ BLOCK_REBINDING: false }), await serve({}, policyOf())]) {
      expect(await off.addresses('private.example')).toEqual(['192.168.1.1']);
      expect(await off.ask('mixed.example')).toMatchObject({ ede: [], flags: 0x81a0 });
      expect(off.service.counts.queries.addressRemovals).toBe(0);
    }
  });

  it('sees with dig why an address is missing', needs('dig'), async () => {
    const { address, port } = await serve();
    const dig = (name: string) => run('dig', [`@${address}`, '-p', `${port}`, name]);
    const output = await dig('private.example');
    expect(output).toContain('status: NOERROR');
    expect(output).toContain('EDE: 15 (Blocked)');
    expect(output).toContain('ANSWER: 0, AUTHORITY: 1');
    expect(await dig('mixed.example')).toMatch(/192\.0\.2\.1\n.*192\.0\.2\.2\n/);
    expect(await dig('mixed.example')).not.toContain('A\t127.0.0.1');
  });
});
