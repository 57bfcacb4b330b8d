import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import {
  countsOf,
  deadEndpoint,
  forwarder,
  NEVER,
  silentUpstream,
  UNREACHABLE,
  upstream,
} from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { skippedClock } from '../testing/test-clock.js';
import { type Answerer, UpstreamServer } from '../testing/upstream-server.js';

const good: Answerer = (query) => respond(query, { answers: [a('192.0.2.1')] });
const failing =
  (rcode: number): Answerer =>
  (query) =>
    respond(query, { flags: 0x8180 | rcode });
const GOOD = { answers: [{ type: 1 }] };
const SERVFAIL = { rcode: 2, ede: -1 };

/** Without waiting for any timeout, */
const never = { ...NEVER, errorTimeoutMs: NEVER.queryTimeoutMs };
/** or only for that of an attempt. */
const hasty = { ...never, attemptTimeoutMs: 100 };

describe('an upstream that answers with an error', () => {
  it.each([1, 2, 4, 5])(
    '(RCODE %i) does not hide the answer of the next upstream',
    async (rcode) => {
      const first = await upstream(failing(rcode));
      const second = await upstream(good);
      const { ask, subject } = forwarder([first.endpoint, second.endpoint], never);
      expect(await ask()).toMatchObject(GOOD);
      expect(countsOf(subject.upstreams[0])).toMatchObject({ errors: 1, answers: 1, failures: 0 });
    },
  );

  it('over TCP does not hide the answer of the next upstream either', async () => {
    const first = await upstream((query) =>
      respond(query, { flags: query.transport === 'udp' ? 0x8380 : 0x8182 }),
    );
    const { ask } = forwarder([first.endpoint, (await upstream(good)).endpoint], never);
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
    const { ask } = forwarder([bogus.endpoint], never);
    expect(await ask()).toEqual({ rcode: 2, ede: 6 });
    expect(bogus.asked).toHaveLength(1);
  });

  it('is passed on when all upstreams answer with one: the error of the first', async () => {
    const all = [await upstream(failing(2)), await upstream(failing(5))];
    const { ask } = forwarder(
      all.map(({ endpoint }) => endpoint),
      never,
    );
    expect(await ask()).toEqual(SERVFAIL);
    expect(all.map(({ asked }) => asked.length)).toEqual([1, 1]);
  });

  it('waits for a slow upstream that was asked before, but not for long', async () => {
    const slow = await upstream(() => null);
    const endpoints = [slow.endpoint, (await upstream(failing(2))).endpoint];
    const { nowMs, skip } = skippedClock();
    const { ask, subject } = forwarder(endpoints, { ...hasty, errorTimeoutMs: 1_000, nowMs });
    const [, second] = subject.upstreams;
    const outcome = ask('www.example.com');
    await expect.poll(() => slow.asked.length).toBe(1);
    skip(100);
    await expect.poll(() => countsOf(second).errors).toBe(1);
    const [query] = slow.asked;
    slow.sendTo((await good(query)) as Uint8Array, query.from!);
    expect(await outcome).toMatchObject(GOOD);
    const other = ask('other.example.com');
    await expect.poll(() => slow.asked.length).toBe(2);
    skip(100);
    await expect.poll(() => countsOf(second).errors).toBe(2);
    skip(900);
    expect(await other).toEqual(SERVFAIL);
  });

  it('does not wait for an upstream that is down', async () => {
    const silent = await silentUpstream();
    const { ask, subject } = forwarder(
      [silent.endpoint, (await upstream(failing(2))).endpoint],
      hasty,
    );
    await expect.poll(() => subject.upstreams[0].health.isDown).toBe(true);
    expect(await ask()).toEqual(SERVFAIL);
  });

  it('does not put the upstream behind the others', async () => {
    const first = await upstream(failing(2));
    const { ask, subject } = forwarder([first.endpoint, await deadEndpoint()], never);
    for (let i = 0; i < 5; i++) await ask(`n${i}.example.com`);
    expect(first.asked).toHaveLength(5);
    expect(subject.allDown).toBe(false);
  });
});

it('the next upstream is asked when an upstream is silent over TCP', async () => {
  const deaf = await upstream((query) =>
    query.transport === 'udp' ? respond(query, { flags: 0x8380 }) : null,
  );
  const { ask } = forwarder([deaf.endpoint, (await upstream(good)).endpoint], hasty);
  expect(await ask()).toMatchObject(GOOD);
});

it('a question fails with EDE 23 when no upstream could be reached', async () => {
  const { ask } = forwarder([await deadEndpoint(), await deadEndpoint()], never);
  expect(await ask()).toEqual(UNREACHABLE);
});

it('a socket through which the upstream could not be reached is soon replaced', async () => {
  const clock = skippedClock();
  const options = { ...never, portsPerUpstream: 1, nowMs: clock.nowMs };
  const { ask, subject } = forwarder([await deadEndpoint()], options);
  const { sockets } = subject.upstreams[0];
  const socket = sockets.choose(clock.nowMs());
  await ask();
  clock.skip(900);
  await ask();
  expect(sockets.choose(clock.nowMs())).toBe(socket);
  clock.skip(100);
  await expect.poll(() => sockets.choose(clock.nowMs())).not.toBe(socket);
  expect(sockets.choose(clock.nowMs())).not.toBeNull();
});

it('many questions fail in pieces when their upstream becomes unreachable', async () => {
  const silent = await UpstreamServer.start(() => null);
  // The queries of a socket that nobody tells of it are sent again.
  const again = { attemptTimeoutMs: 2_000 };
  const { ask, subject, outcomes } = forwarder([silent.endpoint], again);
  const all = Array.from({ length: 2_000 }, (_, i) => ask(`n${i}.example.com`));
  await expect.poll(() => silent.asked.length).toBeGreaterThan(100);
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
