import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { CidrSet, createLogger } from '@weir/ops';
import { policyOf } from '@weir/policy-feed/testing';
import { expect, it, onTestFinished } from 'vitest';
import { DnsService } from '../dns-service.js';
import { txt } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { CONFIGURATION } from '../testing/configuration.js';
import { upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { TestClock } from '../testing/test-clock.js';

const log = createLogger({ name: 'resolver', level: 'silent' });
const TXT = 16;

/** An upstream with answers of about 950 bytes for `large.example`, and of about 150 for others. */
async function serve(CLIENT_UDP_BYTE_RATE: number) {
  const server = await upstream((query) => {
    const isLarge = query.message.questions[0].qname.startsWith('large');
    return respond(query, {
      answers: Array.from({ length: isLarge ? 8 : 1 }, () => txt('x'.repeat(100))),
    });
  });
  const clock = new TestClock({ monotonicMs: 1_000_000 });
  const service = new DnsService({
    configuration: {
      ...CONFIGURATION,
      DNS_ALLOWED_CLIENTS: CidrSet.parse(['127.0.0.0/8']),
      CLIENT_UDP_BYTE_RATE,
    },
    upstreams: [server.endpoint],
    source: { policy: policyOf() },
    log,
    times: clock.times,
  });
  const bound = await service.start();
  onTestFinished(() => service.stop());
  const ask = async (name: string, ask = askUdp) => {
    const { flags, answers } = decodeMessage(
      (await ask(bound, encodeQuery(name, TXT, { udpBytes: 1232 })))!,
    );
    return { isTruncated: (flags & 0x0200) !== 0, answers: answers.length };
  };
  const nextSecond = () => {
    clock.monotonicMs += 1000;
  };
  return { service, ask, nextSecond };
}

const whole = { isTruncated: false, answers: 8 };
const truncated = { isTruncated: true, answers: 0 };

it('a subscriber beyond its share of bytes gets large answers over TCP only, in that second', async () => {
  const { service, ask, nextSecond } = await serve(2_000);
  expect(await ask('large.example')).toEqual(whole);
  expect(await ask('large.example')).toEqual(whole);
  expect(await ask('large.example')).toEqual(truncated);
  expect(await ask('small.example')).toEqual({ isTruncated: false, answers: 1 });
  expect(await ask('large.example', askOneTcp)).toEqual(whole);
  expect(service.counts.limits.truncations).toBe(1);
  nextSecond();
  expect(await ask('large.example')).toEqual(whole);
});

it('small answers do not count', async () => {
  const { service, ask } = await serve(1_000);
  for (let i = 0; i < 20; i++) await ask('small.example');
  expect(await ask('large.example')).toEqual(whole);
  expect(service.counts.limits.truncations).toBe(0);
});

it('without a limit no answer is truncated for its bytes', async () => {
  const { ask } = await serve(0);
  for (let i = 0; i < 20; i++) expect(await ask('large.example')).toEqual(whole);
});
