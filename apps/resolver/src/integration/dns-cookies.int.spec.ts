import { proxyHeader } from '@weir/clients/testing';
import {
  concat,
  decodeMessage,
  decodeOptions,
  encodeMessage,
  encodeQuery,
  opt,
  option,
  wireName,
} from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { needs } from '@weir/ops/testing';
import { domainRule, loopback, policyOf, profile, put } from '@weir/policy-feed/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { askOneTcp, askUdp, type Server } from '../testing/client.js';
import { run } from '../testing/programs.js';
import { startService, createService } from '../testing/service.js';
import { TestClock } from '../testing/test-clock.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const CLIENT_COOKIE = [1, 2, 3, 4, 5, 6, 7, 8];

async function serve(
  configuration: Partial<DnsConfiguration> = {},
  clock = new TestClock({ monotonicMs: 5000 }),
) {
  const policy = policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
  const service = createService(configuration, { source: { policy }, times: clock.times });
  const server: Server = await service.start();
  cleanups.push(() => service.stop());
  return { service, server };
}

/** A query with a COOKIE option. */
function withCookie(cookie: readonly number[], qclass = 1, qname?: string) {
  const questions = qname === undefined ? [] : [{ qname: wireName(qname), qtype: 1, qclass }];
  return encodeMessage({ questions, additionals: [opt(1232, 0, option(10, cookie))] });
}

function read(answer: Uint8Array | null) {
  if (answer === null) return null;
  const message = decodeMessage(answer);
  const options = message.opt === undefined ? [] : decodeOptions(message.opt.rdata);
  return { ...message, cookie: options.find(({ code }) => code === 10)?.data };
}

describe('DNS cookies (RFC 7873)', () => {
  const BLOCKED = 'blocked.example';

  it('are answered with a server cookie over UDP and TCP, also in a block answer', async () => {
    const { server } = await serve();
    for (const ask of [askUdp, askOneTcp]) {
      const answer = read(await ask(server, withCookie(CLIENT_COOKIE, 1, BLOCKED)));
      expect(answer).toMatchObject({ rcode: 0, ede: [17], trailing: 0 });
      expect(answer?.cookie).toHaveLength(24);
      expect([...answer!.cookie!.subarray(0, 8)]).toEqual(CLIENT_COOKIE);
      const again = read(await ask(server, withCookie([...answer!.cookie!], 1, BLOCKED)));
      expect(again?.cookie).toEqual(answer?.cookie);
    }
  });

  it('are not sent to clients without cookies', async () => {
    const { server } = await serve();
    const answer = read(await askUdp(server, encodeQuery(BLOCKED, 1, { udpBytes: 1232 })));
    expect(answer).toMatchObject({ rcode: 0, cookie: undefined });
  });

  it('of an invalid length get FORMERR (§5.2.2)', async () => {
    const { server } = await serve();
    const answer = read(await askUdp(server, withCookie(CLIENT_COOKIE.slice(1), 1, BLOCKED)));
    expect(answer).toMatchObject({ rcode: 1, cookie: undefined });
  });

  it('that are wrong get a normal answer with a valid cookie (§5.2.4)', async () => {
    const { server } = await serve();
    const wrong = [...CLIENT_COOKIE, ...new Array<number>(16).fill(1)];
    const answer = read(await askUdp(server, withCookie(wrong, 1, BLOCKED)));
    expect(answer).toMatchObject({ rcode: 0, ede: [17] });
    expect([...answer!.cookie!]).not.toEqual(wrong);
  });

  it('can be requested without a question (§5.4)', async () => {
    const { server } = await serve();
    const first = read(await askUdp(server, withCookie(CLIENT_COOKIE)));
    expect(first).toMatchObject({ rcode: 0, questions: [], answers: [] });
    const good = [...first!.cookie!];
    expect(read(await askUdp(server, withCookie(good)))).toMatchObject({ rcode: 0 });
    const wrong = good.with(23, good[23] ^ 1);
    expect(read(await askUdp(server, withCookie(wrong)))).toMatchObject({ rcode: 23 });
  });

  it('exempt a client from the error limit, and replace some errors over the limit', async () => {
    const { server, service } = await serve({ CLIENT_ERROR_RATE: 1 });
    const refused = (cookie: readonly number[]) => withCookie(cookie, 3, 'www.example.com');
    expect(read(await askUdp(server, refused(CLIENT_COOKIE)))).toMatchObject({ rcode: 5 });
    expect(await askUdp(server, refused(CLIENT_COOKIE), 100)).toBeNull();
    const hint = read(await askUdp(server, refused(CLIENT_COOKIE)));
    expect(hint).toMatchObject({ rcode: 23, answers: [] });
    for (let i = 0; i < 4; i++) {
      expect(read(await askUdp(server, refused([...hint!.cookie!])))).toMatchObject({ rcode: 5 });
    }
    const labels = [...service.counts.queries.answeredCounts()].map(([one]) => one.rcode);
    expect(labels).toEqual(expect.arrayContaining(['REFUSED', 'BADCOOKIE']));
  });

  it('differ between processes that share no secret', async () => {
    const { server } = await serve({ DNS_COOKIE_SECRETS: undefined });
    const { server: other } = await serve({ DNS_COOKIE_SECRETS: undefined });
    const cookie = [...read(await askUdp(server, withCookie(CLIENT_COOKIE)))!.cookie!];
    expect(read(await askUdp(server, withCookie(cookie)))).toMatchObject({ rcode: 0 });
    expect(read(await askUdp(other, withCookie(cookie)))).toMatchObject({ rcode: 23 });
  });

  it('fit into 512 bytes together with the maximum number of page addresses', async () => {
    const BLOCK_PAGE_IPV6 = Array.from({ length: 7 }, (_, i) => `2001:db8::${i + 1}`);
    const { server } = await serve({ BLOCK_PAGE_IPV6 });
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(45)}.${BLOCKED}`;
    const packet = concat(
      encodeMessage({
        questions: [{ qname: wireName(name), qtype: 28 }],
        additionals: [opt(512, 0, option(10, CLIENT_COOKIE))],
      }),
    );
    const answer = await askUdp(server, packet);
    expect(answer!.length).toBeLessThanOrEqual(512);
    expect(read(answer)).toMatchObject({ trailing: 0, flags: 0x8080 });
    expect(read(answer)?.answers).toHaveLength(7);
  });

  it('are good to dig', needs('dig'), async () => {
    const { server } = await serve({ DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.1']) });
    const at = ['@127.0.0.1', '-p', `${server.port}`];
    expect(await run('dig', [...at, 'localhost'])).toMatch(/; COOKIE: [0-9a-f]{48} \(good\)/);
    const alone = await run('dig', [...at, '+header-only', '+cookie']);
    expect(alone).toMatch(/QUERY: 0,(.|\n)*; COOKIE: [0-9a-f]{48} \(good\)/);
  });

  it('are good to kdig, which asks twice', needs('kdig'), async () => {
    const { server } = await serve();
    const at = ['@127.0.0.1', '-p', `${server.port}`];
    const output = await run('kdig', [...at, '+cookie', '+badcookie', 'blocked.example']);
    expect(output).toContain('status: NOERROR');
    expect(output).toMatch(/COOKIE: [0-9A-F]{48}/i);
  });
});

describe('the DNS cookie of a subscriber behind NAPT', () => {
  it('proves nothing about a neighbour with the same address', async () => {
    const range = (lowerPort: number, upperPort: number) =>
      put('naptAssignment', { address: 0xc633_6401, lowerPort, upperPort, profileId: 1 });
    const policy = policyOf(profile(1), range(1024, 2047), range(2048, 4095));
    const server = await startService(
      { DNS_PROXY_PROTOCOL_FROM: parseCidrs(['127.0.0.1']) },
      { source: { policy } },
    );
    const askFrom = async (port: number, cookie: readonly number[]) => {
      const header = proxyHeader({ source: 'c6336401', port });
      return read(await askUdp(server, concat(header, withCookie(cookie))))!;
    };
    const cookie = [...(await askFrom(1024, CLIENT_COOKIE)).cookie!];
    expect(await askFrom(2047, cookie)).toMatchObject({ rcode: 0 });
    expect(await askFrom(2048, cookie)).toMatchObject({ rcode: 23 });
    expect(await askFrom(4096, cookie)).toMatchObject({ rcode: 23 });
  });
});
