import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { type ClockedOptions, clockedService } from '../testing/clocked-service.js';
import { respond } from '../testing/respond.js';
import { isIdle } from '../testing/service.js';
import type { Answerer, AskedQuery } from '../testing/upstream-server.js';

const NAME = 'www.example.com';
const TTL = 10;
const FRESH = { rcode: 0, answers: [{ ttl: TTL }], ede: [] };
const STALE = { rcode: 0, answers: [{ ttl: 30 }], ede: [3] };

const answer: Answerer = (query) => respond(query, { answers: [a('192.0.2.1', TTL)] });

type Options = Omit<ClockedOptions, 'answer'>;

async function serve(options: Options = {}) {
  const all = await clockedService({ answer, ...options });
  const { send, counts } = all;
  /** Sends queries while the upstream is silent. @returns their ids */
  const sendInto = async (waiting: number, ...names: string[]): Promise<number[]> => {
    const ids: number[] = [];
    for (const name of names) ids.push(await send(name));
    await expect.poll(() => counts.forwarding.waiting).toBe(waiting);
    return ids;
  };
  return { ...all, sendInto };
}

/** The expired answer of `NAME` is in the cache, and the upstream is silent. */
async function serveExpired(options?: Options) {
  const all = await serve(options);
  expect(await all.ask(NAME)).toMatchObject(FRESH);
  all.skip(TTL * 1000);
  all.server.answer = () => null;
  return all;
}

describe('an expired answer', () => {
  it('is what all waiting clients get after 1.8 seconds, once, while the upstream is still asked', async () => {
    const { server, service, counts, sendInto, answerTo, ask, skip, got } = await serveExpired();
    const before = got.length;
    const ids = await sendInto(3, NAME, NAME, NAME);
    await expect.poll(() => server.asked.length).toBe(2);
    skip(1_700);
    expect(counts.forwarding.waiting).toBe(3);
    skip(100);
    for (const id of ids) expect(await answerTo(id)).toMatchObject(STALE);
    expect(counts.forwarding).toMatchObject({ inFlight: 1, waiting: 0 });
    // A client that asks now does not wait for what has not been answered for so long.
    expect(await ask(NAME)).toMatchObject(STALE);
    // The answer comes late, and is used.
    const late = server.asked.at(-1) as AskedQuery;
    server.sendTo((await answer(late)) as Uint8Array, late.from!);
    await expect.poll(() => isIdle(service)).toBe(true);
    expect(await ask(NAME)).toMatchObject(FRESH);
    expect(got.length).toBe(before + ids.length + 2);
  });

  it('comes at once with CACHE_STALE_AFTER_MS=0', async () => {
    const { server, service, ask } = await serveExpired({
      variables: { CACHE_STALE_AFTER_MS: 0 },
    });
    server.answer = answer;
    expect(await ask(NAME)).toMatchObject(STALE);
    await expect.poll(() => isIdle(service)).toBe(true);
    expect(await ask(NAME)).toMatchObject(FRESH);
  });

  it('is not sent when the upstream answers in time, or to clients that ask for other names', async () => {
    const { server, sendInto, answerTo, skip, settle } = await serveExpired();
    const [id, other] = await sendInto(2, NAME, 'other.example.com');
    await expect.poll(() => server.asked.length).toBe(3);
    skip(1_000);
    const [query] = server.asked
      .filter(({ message }) => message.questions[0].qname === NAME)
      .slice(-1);
    server.sendTo((await answer(query)) as Uint8Array, query.from!);
    expect(await answerTo(id)).toMatchObject(FRESH);
    await settle();
    expect(await answerTo(other)).toMatchObject({ rcode: 2, ede: [22] });
  });

  it.each([
    ['subscriber has its share already', { CLIENT_UPSTREAM_QUERIES: 1 }, {}],
    ['resolver has no capacity left', {}, { capacity: 1 }],
  ])('is what a client gets whose %s', async (_why, variables, forwarding) => {
    const { sendInto, ask, settle, answerTo } = await serveExpired({ variables, forwarding });
    const [dead] = await sendInto(1, 'www.dead.example');
    expect(await ask(NAME)).toMatchObject(STALE);
    expect(await ask('other.example.com')).toMatchObject({ rcode: 2, ede: [0] });
    await settle();
    expect(await answerTo(dead)).toMatchObject({ rcode: 2 });
  });
});

it('a popular answer whose refresh was refused is refreshed at a later hit', async () => {
  const { server, service, ask, skip, sendInto, settle } = await serve({
    variables: { CLIENT_UPSTREAM_QUERIES: 1 },
  });
  const LONG = 1_000;
  server.answer = (query) => respond(query, { answers: [a('192.0.2.1', LONG)] });
  for (let i = 0; i < 3; i++) await ask(NAME);
  skip((LONG - 50) * 1000);
  server.answer = () => null;
  await sendInto(1, 'www.dead.example');
  expect(await ask(NAME)).toMatchObject({ answers: [{ ttl: 50 }] });
  expect(service.counts.forwarding.overShare).toBe(0);
  await settle();
  server.answer = (query) => respond(query, { answers: [a('192.0.2.1', LONG)] });
  expect((await ask(NAME)).answers[0].ttl).toBeLessThan(50);
  await expect.poll(async () => (await ask(NAME)).answers[0].ttl).toBeGreaterThan(LONG - 50);
});
