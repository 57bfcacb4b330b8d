import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { createLogger, parseVariables } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { soa } from '../query/testing/questions.js';
import { a, aaaa } from '../query/testing/records.js';
import { type Resolver, startResolver } from '../resolver.js';
import { askUdp } from '../testing/client.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { respond } from '../testing/respond.js';
import type { AskedQuery } from '../testing/upstream-server.js';

const TOKEN = 'a-token-of-the-flush-test';

const environment = useResolverEnvironment();

/** A resolver whose upstream answers every query with another address. */
async function start(variables: Record<string, string> = {}) {
  await environment.plane.commit(activateCatalogue(environment.plane));
  const { upstream } = environment;
  const numbered = (query: AskedQuery) => {
    const { length } = upstream.asked;
    const isAaaa = query.message.questions[0].qtype === 28;
    const record = isAaaa ? aaaa(length.toString(16).padStart(32, '0')) : a(`192.0.2.${length}`);
    return respond(query, { answers: [record] });
  };
  upstream.answer = numbered;
  const configuration = parseVariables(SCHEMA, {
    ...environment.variables,
    OPS_TOKENS: `an-older-token-of-it,${TOKEN}`,
    ...variables,
  });
  const log = createLogger({ name: 'resolver', level: 'silent' });
  const resolver = await startResolver(configuration, [upstream.endpoint], log);
  environment.cleanups.push(() => resolver.stop());
  await resolver.ready;
  return { resolver, upstream, numbered };
}

/** The last byte of the address in the answer, or the RCODE. */
async function ask({ dns }: Resolver, name: string, qtype = 1) {
  const answer = await askUdp(dns, encodeQuery(name, qtype, { udpBytes: 1232 }), 20_000);
  const { rcode, answers } = decodeMessage(answer!);
  return rcode === 0 ? answers[0].rdata.at(-1) : `rcode ${rcode}`;
}

/** Asks every question now and again after the change. @returns for each whether the answer is a new one */
async function asksUpstreamAfter(
  resolver: Resolver,
  questions: readonly (readonly [name: string, qtype?: number])[],
  change: () => Promise<unknown>,
) {
  const before = [];
  for (const [name, qtype] of questions) before.push(await ask(resolver, name, qtype));
  await change();
  const isNew = [];
  for (const [i, [name, qtype]] of questions.entries()) {
    isNew.push((await ask(resolver, name, qtype)) !== before[i]);
  }
  return isNew;
}

async function flush({ opsPort }: Resolver, body: unknown) {
  const response = await fetch(`http://127.0.0.1:${opsPort}/cache/flush`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

describe('POST /cache/flush', () => {
  it('removes all types of one name, and no other name', async () => {
    const { resolver } = await start();
    const questions = [
      ['www.example.com', 1],
      ['www.example.com', 28],
      ['a.www.example.com'],
      ['example.com'],
    ] as const;
    const isNew = await asksUpstreamAfter(resolver, questions, async () => {
      expect(await flush(resolver, { name: 'WWW.example.com.' })).toEqual([200, { removed: 2 }]);
    });
    expect(isNew).toEqual([true, true, false, false]);
  });

  it('removes the names below it too on request', async () => {
    const { resolver } = await start();
    const questions = [
      ['example.com'],
      ['www.example.com'],
      ['a.b.example.com'],
      ['badexample.com'],
    ] as const;
    const isNew = await asksUpstreamAfter(resolver, questions, async () => {
      const request = { name: 'example.com', below: true };
      expect(await flush(resolver, request)).toEqual([200, { removed: 3 }]);
    });
    expect(isNew).toEqual([true, true, true, false]);
  });

  it('removes everything', async () => {
    const { resolver } = await start();
    const questions = [['one.example'], ['two.example']] as const;
    const isNew = await asksUpstreamAfter(resolver, questions, async () => {
      expect(await flush(resolver, { all: true })).toEqual([200, { removed: 2 }]);
      const root = { name: '.', below: true };
      expect(await flush(resolver, root)).toEqual([200, { removed: 0 }]);
    });
    expect(isNew).toEqual([true, true]);
  });

  it('removes failures and NXDOMAIN', async () => {
    const { resolver, upstream, numbered } = await start();
    upstream.answer = (query) => respond(query, { flags: 0x8182 });
    expect(await ask(resolver, 'failed.example')).toBe('rcode 2');
    upstream.answer = (query) => respond(query, { flags: 0x8183, authorities: [soa(300, 300)] });
    expect(await ask(resolver, 'gone.example', 28)).toBe('rcode 3');
    upstream.answer = numbered;
    expect(await ask(resolver, 'gone.example')).toBe('rcode 3');
    for (const name of ['failed.example', 'gone.example']) {
      // A failure is of no use after five seconds, but it is still there.
      expect(await flush(resolver, { name })).toEqual([200, { removed: 1 }]);
      expect(await ask(resolver, name)).toBeTypeOf('number');
    }
  });

  it('removes NXDOMAIN of a name above where it holds for the names below (RFC 8020)', async () => {
    const { resolver, upstream, numbered } = await start({ CACHE_NXDOMAIN_CUT: 'true' });
    upstream.answer = (query) => respond(query, { flags: 0x8183, authorities: [soa(300, 300)] });
    expect(await ask(resolver, 'gone.example')).toBe('rcode 3');
    upstream.answer = numbered;
    const name = 'a.b.gone.example';
    expect(await ask(resolver, name)).toBe('rcode 3');
    expect(await flush(resolver, { name })).toEqual([200, { removed: 1 }]);
    expect(await ask(resolver, name)).toBeTypeOf('number');
  });

  it.each([{ name: 'slow.example' }, { name: 'example', below: true }, { all: true }])(
    'keeps the answer to an earlier question out of the cache: %j',
    async (request) => {
      const { resolver, upstream, numbered } = await start();
      const { promise: gate, resolve: open } = Promise.withResolvers<undefined>();
      upstream.answer = async (query) => {
        const old = numbered(query);
        await gate;
        return old;
      };
      const before = ask(resolver, 'slow.example');
      await expect.poll(() => upstream.asked.length, { timeout: 10_000 }).toBeGreaterThan(0);
      expect(await flush(resolver, request)).toEqual([200, { removed: 0 }]);
      upstream.answer = numbered;
      const after = await ask(resolver, 'slow.example');
      open(undefined);
      expect(await before).not.toBe(after);
      expect(await ask(resolver, 'slow.example')).toBe(after);
    },
  );

  it.each([
    [{}],
    [[]],
    [null],
    [{ all: false }],
    [{ all: true, name: 'example.com' }],
    [{ all: true, below: true }],
    [{ name: 'example.com', below: 'yes' }],
    [{ name: 7 }],
    [{ name: 'example.com', types: ['A'] }],
  ])('says what it takes when it gets %j', async (body) => {
    const { resolver } = await start();
    const before = await ask(resolver, 'example.com');
    const detail =
      'the body must be {"name":"example.com"}, with "below":true for the names below it too, or {"all":true}';
    expect(await flush(resolver, body)).toEqual([422, { detail }]);
    expect(await ask(resolver, 'example.com')).toBe(before);
  });

  it.each(['', 'a..b', 'a b', 'x'.repeat(64), 'bücher..example'])(
    'refuses the name %j and does not repeat it',
    async (name) => {
      const { resolver } = await start();
      const detail = 'name must be a domain name, such as example.com';
      expect(await flush(resolver, { name })).toEqual([422, { detail }]);
    },
  );

  it('takes every name that can be asked', async () => {
    const { resolver } = await start();
    await ask(resolver, '*._tcp.-x.example');
    await ask(resolver, 'xn--bcher-kva.example');
    expect(await flush(resolver, { name: '*._tcp.-x.example' })).toEqual([200, { removed: 1 }]);
    expect(await flush(resolver, { name: 'bücher.example' })).toEqual([200, { removed: 1 }]);
  });

  it('is off without OPS_TOKENS', async () => {
    const { resolver } = await start({ OPS_TOKENS: '' });
    const detail = 'this call is off; OPS_TOKENS turns it on';
    expect(await flush(resolver, { all: true })).toEqual([403, { detail }]);
  });
});
