import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import {
  countsOf,
  deadEndpoint,
  forwarder,
  SILENCE,
  silentUpstream,
  upstream,
} from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { skippedClock } from '../testing/test-clock.js';
import type { Answerer, UpstreamServer } from '../testing/upstream-server.js';

const HASTY = { attemptTimeoutMs: 100, queryTimeoutMs: 300 };
const GOOD = { answers: [{ type: 1 }] };

/** Answers every name except those below `dead.example`. */
const alive: Answerer = (query) => {
  const isDead = query.message.questions[0].qname.endsWith('dead.example');
  return isDead ? null : respond(query, { answers: [a('192.0.2.1')] });
};

/** Upstreams, and questions to them, on a clock that stands still until a probe that will be answered is answered. */
function hastily(...servers: readonly UpstreamServer[]) {
  const clock = skippedClock();
  const { subject, ask } = forwarder(
    servers.map(({ endpoint }) => endpoint),
    { ...HASTY, nowMs: clock.nowMs },
  );
  const isProbing = () =>
    subject.upstreams.some(
      ({ health }, i) => health.hasOpenProbe && !health.isDown && servers[i].answer === alive,
    );
  /** Moves the clock until that is so. */
  const until = (isSo: () => boolean) =>
    expect
      .poll(
        () => {
          if (!isSo() && !isProbing()) clock.skip(25);
          return isSo();
        },
        { interval: 30 },
      )
      .toBe(true);
  const outcomesOf = async (names: readonly string[]) => {
    const asked = names.map((name) => ask(name));
    await until(() => subject.inFlight === 0);
    return Promise.all(asked);
  };
  return { subject, outcomesOf, until };
}

describe('the health of an upstream', () => {
  it('does not suffer from names that nobody answers', async () => {
    const servers = [await upstream(alive), await upstream(alive)];
    const { subject, outcomesOf, until } = hastily(...servers);
    for (let round = 0; round < 3; round++) {
      const dead = Array.from({ length: 20 }, (_, i) => `n${round}-${i}.dead.example`);
      for (const outcome of await outcomesOf(dead)) expect(outcome).toEqual(SILENCE);
    }
    expect(countsOf(subject.upstreams[0]).timeouts).toBeGreaterThan(50);
    await until(() => subject.upstreams.every(({ health }) => health.isSound));
    expect(await outcomesOf(['www.example.com'])).toMatchObject([GOOD]);
    expect(servers[0].asked.at(-1)?.message.questions[0].qname).toBe('www.example.com');
  });

  it('is measured by probes for the root, with random ids and ports, that look like all other queries', async () => {
    const server = await upstream(alive);
    const clock = skippedClock();
    const { ask, subject } = forwarder([server.endpoint], {
      nowMs: clock.nowMs,
      attemptTimeoutMs: 2_000,
    });
    for (let sent = 1; sent <= 40; sent++) {
      await expect.poll(() => server.probes.length).toBe(sent);
      await expect.poll(() => countsOf(subject.upstreams[0]).probeAnswers).toBe(sent);
      clock.skip(5_000);
    }
    await ask();
    const [like] = server.asked;
    for (const { message } of server.probes) {
      expect(message.questions).toEqual([{ qname: '.', qtype: 2, qclass: 1 }]);
      expect(message.flags).toBe(like.message.flags);
      expect(message.opt?.class).toBe(like.message.opt?.class);
    }
    expect(new Set(server.probes.map(({ message }) => message.id)).size).toBeGreaterThan(35);
    expect(new Set(server.probes.map(({ from }) => from?.port)).size).toBeGreaterThan(1);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ queries: 1, answers: 1, strays: 0 });
  });

  it('is good when it answers probes with an error', async () => {
    const server = await upstream(alive);
    server.answerProbe = (query) => respond(query, { flags: 0x8185 });
    const clock = skippedClock();
    const { subject } = forwarder([server.endpoint], {
      nowMs: clock.nowMs,
      attemptTimeoutMs: 2_000,
    });
    for (let sent = 1; sent <= 5; sent++) {
      await expect.poll(() => countsOf(subject.upstreams[0]).probeAnswers).toBe(sent);
      clock.skip(5_000);
    }
    expect(subject.upstreams[0].health.isSound).toBe(true);
  });

  it.each([
    ['silent', async () => (await silentUpstream()).endpoint],
    ['unreachable', deadEndpoint],
  ])('is bad when it is %s, without any query of a client', async (_what, endpoint) => {
    const { subject } = forwarder([await endpoint()], HASTY);
    await expect.poll(() => subject.allDown).toBe(true);
    expect(countsOf(subject.upstreams[0])).toMatchObject({ queries: 0, timeouts: 0, failures: 0 });
  });

  it('is reported when it changes, at most once in ten seconds; every recovery counts at once', async () => {
    const server = await silentUpstream();
    const clock = skippedClock();
    const told: boolean[] = [];
    let recoveries = 0;
    const { subject } = forwarder([server.endpoint], {
      nowMs: clock.nowMs,
      attemptTimeoutMs: 2_000,
      queryTimeoutMs: 6_000,
      stateListener: {
        onRecovered: () => recoveries++,
        onReport: (_upstream, answers) => told.push(answers),
      },
    });
    const { health } = subject.upstreams[0];
    const until = (isDown: boolean) =>
      expect
        .poll(() => {
          clock.skip(250);
          return health.isDown;
        })
        .toBe(isDown);
    const silence = server.answerProbe;
    await until(true);
    await expect.poll(() => told).toEqual([false]);
    const toldMs = clock.nowMs();
    server.answerProbe = alive;
    await until(false);
    await expect.poll(() => recoveries).toBe(1);
    server.answerProbe = silence;
    await until(true);
    server.answerProbe = alive;
    await until(false);
    await expect.poll(() => recoveries).toBe(2);
    if (clock.nowMs() - toldMs < 9_000) expect(told).toEqual([false]);
    clock.skip(10_000);
    await expect.poll(() => told).toEqual([false, true]);
  });
});

it('clients soon stop to wait for an upstream that died', async () => {
  const first = await upstream(alive);
  const second = await upstream(alive);
  const { subject, outcomesOf, until } = hastily(first, second);
  expect(await outcomesOf(['www.example.com'])).toMatchObject([GOOD]);
  first.fallSilent();
  const [asked] = subject.upstreams;
  const { health } = asked;
  while (health.isSound) expect(await outcomesOf(['www.example.com'])).toMatchObject([GOOD]);
  const { queries } = countsOf(asked);
  await until(() => health.isDown);
  for (let i = 0; i < 20; i++) {
    expect(await outcomesOf([`n${i}.example.com`])).toMatchObject([GOOD]);
  }
  expect(countsOf(asked).queries).toBe(queries);
  // And it is asked again when it is back.
  first.answer = alive;
  first.answerProbe = alive;
  await until(() => health.isSound);
});
