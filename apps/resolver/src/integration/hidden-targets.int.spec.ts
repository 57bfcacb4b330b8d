import {
  concat,
  decodeMessage,
  encodeQuery,
  opt,
  pointerTo,
  type TestMessage,
  wireName,
} from '@weir/dns-wire/testing';
import { CidrSet } from '@weir/ops';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { askUdp } from '../testing/client.js';
import { upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { startService } from '../testing/service.js';

const DENIED = 'denied.example';
const TYPES = { NS: 2, MX: 15, SRV: 33 } as const;

/** Asks twice, of the upstream and of the cache. @returns both answers */
async function ask(name: string, type: number, answer: TestMessage, isSubscriber = true) {
  const server = await upstream((query) => respond(query, answer));
  const subscriber = isSubscriber ? [loopback(1)] : [];
  const { address, port } = await startService(
    { DNS_ALLOWED_CLIENTS: CidrSet.parse(['127.0.0.0/8']) },
    {
      source: { policy: policyOf(profile(1), domainRule(1, 'deny', DENIED), ...subscriber) },
      upstreams: [server.endpoint],
    },
  );
  const query = encodeQuery(name, type, { udpBytes: 1232 });
  const answers = [];
  for (let i = 0; i < 2; i++)
    answers.push(decodeMessage((await askUdp({ address, port }, query))!));
  return answers;
}

const OWNER = pointerTo(12);
const rdataOf = (type: number) =>
  concat(type === 33 ? [0, 0, 0, 0, 0, 53] : type === 15 ? [0, 10] : [], wireName(`mx.${DENIED}`));

describe('the address of a denied name', () => {
  it.each(Object.entries(TYPES))('does not come beside an %s record', async (_, type) => {
    const answer = {
      answers: [{ owner: OWNER, type, ttl: 300, rdata: rdataOf(type) }],
      additionals: [a('198.51.100.66', 300, wireName(`mx.${DENIED}`)), opt(1232)],
    };
    for (const message of await ask('mail.example', type, answer)) {
      expect(message.rcode).toBe(0);
      expect(message.answers).toHaveLength(1);
      expect(message.additionals.filter((one) => one.type !== 41)).toEqual([]);
    }
    for (const message of await ask('mail.example', type, answer, false))
      expect(message.additionals.filter((one) => one.type === 1)).toHaveLength(1);
  });

  it.each([
    ['example', DENIED, 'block'],
    ['example', 'other.test', 'pass'],
    ['example', 'example.test', 'pass'],
  ])('does not come by a DNAME record alone: %s to %s', async (owner, target, expected) => {
    const dname = { owner: wireName(owner), type: 39, ttl: 300, rdata: wireName(target) };
    for (const message of await ask('www.mail.example', 1, { answers: [dname] }))
      expect(message.answers[0]?.type).toBe(expected === 'block' ? 1 : 39);
  });

  it('does not come by a DNAME record to the parent of the denied name', async () => {
    const dname = {
      owner: wireName('mail.example'),
      type: 39,
      ttl: 300,
      rdata: wireName('example'),
    };
    for (const message of await ask('denied.mail.example', 1, { answers: [dname] })) {
      expect(message.answers).toMatchObject([{ type: 1, rdata: Buffer.of(192, 0, 2, 80) }]);
    }
  });
});
