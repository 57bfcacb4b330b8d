import { compileCatalogue, NameList } from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { createLogger, parseVariables } from '@weir/ops';
import { domainRule, HASH_KEY_HEX, loopback, profile, put } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { a } from '../query/testing/records.js';
import { startResolver, type Resolver } from '../resolver.js';
import { askUdp } from '../testing/client.js';
import { useResolverEnvironment } from '../testing/resolver-environment.js';
import { respond } from '../testing/respond.js';

const BLOCKED = 'c0000250';
const PERMITTED = 'c0000201';

const environment = useResolverEnvironment();

async function start(variables: Record<string, string> = {}): Promise<Resolver> {
  const configuration = parseVariables(SCHEMA, {
    ...environment.variables,
    BLOCK_PAGE_IPV4: '192.0.2.80',
    DNS_ALLOWED_CLIENTS: '192.0.2.0/24',
    ...variables,
  });
  const log = createLogger({ name: 'resolver', level: 'silent' });
  const resolver = await startResolver(configuration, [environment.upstream.endpoint], log);
  environment.cleanups.push(() => resolver.stop());
  return resolver;
}

async function ask(resolver: Resolver, name: string) {
  const answer = await askUdp(resolver.dns, encodeQuery(name, 1, { udpBytes: 1232 }));
  const message = decodeMessage(answer!);
  return message.rcode === 0 ? hexOf(message.answers[0].rdata) : [message.rcode, message.ede];
}

async function get(resolver: Resolver, path: string) {
  const response = await fetch(`http://127.0.0.1:${resolver.opsPort}${path}`);
  return { status: response.status, text: await response.text() };
}

describe('a resolver', () => {
  it('counts queries by profile on request, and those of profiles over the limit together', async () => {
    const { plane } = environment;
    await plane.commit(
      profile(1),
      profile(2),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const resolver = await start({ METRICS_PROFILES: '1' });
    await resolver.ready;
    for (const name of ['www.blocked.example', 'www.example.com', 'www.example.com']) {
      await ask(resolver, name);
    }
    await plane.commit(loopback(2));
    await ask(resolver, 'www.blocked.example');
    const { text } = await get(resolver, '/metrics');
    const lines = text.split('\n').filter((line) => line.startsWith('weir_resolver_profile_'));
    expect(lines).toEqual([
      'weir_resolver_profile_queries_total{profile="other",verdict="permit",reason="none"} 1',
      'weir_resolver_profile_queries_total{profile="1",verdict="permit",reason="none"} 2',
      'weir_resolver_profile_queries_total{profile="1",verdict="block",reason="domain_rule"} 1',
    ]);
    expect((await get(await start(), '/metrics')).text).not.toContain('profile_queries_total');
  });

  it('answers SERVFAIL and is not ready until it has a configuration', async () => {
    const resolver = await start({ FEED_URL: 'http://127.0.0.1:2' });
    expect(await ask(resolver, 'www.example.com')).toEqual([2, [14]]);
    expect(await get(resolver, '/readyz')).toEqual({ status: 503, text: 'no configuration yet\n' });
    expect((await get(resolver, '/livez')).status).toBe(200);
    expect((await get(resolver, '/metrics')).text).toContain('weir_resolver_revision -1');
  });

  it('serves health checks on a port of their own', async () => {
    const resolver = await start({ OPS_HOST: '127.0.0.2' });
    const live = await fetch(`http://127.0.0.2:${resolver.opsPort}/livez`);
    expect(live.status).toBe(200);
    await expect(get(resolver, '/livez')).rejects.toThrow('fetch failed');
    expect(resolver.dns.address).toBe('127.0.0.1');
  });

  it('starts with the snapshot and follows every change before the write returns', async () => {
    await environment.plane.commit(
      profile(1),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const resolver = await start();
    await resolver.ready;
    expect(await ask(resolver, 'www.blocked.example')).toBe(BLOCKED);
    expect(await ask(resolver, 'www.example.com')).toBe(PERMITTED);

    for (let i = 0; i < 20; i++) {
      const applied = await environment.plane.commit(domainRule(1, 'deny', 'www.example.com'));
      expect(applied).toEqual({ applied: 1, total: 1 });
      expect(await ask(resolver, 'www.example.com')).toBe(BLOCKED);
      await environment.plane.commit(domainRule(1, 'allow', 'www.example.com'));
      expect(await ask(resolver, 'www.example.com')).toBe(PERMITTED);
    }
    const { text } = await get(resolver, '/metrics');
    expect(text).toContain('weir_resolver_revision 41');
    expect(text).toContain('weir_resolver_changes_applied_total 40');
    expect(text).toContain('weir_resolver_lag_revisions 0');
    expect(text).toContain('weir_resolver_snapshot_loads_total{cause="start"} 1');
    expect(text).toContain('weir_resolver_snapshot_loads_total{cause="digest"} 0');
    expect(text).toContain(
      'weir_resolver_queries_total{transport="udp",type="A",verdict="block",reason="domain_rule",rcode="NOERROR"} 21',
    );
    expect(text).toMatch(/weir_resolver_upstream_queries_total\{upstream="127.0.0.1:\d+"\} 1$/m);
    expect(text).toContain('weir_resolver_cache_lookups_total{result="hit"} 20');
    expect(text).toContain('weir_resolver_cache_entries 1');
    expect(text).toMatch(
      /^weir_resolver_latency_seconds_bucket\{le="\+Inf",source="upstream"\} 1$/m,
    );
    await expect
      .poll(async () => (await get(resolver, '/metrics')).text)
      .toMatch(/^weir_resolver_lag_seconds [01]\b/m);
  });

  it('loads a configuration that was replaced completely', async () => {
    await environment.plane.commit(
      profile(1),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const resolver = await start();
    await resolver.ready;
    const applied = await environment.plane.replace(
      profile(2, { whiteListOnly: true }),
      loopback(2),
    );
    expect(applied).toEqual({ applied: 1, total: 1 });
    expect(await ask(resolver, 'www.example.com')).toBe(BLOCKED);
    await environment.plane.replace(profile(1));
    expect(await ask(resolver, 'www.example.com')).toEqual([5, [18]]);
  });

  it('detects that it differs from the control plane, and reloads', async () => {
    await environment.plane.commit(profile(1), loopback(1));
    const resolver = await start();
    await resolver.ready;
    const deny = domainRule(1, 'deny', 'blocked.example');
    await environment.plane.misinform([deny], [domainRule(1, 'deny', 'www.example.com')]);
    await expect.poll(() => ask(resolver, 'blocked.example')).toBe(BLOCKED);
    expect(await ask(resolver, 'www.example.com')).toBe(PERMITTED);
    const { text } = await get(resolver, '/metrics');
    expect(text).toContain('weir_resolver_snapshot_loads_total{cause="digest"} 1');
    expect(text).toContain('weir_resolver_digest_mismatches_total 1');
  });

  it('filters by the active catalogue, at the start and after each activation', async () => {
    const activate = (domain: string, version: number) => {
      const key = parseHashKey(HASH_KEY_HEX);
      const gambling = { id: 12, name: 'Gambling', lists: [NameList.of([domain], key)] };
      const { image, sha256 } = compileCatalogue({ categories: [gambling], applications: [] }, key);
      environment.plane.images.set(sha256, image);
      return put('catalogue', { version, sha256, sizeBytes: image.length });
    };
    await environment.plane.commit(profile(1, { categoryIds: [12] }), loopback(1));
    const resolver = await start();
    await resolver.ready;
    expect(await get(resolver, '/readyz')).toEqual({ status: 503, text: 'no catalogue yet\n' });
    await environment.plane.commit(activate('bet.example', 1));
    await expect.poll(async () => (await get(resolver, '/readyz')).status).toBe(200);
    expect(await ask(resolver, 'www.bet.example')).toBe(BLOCKED);
    expect(await ask(resolver, 'www.poker.example')).toBe(PERMITTED);
    expect(await environment.plane.commit(activate('poker.example', 2))).toEqual({
      applied: 1,
      total: 1,
    });
    await expect.poll(() => ask(resolver, 'www.bet.example')).toBe(PERMITTED);
    expect(await ask(resolver, 'www.poker.example')).toBe(BLOCKED);
    const later = await start();
    await later.ready;
    expect(await ask(later, 'www.poker.example')).toBe(BLOCKED);
    await environment.plane.commit({ type: 'delete', kind: 'catalogue', key: {} });
    await expect.poll(() => ask(resolver, 'www.poker.example')).toBe(PERMITTED);
  });

  it('keeps its configuration and answers while a catalogue image is unavailable', async () => {
    await environment.plane.commit(
      profile(1),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const resolver = await start();
    await resolver.ready;
    const missing = { version: 3, sha256: 'ab'.repeat(32), sizeBytes: 100 };
    await environment.plane.commit(put('catalogue', missing));
    await expect
      .poll(async () => (await get(resolver, '/metrics')).text)
      .toMatch(/catalogue_image_failures_total [1-9]/);
    expect(await ask(resolver, 'blocked.example')).toBe(BLOCKED);
    const { text } = await get(resolver, '/metrics');
    expect(text).toContain('weir_resolver_lag_revisions 0');
    expect(text).toMatch(/^weir_resolver_catalogue_image_missing_seconds 0?\.?\d*[1-9]/m);
    const later = await environment.plane.commit(domainRule(1, 'deny', 'late.example'));
    expect(later).toEqual({ applied: 1, total: 1 });
    expect(await ask(resolver, 'late.example')).toBe(BLOCKED);
  });

  it('makes writes wait until its last answer is sent, which obeys every change', async () => {
    const { plane, upstream } = environment;
    await plane.commit(profile(1), loopback(1));
    const resolver = await start();
    await resolver.ready;
    upstream.answer = () => null;
    const answer = ask(resolver, 'www.example.com');
    await expect.poll(() => upstream.asked.length).toBeGreaterThan(0);
    environment.cleanups.pop();
    const stopped = resolver.stop();
    const applied = await plane.commit(domainRule(1, 'deny', 'www.example.com'));
    expect(applied).toEqual({ applied: 1, total: 1 });
    const [query] = upstream.asked;
    upstream.sendTo(respond(query, { answers: [a('192.0.2.1')] }), query.from!);
    expect(await answer).toBe(BLOCKED);
    await stopped;
  });

  it('announces that it stops; then writes no longer wait for it', async () => {
    await environment.plane.commit(profile(1), loopback(1));
    const resolver = await start();
    await resolver.ready;
    environment.cleanups.pop();
    await resolver.stop();
    await expect(get(resolver, '/livez')).rejects.toThrow('fetch failed');
    expect(await environment.plane.commit(profile(2))).toEqual({ applied: 0, total: 0 });
  });
});
