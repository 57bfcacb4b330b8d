import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { policyOf } from '@weir/policy-feed/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askUdp } from '../testing/client.js';
import { upstream } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { TestClock } from '../testing/test-clock.js';
import type { Answerer } from '../testing/upstream-server.js';
import { createService } from '../testing/service.js';

async function serve(answer: Answerer) {
  const server = await upstream(answer);
  const clock = new TestClock({ monotonicMs: 0 });
  const service = createService(
    { DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']) },
    {
      upstreams: [server.endpoint],
      source: { policy: policyOf() },
      times: clock.times,
      forwarding: { attemptTimeoutMs: 300, queryTimeoutMs: 300 },
    },
  );
  const address = await service.start();
  onTestFinished(() => service.stop());
  // Time goes on while a question waits, or the upstream would never be found silent.
  const timer = setInterval(() => {
    if (service.counts.forwarding.inFlight > 0) clock.monotonicMs += 20;
  }, 20);
  onTestFinished(() => {
    clearInterval(timer);
  });
  const ask = async (name: string) => {
    const answered = await askUdp(address, encodeQuery(name, 1, { udpBytes: 1232 }));
    if (answered === null) throw new Error('no answer');
    return decodeMessage(answered);
  };
  const skip = (ms: number): void => {
    clock.monotonicMs += ms;
  };
  return { server, ask, skip };
}

describe('a name that no upstream has an answer to', () => {
  it.each<[string, Answerer, number]>([
    ['silence', () => null, 22],
    ['SERVFAIL', (query) => respond(query, { flags: 0x8182 }), 13],
  ])('costs one try, however many ask it (%s, RFC 9520 §3.2)', async (_why, answer, ede) => {
    const { server, ask, skip } = await serve(answer);
    expect(await ask('www.dead.example')).toMatchObject({ rcode: 2 });
    for (let i = 0; i < 50; i++) {
      expect(await ask('WWW.dead.example')).toMatchObject({ rcode: 2, ede: [ede] });
    }
    expect(server.asked).toHaveLength(1);
    skip(5_000);
    expect(await ask('www.dead.example')).toMatchObject({ rcode: 2 });
    expect(server.asked).toHaveLength(2);
  });
});
