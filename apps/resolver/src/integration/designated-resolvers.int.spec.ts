import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { freePort, needs } from '@weir/ops/testing';
import { run } from '../testing/programs.js';
import { startService, useCertificate } from '../testing/service.js';

const certificate = useCertificate();

const NAME = 'dns.example.net';
const DISCOVERY = '_dns.resolver.arpa';
const SVCB = 64;
const [DOT, DOH] = ['alpn="dot"', 'alpn="h2,http/1.1"'];

async function serve(configuration: Partial<DnsConfiguration>) {
  const [DNS_TLS_PORT, DNS_HTTPS_PORT] = [await freePort(), await freePort()];
  const secure = { DNS_TLS_PORT, DNS_HTTPS_PORT, ...certificate };
  const server = await startService(
    { ...secure, DNS_DESIGNATED_NAME: NAME, ...configuration },
    { source: { policy: policyOf(profile(1, { whiteListOnly: true }), loopback(1)) } },
  );
  const ask = async (name: string, qtype: number, udpBytes = 1232) =>
    decodeMessage((await askUdp(server, encodeQuery(name, qtype, { udpBytes })))!);
  const digs = async (...args: string[]) =>
    (await run('dig', ['@127.0.0.1', '-p', String(server.port), ...args])).trim().split('\n');
  return { server, ask, digs, tls: DNS_TLS_PORT, https: DNS_HTTPS_PORT };
}

describe('_dns.resolver.arpa (RFC 9462)', () => {
  it('names DNS over TLS and HTTPS of this resolver', needs('dig'), async () => {
    const { digs, tls, https } = await serve({ DNS_HOST: ['127.0.0.1', '::1'] });
    const hints = 'ipv4hint=127.0.0.1 ipv6hint=::1';
    expect(await digs('+short', DISCOVERY, 'SVCB')).toEqual([
      `1 ${NAME}. ${DOT} port=${tls} ${hints}`,
      `2 ${NAME}. ${DOH} port=${https} ${hints} key7="/dns-query{?dns}"`,
    ]);
  });

  it('names the ports at which clients reach it', needs('dig'), async () => {
    const published = { DNS_DESIGNATED_TLS_PORT: 853, DNS_DESIGNATED_HTTPS_PORT: 443 };
    const { digs } = await serve({ ...published, DNS_HOST: ['0.0.0.0'] });
    expect(await digs('+short', DISCOVERY, 'SVCB')).toEqual([
      `1 ${NAME}. ${DOT} port=853`,
      `2 ${NAME}. ${DOH} port=443 key7="/dns-query{?dns}"`,
    ]);
  });

  it('is understood by kdig', needs('kdig'), async () => {
    const { server, tls, https } = await serve({});
    const args = ['@127.0.0.1', '-p', String(server.port), '+short', DISCOVERY, 'SVCB'];
    const answer = await run('kdig', args);
    expect(answer).toContain(`1 ${NAME}. alpn=dot port=${tls} ipv4hint=127.0.0.1`);
    expect(answer).toMatch(new RegExp(`^2 ${NAME}\\. alpn=h2,http/1.1 port=${https} `, 'm'));
  });

  it('names only what is on, and no address behind a load balancer or on all addresses', async () => {
    const { ask, tls } = await serve({ DNS_HTTPS_PORT: undefined, DNS_HOST: ['0.0.0.0'] });
    const { answers } = await ask(DISCOVERY, SVCB);
    expect(answers).toHaveLength(1);
    const alpn = [0, 1, 0, 4, 3, ...Buffer.from('dot')];
    const port = [0, 3, 0, 2, tls >> 8, tls & 255];
    expect(answers[0].rdata.subarray(-14)).toEqual(Buffer.from([...alpn, ...port]));
    const DNS_PROXY_PROTOCOL_FROM = parseCidrs(['192.0.2.1']);
    const behind = await serve({ DNS_HTTPS_PORT: undefined, DNS_PROXY_PROTOCOL_FROM });
    expect((await behind.ask(DISCOVERY, SVCB)).answers[0].rdata).toHaveLength(2 + 17 + 14);
  });

  it.each<[string, number, Partial<DnsConfiguration>]>([
    [DISCOVERY, SVCB, { DNS_DESIGNATED_NAME: undefined }],
    [DISCOVERY, SVCB, { DNS_TLS_PORT: undefined, DNS_HTTPS_PORT: undefined }],
    [DISCOVERY, 1, {}],
    [`x.${DISCOVERY}`, SVCB, {}],
  ])('has no other records: %s, type %i, %o', async (name, qtype, configuration) => {
    const { ask } = await serve(configuration);
    const answer = await ask(name, qtype);
    expect(answer).toMatchObject({ rcode: 0, answers: [], authorities: [{ type: 6 }] });
  });

  it('gets the minimal answer for ANY where it has records (RFC 8482)', async () => {
    const { ask } = await serve({});
    const any = 255;
    const hinfo = 13;
    expect(await ask(DISCOVERY, any)).toMatchObject({
      answers: [{ type: hinfo }],
      authorities: [],
    });
    expect(await ask(`x.${DISCOVERY}`, any)).toMatchObject({ answers: [], authorities: [{}] });
  });

  it('is answered when resolver discovery is not blocked', async () => {
    const { ask } = await serve({ BLOCK_RESOLVER_DISCOVERY: false });
    expect((await ask(DISCOVERY.toUpperCase(), SVCB)).answers).toHaveLength(2);
  });

  it('is truncated for a client that takes less, and complete over TCP', async () => {
    const DNS_DESIGNATED_NAME = `${`${'x'.repeat(60)}.`.repeat(4)}example`;
    const { ask, server } = await serve({ DNS_DESIGNATED_NAME });
    const short = await ask(DISCOVERY, SVCB, 512);
    expect(short).toMatchObject({ answers: [], flags: 0x8380 });
    const whole = await askOneTcp(server, encodeQuery(DISCOVERY, SVCB, { udpBytes: 512 }));
    expect(decodeMessage(whole!).answers).toHaveLength(2);
  });
});
