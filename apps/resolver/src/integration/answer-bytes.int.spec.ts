import {
  decodeMessage,
  encodeQuery,
  option,
  opt,
  encodeMessage,
  wireName,
} from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { policyOf } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { txt } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { startService } from '../testing/service.js';
import { TestClock } from '../testing/test-clock.js';

const TXT = 16;
const PADDING = 12;
const TC = 0x0200;

/** Characters of the texts in the answer to a name that begins so. */
const TEXTS: Readonly<Record<string, readonly number[]>> = {
  large: new Array<number>(8).fill(100),
  a1: [185, 185],
  empty: [],
};
const ONE_TEXT = [100];

async function serve(CLIENT_UDP_BYTE_RATE: number) {
  const server = await upstream((query) => {
    const [label] = query.message.questions[0].qname.split('.');
    const texts = TEXTS[label] ?? ONE_TEXT;
    return respond(query, { answers: texts.map((length) => txt('x'.repeat(length))) });
  });
  const clock = new TestClock({ monotonicMs: 1_000_000 });
  const { service, address, port } = await startService(
    {
      DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']),
      CLIENT_UDP_BYTE_RATE,
    },
    {
      upstreams: [server.endpoint],
      source: { policy: policyOf() },
      times: clock.times,
    },
  );
  const send = async (query: Uint8Array, ask = askUdp) => {
    const answer = (await ask({ address, port }, query))!;
    const { flags, answers } = decodeMessage(answer);
    return { isTruncated: (flags & TC) !== 0, answers: answers.length, bytes: answer.length };
  };
  const ask = async (name: string, transport = askUdp) => {
    const query = encodeQuery(name, TXT, { udpBytes: 1232 });
    const { isTruncated, answers } = await send(query, transport);
    return { isTruncated, answers };
  };
  const nextSecond = () => {
    clock.monotonicMs += 1000;
  };
  return { service, send, ask, nextSecond };
}

const whole = { isTruncated: false, answers: 8 };
const truncated = { isTruncated: true, answers: 0 };

describe('UDP answers', () => {
  it('to a subscriber beyond its share of bytes come over TCP only, in that second', async () => {
    const { service, ask, nextSecond } = await serve(2_000);
    expect(await ask('large.example')).toEqual(whole);
    expect(await ask('large.example')).toEqual(whole);
    expect(await ask('large.example')).toEqual(truncated);
    expect(await ask('empty.example')).toEqual({ isTruncated: false, answers: 0 });
    expect(await ask('large.example', askOneTcp)).toEqual(whole);
    expect(service.counts.limits.truncations).toBe(1);
    nextSecond();
    expect(await ask('large.example')).toEqual(whole);
  });

  it('bring the owner of a spoofed address no more than its share, and what the queries had', async () => {
    const LIMIT = 2_000;
    const QUERIES = 100;
    const { send } = await serve(LIMIT);
    const query = encodeQuery('a1.example', TXT);
    expect(query).toHaveLength(28);
    let received = 0;
    for (let i = 0; i < QUERIES; i++) received += (await send(query)).bytes;
    expect(received).toBeLessThanOrEqual(LIMIT + QUERIES * query.length);
    expect(received).toBeGreaterThan(LIMIT);
  });

  it('of at most twice the query do not count, whether the answer was cached or not', async () => {
    const { service, send, ask } = await serve(1_000);
    for (let i = 0; i < 20; i++) {
      const padded = encodeMessage({
        flags: 0x0100,
        questions: [{ qname: wireName(`padded${i >> 1}.example`), qtype: TXT }],
        additionals: [opt(1232, 0, option(PADDING, new Array<number>(40).fill(0)))],
      });
      const { answers, bytes } = await send(padded);
      expect(answers).toBe(1);
      expect(bytes).toBeGreaterThan(1_000 / 20);
    }
    expect(await ask('large.example')).toEqual(whole);
    expect(service.counts.limits.truncations).toBe(0);
  });

  it('are not truncated for their bytes without a limit', async () => {
    const { ask } = await serve(0);
    for (let i = 0; i < 20; i++) expect(await ask('large.example')).toEqual(whole);
  });
});
