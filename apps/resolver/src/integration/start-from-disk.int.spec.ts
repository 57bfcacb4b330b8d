import { compileCatalogue, NameList } from '@weir/catalogue';
import { RuleVerdict } from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { createLogger, parseVariables } from '@weir/ops';
import {
  ControlPlane,
  domainRule,
  FEED_TOKEN,
  HASH_KEY_HEX,
  loopback,
  profile,
  put,
} from '@weir/policy-feed/testing';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { type Resolver, startResolver } from '../resolver.js';
import { askUdp } from '../testing/client.js';
import { startPrivateRedis } from '@weir/change-feed/testing';

const NOWHERE = '127.0.0.1:2';
const BLOCKED = 'c0000250';
const SERVFAIL = 2;
/** So that a start takes a while. */
const LONG_CHANGES = 4;
const RULES_EACH = 10_000;

describe('a resolver whose control plane and Redis are gone', () => {
  let folder: string;
  const cleanups: (() => unknown)[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-resolver-'));
    cleanups.push(() => {
      rmSync(folder, { recursive: true });
    });
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  const start = async (redisUrl: string, feedUrl: string): Promise<Resolver> => {
    const configuration = parseVariables(SCHEMA, {
      DNS_PORT: '0',
      OPS_PORT: '0',
      BLOCK_PAGE_IPV4: '192.0.2.80',
      DOMAIN_HASH_KEY: HASH_KEY_HEX,
      REDIS_URL: redisUrl,
      FEED_URL: feedUrl,
      FEED_TOKENS: FEED_TOKEN,
      DATA_DIR: folder,
    });
    const log = createLogger({ name: 'resolver', level: 'silent' });
    // There is no upstream either: permitted names get SERVFAIL.
    return startResolver(configuration, [{ address: '127.0.0.1', port: 1 }], log);
  };
  const ask = async (resolver: Resolver, name: string) => {
    const answer = decodeMessage((await askUdp(resolver.dns, encodeQuery(name, 1)))!);
    return answer.rcode === 0 ? hexOf(answer.answers[0].rdata) : answer.rcode;
  };
  const isReady = async (resolver: Resolver) =>
    (await fetch(`http://127.0.0.1:${resolver.opsPort}/readyz`)).ok;

  it('starts from disk with every acknowledged change and the catalogue', async () => {
    const redis = await startPrivateRedis();
    const plane = await ControlPlane.start(redis.url);
    const key = parseHashKey(HASH_KEY_HEX);
    const gambling = { id: 12, name: 'Gambling', lists: [NameList.of(['bet.example'], key)] };
    const { image, sha256 } = compileCatalogue({ categories: [gambling], applications: [] }, key);
    plane.images.set(sha256, image);
    await plane.commit(profile(1, { categoryIds: [12] }), loopback(1));
    const first = await start(redis.url, plane.feedUrl);
    await first.ready;
    await plane.commit(put('catalogue', { version: 1, sha256, sizeBytes: image.length }));
    await plane.commit(domainRule(1, 'deny', 'late.example'));
    const texts = { authority: 'District Court', reference: '1 A 23' };
    const ordered = {
      id: 1,
      domainHash: hashDomain('ordered.example', key),
      until: null,
      ...texts,
    };
    const granted = { profileId: 1, domainHash: hashDomain('fun.bet.example', key) };
    const untilTomorrow = Math.floor(Date.now() / 1000) + 86_400;
    await plane.commit(
      put('order', ordered),
      put('grant', { ...granted, verdict: RuleVerdict.allow, until: untilTomorrow }),
    );
    // The image comes beside the log: a change is acknowledged without it.
    await expect.poll(() => ask(first, 'www.bet.example')).toBe(BLOCKED);
    await first.stop();
    await plane.stop();
    await redis.stop();

    const again = await start(`redis://${NOWHERE}`, `http://${NOWHERE}`);
    cleanups.push(() => again.stop());
    await expect.poll(() => isReady(again)).toBe(true);
    expect(await ask(again, 'www.late.example')).toBe(BLOCKED);
    expect(await ask(again, 'www.bet.example')).toBe(BLOCKED);
    expect(await ask(again, 'www.ordered.example')).toBe(BLOCKED);
    expect(await ask(again, 'fun.bet.example')).toBe(SERVFAIL);
    expect(await ask(again, 'www.example.com')).toBe(SERVFAIL);
    expect(readdirSync(folder).sort()).toEqual([
      `catalogue-${sha256}`,
      'configuration',
      'configuration-wal',
      'run',
    ]);
  });

  it('answers by nothing older than the last change, however large the changes before it were', async () => {
    const redis = await startPrivateRedis();
    const plane = await ControlPlane.start(redis.url);
    await plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
    const first = await start(redis.url, plane.feedUrl);
    await first.ready;
    for (let i = 0; i < LONG_CHANGES; i++) {
      const names = Array.from({ length: RULES_EACH }, (_, j) => `rule${i}-${j}.example`);
      await plane.commit(...names.map((name) => domainRule(1, 'deny', name)));
    }
    const isEmpty = profile(1, { emptyDnsAnswer: true });
    expect(await plane.commit(isEmpty)).toEqual({ applied: 1, total: 1 });
    await first.stop();
    await plane.stop();
    await redis.stop();

    const again = await start(`redis://${NOWHERE}`, `http://${NOWHERE}`);
    cleanups.push(() => again.stop());
    const query = encodeQuery('blocked.example', 1);
    const seen = new Set<string>();
    while (!seen.has('empty')) {
      const { rcode, answers } = decodeMessage((await askUdp(again.dns, query))!);
      seen.add(rcode === 0 ? (answers.length === 0 ? 'empty' : 'address') : String(rcode));
    }
    expect([...seen]).toEqual([String(SERVFAIL), 'empty']);
  });
});
