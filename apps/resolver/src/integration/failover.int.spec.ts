import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import {
  deadEndpoint,
  forwarder,
  silentUpstream,
  UNREACHABLE,
  upstream,
} from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { type Answerer, UpstreamServer } from '../testing/upstream-server.js';

const good: Answerer = (query) => respond(query, { answers: [a('192.0.2.1')] });
const failing =
  (rcode: number): Answerer =>
  (query) =>
    respond(query, { flags: 0x8180 | rcode });
const GOOD = { answers: [{ type: 1 }] };
const SERVFAIL = { rcode: 2, ede: -1 };

const times = { attemptTimeoutMs: 100, errorTimeoutMs: 20_000, queryTimeoutMs: 30_000 };
/** Far below these limits, and far above what a busy machine takes. */
const SOON_MS = 15_000;

async function taking<T>(what: Promise<T>): Promise<{ outcome: T; tookMs: number }> {
  const startMs = performance.now();
  return { outcome: await what, tookMs: performance.now() - startMs };
}

describe('an upstream that answers with an error', () => {
  it.each([1, 2, 4, 5])(
    '(RCODE %i) does not hide the answer of the next upstream',
    async (rcode) => {
      const first = await upstream(failing(rcode));
      const second = await upstream(good);
      const { ask, subject } = await forwarder([first.endpoint, second.endpoint], times);
      expect(await ask()).toMatchObject(GOOD);
      expect(subject.upstreams[0].counters).toMatchObject({ errors: 1, answers: 1, failures: 0 });
    },
  );

  it('over TCP does not hide the answer of the next upstream either', async () => {
    const first = await upstream((query) =>
      respond(query, { flags: query.transport === 'udp' ? 0x8380 : 0x8182 }),
    );
    const { ask } = await forwarder([first.endpoint, (await upstream(good)).endpoint], times);
    expect(await ask()).toMatchObject(GOOD);
  });

  it('is passed on at once, with its EDE, when there is no other upstream', async () => {
    const bogus = await upstream((query) =>
      respond(query, {
        flags: 0x8182,
        additionals: [
          {
            owner: Uint8Array.of(0),
            type: 41,
            class: 1232,
            rdata: Uint8Array.of(0, 15, 0, 2, 0, 6),
          },
        ],
      }),
    );
    const { ask } = await forwarder([bogus.endpoint], times);
    const { outcome, tookMs } = await taking(ask());
    expect(outcome).toEqual({ rcode: 2, ede: 6 });
    expect(tookMs).toBeLessThan(SOON_MS);
    expect(bogus.asked).toHaveLength(1);
  });

  it('is passed on when all upstreams answer with one: the error of the first', async () => {
    const all = [await upstream(failing(2)), await upstream(failing(5))];
    const { ask } = await forwarder(
      all.map(({ endpoint }) => endpoint),
      times,
    );
    expect(await ask()).toEqual(SERVFAIL);
    expect(all.map(({ asked }) => asked.length)).toEqual([1, 1]);
  });

  it('waits for a slow upstream that was asked before, but not for long', async () => {
    let slowMs = 150;
    const slow = await upstream(async (query) => {
      await sleep(slowMs);
      return good(query);
    });
    const { ask } = await forwarder([slow.endpoint, (await upstream(failing(2))).endpoint], {
      ...times,
      errorTimeoutMs: 1_000,
    });
    expect(await ask('www.example.com')).toMatchObject(GOOD);
    slowMs = 25_000;
    const { outcome, tookMs } = await taking(ask('other.example.com'));
    expect(outcome).toEqual(SERVFAIL);
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  it('does not wait for an upstream that is down', async () => {
    const silent = await silentUpstream();
    const { ask, subject } = await forwarder(
      [silent.endpoint, (await upstream(failing(2))).endpoint],
      times,
    );
    await expect.poll(() => subject.upstreams[0].health.isDown).toBe(true);
    const { outcome, tookMs } = await taking(ask());
    expect(outcome).toEqual(SERVFAIL);
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  it('does not put the upstream behind the others', async () => {
    const first = await upstream(failing(2));
    const { ask, subject } = await forwarder([first.endpoint, await deadEndpoint()], times);
    for (let i = 0; i < 5; i++) await ask(`n${i}.example.com`);
    expect(first.asked).toHaveLength(5);
    expect(subject.allDown).toBe(false);
  });
});

it('the next upstream is asked when an upstream is silent over TCP', async () => {
  const deaf = await upstream((query) =>
    query.transport === 'udp' ? respond(query, { flags: 0x8380 }) : null,
  );
  const { ask } = await forwarder([deaf.endpoint, (await upstream(good)).endpoint], times);
  const { outcome, tookMs } = await taking(ask());
  expect(outcome).toMatchObject(GOOD);
  expect(tookMs).toBeLessThan(SOON_MS);
});

it('a question fails with EDE 23 when no upstream could be reached', async () => {
  const { ask } = await forwarder([await deadEndpoint(), await deadEndpoint()], times);
  expect(await ask()).toEqual(UNREACHABLE);
});

it('many questions fail in pieces when their upstream becomes unreachable', async () => {
  const silent = await UpstreamServer.start(() => null);
  const { ask, subject, outcomes } = await forwarder([silent.endpoint]);
  const all = Array.from({ length: 2_000 }, (_, i) => ask(`n${i}.example.com`));
  await expect.poll(() => silent.asked.length).toBeGreaterThan(500);
  await silent.stop();
  all.push(ask('one-more.example.com'), ask('another.example.com'), ask('last.example.com'));
  let mostInTurn = 0;
  while (subject.inFlight > 0) {
    const before = outcomes.length;
    await nextTurn();
    mostInTurn = Math.max(mostInTurn, outcomes.length - before);
  }
  await Promise.all(all);
  expect(outcomes).toHaveLength(all.length);
  expect(mostInTurn).toBeLessThan(100);
});
