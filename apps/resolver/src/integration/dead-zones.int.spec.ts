import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { clockedService } from '../testing/clocked-service.js';
import { respond } from '../testing/respond.js';
import type { Answerer } from '../testing/upstream-server.js';

const SHARE = 64;
const SUBSCRIBERS = 16;
const PER_SUBSCRIBER = 40;
const GOOD = { rcode: 0, answers: [{ type: 1 }] };
const NO_AUTHORITY = { rcode: 2, ede: [22] };

const alive: Answerer = (query) => respond(query, { answers: [a('192.0.2.1', 10)] });

/** Answers every name except those below the zone. */
const aliveBut =
  (zone: string): Answerer =>
  (query) =>
    query.message.questions[0].qname.endsWith(`.${zone}`) ? null : alive(query);

async function serve(answer: Answerer) {
  const all = await clockedService({
    answer,
    variables: { ZONE_UPSTREAM_QUERIES: SHARE },
    forwarding: { capacity: 512 },
  });
  const { send, got, service } = all;
  let asked = 0;
  /** Each of many subscribers asks for some random names below the zone. @returns the number of queries */
  const flood = async (zone: string): Promise<number> => {
    let id = 0;
    for (let i = 0; i < PER_SUBSCRIBER; i++) {
      for (let n = 0; n < SUBSCRIBERS; n++) id = await send(`n${asked++}.${zone}`, `127.0.1.${n}`);
      // Every query so far is answered or waits. More at once might not fit into a receive buffer.
      await expect
        .poll(() => got.length + service.counts.forwarding.waiting, { interval: 1 })
        .toBe(id + 1);
    }
    return SUBSCRIBERS * PER_SUBSCRIBER;
  };
  return { ...all, flood };
}

describe('a zone in which nothing is answered', () => {
  it('has a share of the questions in flight, and others have the rest', async () => {
    const { service, flood, ask, got, skip, settle } = await serve(aliveBut('dead.example'));
    const count = await flood('dead.example');
    const counts = { inFlight: SHARE, deadZone: count - SHARE, overloads: 0 };
    expect(service.counts.forwarding).toMatchObject(counts);
    expect(got).toHaveLength(count - SHARE);
    for (const message of got) expect(message).toMatchObject(NO_AUTHORITY);
    skip(100);
    for (const name of ['www.example.com', 'www.alive.example', 'www.example']) {
      expect(await ask(name)).toMatchObject(GOOD);
    }
    await settle();
    // It is remembered for a while.
    await flood('dead.example');
    expect(service.counts.forwarding.inFlight).toBeLessThan(SHARE / 4);
  });

  it('is asked without limits again after one answer', async () => {
    const { service, server, flood, send, ask, got, skip, settle } = await serve(
      aliveBut('dead.example'),
    );
    await flood('dead.example');
    skip(100);
    expect(await ask('www.alive.example')).toMatchObject(GOOD);
    await settle();
    server.answer = alive;
    await flood('dead.example');
    await expect.poll(() => service.counts.forwarding.inFlight).toBe(0);
    const { deadZone } = service.counts.forwarding;
    for (let round = 1; round <= 4; round++) {
      const before = got.length;
      for (let i = 0; i < SHARE; i++) await send(`n${round}-${i}.dead.example`);
      await expect.poll(() => got.length).toBe(before + SHARE);
    }
    expect(service.counts.forwarding.deadZone).toBe(deadZone);
    const last = got.slice(-4 * SHARE);
    for (const message of last) expect(message).toMatchObject(GOOD);
  });

  it('does no harm to its siblings', async () => {
    const { flood, ask, skip, settle } = await serve(aliveBut('dead.co.uk'));
    for (let round = 0; round < 3; round++) {
      await flood('dead.co.uk');
      skip(100);
      expect(await ask(`www${round}.alive.co.uk`)).toMatchObject(GOOD);
      expect(await ask(`www${round}.dead.co.uk`)).toMatchObject(NO_AUTHORITY);
      await settle();
    }
  });

  it('does not take expired answers away', async () => {
    const { server, flood, ask, skip } = await serve(alive);
    expect(await ask('www.dead.example')).toMatchObject(GOOD);
    skip(10_000);
    server.answer = aliveBut('dead.example');
    await flood('dead.example');
    expect(await ask('www.dead.example')).toMatchObject({ ...GOOD, ede: [3] });
  });

  it('is not to blame when the upstream itself was silent', async () => {
    const { service, server, send, ask, settle } = await serve(alive);
    const { answerProbe } = server;
    server.fallSilent();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < SHARE / 2; i++) await send(`n${round}-${i}.example.com`);
      await expect.poll(() => service.counts.forwarding.waiting).toBe(SHARE / 2);
      await settle();
    }
    server.answer = alive;
    server.answerProbe = answerProbe;
    for (let i = 0; i < SHARE / 2; i++) {
      expect(await ask(`again${i}.example.com`)).toMatchObject(GOOD);
    }
    expect(service.counts.forwarding.deadZone).toBe(0);
  });
});
