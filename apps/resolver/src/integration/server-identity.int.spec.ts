import {
  decodeMessage,
  decodeOptions,
  encodeMessage,
  opt,
  option,
  wireName,
} from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { needs } from '@weir/ops/testing';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { a } from '../query/testing/records.js';
import { askUdp } from '../testing/client.js';
import { run } from '../testing/programs.js';
import { respond } from '../testing/respond.js';
import { UpstreamServer } from '../testing/upstream-server.js';
import { createService } from '../testing/service.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ID = 'res-1.fra';
const SERVED = policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));

async function serve(configuration: Partial<DnsConfiguration> = {}, policy = SERVED) {
  const upstream = await UpstreamServer.start((query) =>
    respond(query, { answers: [a('192.0.2.1')] }),
  );
  cleanups.push(() => upstream.stop());
  const service = createService(
    { DNS_SERVER_ID: ID, ...configuration },
    { upstreams: [upstream.endpoint], source: { policy } },
  );
  const server = await service.start();
  cleanups.push(() => service.stop());
  const digs = (...args: string[]) =>
    run('dig', ['@127.0.0.1', '-p', String(server.port), ...args]);
  return { server, digs };
}

const NSID = 3;

function query(name: string, options: readonly Uint8Array[], udpBytes = 1232) {
  return encodeMessage({
    flags: 0x0100,
    questions: [{ qname: wireName(name), qtype: 28 }],
    additionals: [opt(udpBytes, 0, Buffer.concat(options))],
  });
}

describe('a resolver with DNS_SERVER_ID', needs('dig'), () => {
  it.each(['id.server', 'ID.Server', 'hostname.bind'])('tells it as %s, CH TXT', async (name) => {
    const { digs } = await serve();
    expect(await digs('+short', name, 'CH', 'TXT')).toBe(`"${ID}"\n`);
    expect(await digs('+short', '+tcp', name, 'CH', 'TXT')).toBe(`"${ID}"\n`);
  });

  it('tells it to a client that asks with NSID, in every kind of answer (RFC 5001)', async () => {
    const { digs } = await serve();
    for (const name of ['www.example.com', 'www.example.com', 'blocked.example', 'localhost']) {
      expect(await digs('+nsid', name)).toContain(`("${ID}")`);
    }
    expect(await digs('+nsid', '+norec', 'other.example.com')).toMatch(/REFUSED[^]*NSID/);
    expect(await digs('+edns', 'www.example.com')).not.toContain('NSID');
  });

  it.each([
    ['other names', ['version.bind', 'CH', 'TXT'], {}, SERVED],
    ['other types', ['id.server', 'CH', 'A'], {}, SERVED],
    ['names below', ['x.id.server', 'CH', 'TXT'], {}, SERVED],
    ['clients that it does not serve', ['id.server', 'CH', 'TXT'], {}, policyOf()],
    [
      'everybody, without the variable',
      ['id.server', 'CH', 'TXT'],
      { DNS_SERVER_ID: undefined },
      SERVED,
    ],
  ])('refuses %s', async (_, args, configuration, policy) => {
    const { digs } = await serve(configuration, policy);
    expect(await digs(...args)).toContain('status: REFUSED');
  });

  it('serves clients without a profile that are allowed', async () => {
    const DNS_ALLOWED_CLIENTS = parseCidrs(['127.0.0.1']);
    const { digs } = await serve({ DNS_ALLOWED_CLIENTS }, policyOf());
    expect(await digs('+short', 'id.server', 'CH', 'TXT')).toBe(`"${ID}"\n`);
  });

  it('says nothing in NSID without the variable', async () => {
    const { digs } = await serve({ DNS_SERVER_ID: undefined });
    expect(await digs('+nsid', 'www.example.com')).not.toContain('NSID');
  });

  it('leaves the option out of an answer that has no room for it', async () => {
    const { server } = await serve({ DNS_SERVER_ID: 'x'.repeat(63), BLOCK_PAGE_IPV6: pages() });
    const name = `${`${'y'.repeat(60)}.`.repeat(3)}${'y'.repeat(30)}.blocked.example`;
    const optionsOf = async (udpBytes: number) => {
      const answer = await askUdp(server, query(name, [option(NSID, [])], udpBytes));
      expect(answer!.length).toBeLessThanOrEqual(udpBytes);
      const { answers, opt: record } = decodeMessage(answer!);
      expect(answers).toHaveLength(7);
      return decodeOptions(record!.rdata).map(({ code }) => code);
    };
    expect(await optionsOf(512)).not.toContain(NSID);
    expect(await optionsOf(1232)).toContain(NSID);
  });
});

function pages() {
  return Array.from({ length: 7 }, (_, i) => `2001:db8::${i + 1}`);
}
