import { ClientAddress, SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { parseQuery, Query } from '@weir/dns-wire';
import { bytesOf, encodeMessage, hexOf, opt, option, wireName } from '@weir/dns-wire/testing';
import type { Policy } from '@weir/policy';
import { policyOf, profile, put } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { ServerCookies } from './server-cookies.js';

const SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf';
const [OLD, NEW] = ['dd3bdf9344b678b185a6f5cb60fca715', '445536bcd2513298075a5d379663c962'];
const IPV4 = '198.51.100.100';
const IPV6 = '2001:db8:220:1:59de:d0f4:8769:82b8';

function exchange(
  secrets: string[],
  seconds: number,
  address: string,
  cookie: string,
  { policy = null, port = 53 }: { policy?: Policy | null; port?: number } = {},
) {
  const options = option(10, [...bytesOf(cookie)]);
  const questions = [{ qname: wireName('example.com'), qtype: 1 }];
  const packet = encodeMessage({ questions, additionals: [opt(1232, 0, options)] });
  const query = new Query();
  expect(parseQuery(packet, packet.length, query)).toBe(0);
  const client = new ClientAddress();
  client.set(address, port);
  const subscriber = new SubscriberKey({ policy }, Math.floor(Math.random() * 2 ** 32));
  const cookies = new ServerCookies(
    secrets.map(parseHashKey),
    subscriber,
    () => seconds * 1000 + 999,
  );
  cookies.process(query, client);
  expect(query.hasAnswerCookie).toBe(true);
  return { answer: hexOf(query.cookie.slice(0, 24)), isValid: query.hasValidCookie };
}

describe('ServerCookies', () => {
  // RFC 9018 appendix A.
  it('gives a new client the published cookie (A.1)', () => {
    expect(exchange([SECRET], 1_559_731_985, IPV4, '2464c4abcf10c957')).toEqual({
      answer: '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
      isValid: false,
    });
  });

  it('renews one that is 40 minutes old (A.2)', () => {
    const cookie = '2464c4abcf10c957010000005cf79f111f8130c3eee29480';
    expect(exchange([SECRET], 1_559_734_385, IPV4, cookie)).toEqual({
      answer: '2464c4abcf10c957010000005cf7a871d4a564a1442aca77',
      isValid: true,
    });
  });

  it('hashes reserved bytes, but issues none (A.3)', () => {
    const cookie = 'fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5';
    expect(exchange([SECRET], 1_559_727_985, '203.0.113.203', cookie).isValid).toBe(true);
    expect(exchange([SECRET], 1_559_734_700, '203.0.113.203', cookie)).toEqual({
      answer: 'fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e',
      isValid: false,
    });
  });

  it('accepts the old secret during a change, and signs with the new one (A.4)', () => {
    const cookie = '22681ab97d52c298010000005cf7c57926556bd0934c72f8';
    expect(exchange([NEW, OLD], 1_559_741_961, IPV6, cookie)).toEqual({
      answer: '22681ab97d52c298010000005cf7c609a6bb79d16625507a',
      isValid: true,
    });
    expect(exchange([NEW], 1_559_741_961, IPV6, cookie).isValid).toBe(false);
  });

  const COOKIE = '2464c4abcf10c957010000005cf79f111f8130c3eee29480';
  const GIVEN = 1_559_731_985;

  it('keeps a cookie for half an hour, accepts it for an hour, and up to five minutes in the future', () => {
    const at = (seconds: number) => exchange([SECRET], GIVEN + seconds, IPV4, COOKIE);
    for (const age of [0, 1800, -300]) expect(at(age)).toEqual({ answer: COOKIE, isValid: true });
    for (const age of [1801, 3600]) {
      expect(at(age).isValid).toBe(true);
      expect(at(age).answer).not.toBe(COOKIE);
    }
    for (const age of [3601, -301]) expect(at(age).isValid).toBe(false);
  });

  it('rejects it with another address, client cookie, version or length', () => {
    expect(exchange([SECRET], GIVEN, '198.51.100.101', COOKIE).isValid).toBe(false);
    for (let i = 0; i < 24; i++) {
      const cookie = bytesOf(COOKIE);
      cookie[i] ^= 1;
      expect(exchange([SECRET], GIVEN, IPV4, hexOf(cookie)).isValid, `byte ${i}`).toBe(false);
    }
    expect(exchange([SECRET], GIVEN, IPV4, `${COOKIE}00`).isValid).toBe(false);
    expect(exchange([SECRET], GIVEN, IPV4, COOKIE.slice(0, 32)).isValid).toBe(false);
  });

  it('accepts it from the ports of the same subscriber behind NAPT only, in every process', () => {
    const address = 0xc633_6464;
    const range = (lowerPort: number, upperPort: number) =>
      put('naptAssignment', { address, lowerPort, upperPort, profileId: 1 });
    const policy = policyOf(profile(1), range(1024, 2047), range(2048, 4095));
    const at = (port: number, cookie: string) =>
      exchange([SECRET], GIVEN, IPV4, cookie, { policy, port });
    const own = at(1024, COOKIE.slice(0, 16)).answer;
    expect([1024, 2047, 2048, 4096].map((port) => at(port, own).isValid)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(at(1024, COOKIE).isValid).toBe(false);
    expect(at(4096, COOKIE).isValid).toBe(true);
  });
});
