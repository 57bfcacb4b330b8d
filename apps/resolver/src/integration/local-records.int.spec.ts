import { decodeMessage, decodeName, encodeQuery, hexOf, wireName } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import type { Policy } from '@weir/policy';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { a, cname, https } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { recordsFile } from '../testing/records-file.js';
import { respond } from '../testing/respond.js';
import { type AskedQuery, UpstreamServer } from '../testing/upstream-server.js';
import { createService } from '../testing/service.js';
import { SharedSource } from '../testing/shared-source.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-records-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const A = 1;
const CNAME = 5;
const AAAA = 28;
const HTTPS = 65;
const ANY = 255;

let upstream: UpstreamServer;
beforeEach(async () => {
  upstream = await UpstreamServer.start((query) => respond(query, { answers: [a('192.0.2.1')] }));
  cleanups.push(() => upstream.stop());
});
const asked = (): (string | undefined)[] =>
  upstream.asked.map(({ message }) => message.questions[0]?.qname);

const open = () => policyOf(profile(1), loopback(1));

/** A service with these lines as its file. */
async function serve(
  lines: readonly string[],
  policy: Policy = open(),
  configuration: Partial<DnsConfiguration> = {},
) {
  const file = join(folder, 'records');
  const write = (...text: readonly string[]) => {
    writeFileSync(file, recordsFile(...text));
  };
  write(...lines);
  const logged: string[] = [];
  const add = (details: unknown, text?: string): void => {
    logged.push(`${text}: ${JSON.stringify(details)}`);
  };
  const source = new SharedSource(policy);
  const service = createService(
    { LOCAL_RECORDS: file, ...configuration },
    {
      upstreams: [upstream.endpoint],
      source,
      log: { info: add, warn: add, error: add },
      fileCheckMs: 20,
    },
  );
  const server = await service.start();
  cleanups.push(() => service.stop());
  const ask = async (
    name: string,
    qtype = A,
    options: Parameters<typeof encodeQuery>[2] = { udpBytes: 1232 },
    transport = askUdp,
  ) => {
    const packet = await transport(server, encodeQuery(name, qtype, options));
    if (packet === null) throw new Error('no answer');
    const message = decodeMessage(packet);
    expect(message.trailing).toBe(0);
    const records = message.answers.map(({ owner, type, ttl, rdata, rdataAt }) => [
      owner,
      type,
      ttl,
      type === CNAME ? decodeName(Buffer.from(packet), rdataAt).name : hexOf(rdata),
    ]);
    return { ...message, records };
  };
  return { service, source, server, ask, write, file, logged };
}

const PORTAL = ['portal.isp.example 600 A 192.0.2.10', 'portal.isp.example 60 AAAA 2001:db8::10'];

describe('LOCAL_RECORDS', () => {
  it('come before cache and upstreams, over UDP and TCP, in the case of the question', async () => {
    const { ask, service } = await serve(PORTAL);
    for (const transport of [askUdp, askOneTcp]) {
      const answer = await ask('PORTAL.isp.example', A, { udpBytes: 1232 }, transport);
      expect(answer).toMatchObject({ flags: 0x8180, rcode: 0, ede: [], authorities: [] });
      expect(answer.opt).toBeDefined();
      expect(answer.records).toEqual([['PORTAL.isp.example', A, 600, 'c000020a']]);
    }
    expect((await ask('portal.isp.example', A, {})).opt).toBeUndefined();
    expect((await ask('portal.isp.example', AAAA)).records).toEqual([
      ['portal.isp.example', AAAA, 60, '20010db8000000000000000000000010'],
    ]);
    expect(asked()).toEqual([]);
    expect(service.cache.entries).toBe(0);
  });

  it('come before the policy: no profile can block them', async () => {
    for (const policy of [
      policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'isp.example')),
      policyOf(profile(1, { whiteListOnly: true }), loopback(1)),
    ]) {
      const { ask } = await serve(PORTAL, policy);
      expect((await ask('portal.isp.example')).records).toEqual([
        ['portal.isp.example', A, 600, 'c000020a'],
      ]);
      expect(await ask('www.isp.example')).toMatchObject({ ede: [17] });
    }
  });

  it('are only for clients that are served', async () => {
    const { ask } = await serve(PORTAL, policyOf());
    expect(await ask('portal.isp.example')).toMatchObject({ rcode: 5, ede: [18] });
    const { ask: unfiltered } = await serve(PORTAL, policyOf(), {
      DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']),
    });
    expect((await unfiltered('portal.isp.example')).records).toHaveLength(1);
  });

  it('say with an SOA record that the name has none of that type; ANY gets a minimal answer', async () => {
    const { ask } = await serve(PORTAL);
    expect(await ask('portal.isp.example', HTTPS)).toMatchObject({
      rcode: 0,
      answers: [],
      authorities: [{ owner: 'portal.isp.example', type: 6, ttl: 60 }],
    });
    expect(await ask('portal.isp.example', ANY)).toMatchObject({ answers: [{ type: 13 }] });
    expect(asked()).toEqual([]);
  });

  it('answer queries without RD', async () => {
    const { ask } = await serve([...PORTAL, 'out.isp.example 600 CNAME www.other.example']);
    expect(await ask('portal.isp.example', A, { flags: 0 })).toMatchObject({
      flags: 0x8080,
      answers: [{ type: A }],
    });
    expect((await ask('out.isp.example', A, { flags: 0 })).records).toEqual([
      ['out.isp.example', CNAME, 600, 'www.other.example'],
    ]);
    expect(asked()).toEqual([]);
  });

  it('change nothing for names above, beside and below', async () => {
    const { ask } = await serve(PORTAL);
    for (const name of ['isp.example', 'www.isp.example', 'x.portal.isp.example']) {
      expect((await ask(name)).records).toMatchObject([[name, A, 300, 'c0000201']]);
    }
    expect(asked()).toEqual(['isp.example', 'www.isp.example', 'x.portal.isp.example']);
  });

  it('have wildcards', async () => {
    const { ask } = await serve(['*.garden.example A 192.0.2.9', 'own.garden.example TXT x']);
    expect((await ask('a.b.garden.example')).records).toEqual([
      ['a.b.garden.example', A, 3600, 'c0000209'],
    ]);
    expect(await ask('own.garden.example')).toMatchObject({
      answers: [],
      authorities: [{ type: 6 }],
    });
    expect(asked()).toEqual([]);
  });

  it('may be in a zone that is empty otherwise', async () => {
    const { ask } = await serve([
      'nas.lan.home.arpa A 192.0.2.9',
      '7.1.168.192.in-addr.arpa PTR nas.lan.home.arpa.',
    ]);
    expect((await ask('nas.lan.home.arpa')).records).toHaveLength(1);
    expect((await ask('7.1.168.192.in-addr.arpa', 12)).records).toHaveLength(1);
    // This name exists, as there is one below it.
    expect(await ask('lan.home.arpa')).toMatchObject({
      rcode: 0,
      answers: [],
      authorities: [{ type: 6 }],
    });
    expect(await ask('tv.lan.home.arpa')).toMatchObject({ rcode: 3 });
    expect(asked()).toEqual([]);
  });

  it('cannot replace the names by which clients look for another resolver', async () => {
    const { ask } = await serve(['use-application-dns.net A 192.0.2.9', '*.net A 192.0.2.9']);
    expect(await ask('use-application-dns.net')).toMatchObject({ rcode: 3, answers: [] });
  });

  it('are truncated over UDP where they do not fit', async () => {
    const { ask } = await serve(
      Array.from({ length: 50 }, (_, i) => `big.example TXT ${i} ${'x'.repeat(60)}`),
    );
    expect(await ask('big.example', 16)).toMatchObject({ flags: 0x8380, answers: [] });
    expect((await ask('big.example', 16, {}, askOneTcp)).answers).toHaveLength(50);
  });
});

describe('a CNAME record of LOCAL_RECORDS', () => {
  const REWRITE = [
    'www.search.example 60 CNAME middle.isp.example.',
    'middle.isp.example 50 CNAME safe.search.example.',
  ];
  const LINKS = [
    ['www.search.example', CNAME, 60, 'middle.isp.example'],
    ['middle.isp.example', CNAME, 50, 'safe.search.example'],
  ];
  const edge = (query: AskedQuery) =>
    respond(query, {
      answers: [cname('edge.cdn.example', 300), a('192.0.2.1', 40, wireName('edge.cdn.example'))],
    });

  it('to a name outside of the file is followed, through upstreams and cache', async () => {
    upstream.answer = edge;
    const { ask } = await serve(REWRITE);
    const records = [
      ...LINKS,
      ['safe.search.example', CNAME, 300, 'edge.cdn.example'],
      ['edge.cdn.example', A, 40, 'c0000201'],
    ];
    for (let i = 0; i < 2; i++) {
      const answer = await ask('www.search.example');
      expect(answer).toMatchObject({ flags: 0x8180, questions: [{ qname: 'www.search.example' }] });
      expect(answer.records.map((record) => record.with(2, 0))).toEqual(
        records.map((record) => record.with(2, 0)),
      );
    }
    // The answer for the target is shared with those who ask for it.
    expect((await ask('safe.search.example')).records).toHaveLength(2);
    expect(asked()).toEqual(['safe.search.example']);
  });

  it('is itself the answer to a query for CNAME', async () => {
    const { ask } = await serve(REWRITE);
    expect((await ask('www.search.example', CNAME)).records).toEqual([LINKS[0]]);
  });

  it('to a name of the file has its records, or says that there are none', async () => {
    const { ask } = await serve(
      ['a.example CNAME b.example.', 'b.example A 192.0.2.9'],
      policyOf(profile(1, { whiteListOnly: true }), loopback(1)),
    );
    expect((await ask('a.example')).records).toEqual([
      ['a.example', CNAME, 3600, 'b.example'],
      ['b.example', A, 3600, 'c0000209'],
    ]);
    expect(await ask('a.example', HTTPS)).toMatchObject({
      answers: [{ type: CNAME }],
      authorities: [{ owner: 'b.example', type: 6, ttl: 3600 }],
    });
    expect(asked()).toEqual([]);
  });

  it.each([
    ['a.localhost', 0, [['a.localhost', A, 10_800, '7f000001']], null],
    ['foo.invalid', 3, [], 'invalid'],
    ['weir.invalid', 0, [], 'invalid'],
    ['1.0.168.192.in-addr.arpa', 3, [], '168.192.in-addr.arpa'],
    ['home.arpa', 0, [], 'home.arpa'],
    ['use-application-dns.net', 3, [], 'use-application-dns.net'],
  ])('to %s is followed here: no upstream is asked', async (target, rcode, records, zone) => {
    const { ask } = await serve([`a.example CNAME ${target}.`]);
    const answer = await ask('a.example');
    expect([answer.rcode, answer.records]).toEqual([
      rcode,
      [['a.example', CNAME, 3600, target], ...records],
    ]);
    expect(answer.authorities.map(({ owner, type }) => [owner, type])).toEqual(
      zone === null ? [] : [[zone, 6]],
    );
    expect(asked()).toEqual([]);
  });

  it('gives the answer of the upstream for the target: no such name, or an error', async () => {
    const soa = { owner: wireName('search.example'), type: 6, ttl: 30, rdata: new Uint8Array(22) };
    const { ask } = await serve(REWRITE);
    upstream.answer = (query) => respond(query, { flags: 0x8183, authorities: [soa] });
    const missing = await ask('www.search.example');
    expect(missing).toMatchObject({
      rcode: 3,
      authorities: [{ owner: 'search.example', type: 6 }],
    });
    expect(missing.records).toEqual(LINKS);
    upstream.answer = (query) => respond(query, { flags: 0x8182 });
    const { ask: askOther } = await serve(['x.example CNAME other.example.']);
    expect(await askOther('x.example')).toMatchObject({
      rcode: 2,
      answers: [],
      questions: [{ qname: 'x.example' }],
    });
  });

  it('does not lead to a blocked name, nor to one whose answer leads to a blocked name', async () => {
    upstream.answer = edge;
    for (const blocked of ['safe.search.example', 'cdn.example']) {
      const { ask } = await serve(
        REWRITE,
        policyOf(profile(1), loopback(1), domainRule(1, 'deny', blocked)),
      );
      const answer = await ask('www.search.example');
      expect(answer).toMatchObject({ ede: [17] });
      expect(answer.records).toEqual([['www.search.example', A, 10, 'c0000250']]);
    }
    // Only the one whose answer had to be seen.
    expect(asked()).toEqual(['safe.search.example']);
  });

  it('leads to any name when the profile allows the queried name, or targets are not inspected', async () => {
    const rules = [domainRule(1, 'deny', 'safe.search.example')];
    const allowed = policyOf(
      profile(1),
      loopback(1),
      ...rules,
      domainRule(1, 'allow', 'www.search.example'),
    );
    const { ask } = await serve(REWRITE, allowed);
    expect((await ask('www.search.example')).records).toHaveLength(3);
    const { ask: uninspected } = await serve(REWRITE, policyOf(profile(1), loopback(1), ...rules), {
      INSPECT_CNAME: false,
    });
    expect((await uninspected('www.search.example')).records).toHaveLength(3);
  });

  it('applies to HTTPS queries too: they get the records of the target', async () => {
    upstream.answer = (query) => respond(query, { answers: [https(1, '.')] });
    const { ask } = await serve(REWRITE);
    expect((await ask('www.search.example', HTTPS)).records).toEqual([
      ...LINKS,
      ['safe.search.example', HTTPS, 300, '000100'],
    ]);
  });

  it('shares one upstream query with clients that ask for the target, each with its own answer', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    upstream.answer = async (query) => {
      await gate;
      return respond(query, { answers: [a('192.0.2.1')] });
    };
    const { ask, service } = await serve([...REWRITE, 'short.example CNAME safe.search.example.']);
    const names = ['www.search.example', 'safe.search.example', 'short.example'];
    const answers = Promise.all(names.map((name) => ask(name)));
    await expect.poll(() => service.counts.forwarding.waiting).toBe(3);
    release();
    expect(
      (await answers).map(({ records, questions }) => [questions[0]?.qname, records.length]),
    ).toEqual([
      ['www.search.example', 3],
      ['safe.search.example', 1],
      ['short.example', 2],
    ]);
    expect(asked()).toHaveLength(1);
  });

  it('follows the file that is in force when the upstream answers', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    upstream.answer = async (query) => {
      const isOld = query.message.questions[0]?.qname === 'safe.search.example';
      if (isOld) await gate;
      return respond(query, { answers: [a(isOld ? '192.0.2.1' : '192.0.2.2')] });
    };
    const { ask, service, write, logged } = await serve(REWRITE);
    const answer = ask('www.search.example');
    await expect.poll(() => service.counts.forwarding.waiting).toBe(1);
    write('www.search.example CNAME new.example.');
    await expect.poll(() => logged.join('\n')).toContain('the local records is in force');
    release();
    expect((await answer).records).toEqual([
      ['www.search.example', CNAME, 3600, 'new.example'],
      ['new.example', A, 300, 'c0000202'],
    ]);
    write('# nothing');
    await expect
      .poll(async () => (await ask('www.search.example')).records)
      .toEqual([['www.search.example', A, 300, 'c0000202']]);
  });
});

describe('the file of LOCAL_RECORDS', () => {
  it('is read again when it changes; a bad one is refused whole, with the line, and counted', async () => {
    const { ask, write, logged, service } = await serve(['x.example A 192.0.2.9']);
    const rdataOf = async (name: string) => (await ask(name)).records.map(([, , , rdata]) => rdata);
    write('x.example A 192.0.2.8', 'y.example A 192.0.2.999');
    await expect.poll(() => service.files.localRecords.faults).toBeGreaterThan(1);
    expect(await rdataOf('x.example')).toEqual(['c0000209']);
    const faults = logged.filter((line) => line.includes('the local records were not replaced'));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('line 2: ');
    write('x.example A 192.0.2.8', 'y.example A 192.0.2.99');
    await expect.poll(() => rdataOf('x.example')).toEqual(['c0000208']);
    expect(await rdataOf('y.example')).toEqual(['c0000263']);
  });

  it.each([
    [['x.example A 192.0.2'], 'line 1: data must be an IPv4 address'],
    [[`# ${'x'.repeat(2 ** 18)}`], 'larger than 262144 bytes'],
  ])('ends the start when it is not usable', async (lines, problem) => {
    await expect(serve(lines)).rejects.toThrow(problem);
    await expect(serve(lines)).rejects.toThrow('LOCAL_RECORDS: ');
  });
});
