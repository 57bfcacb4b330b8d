import { hashDomain, parseHashKey } from '@weir/dns-name';
import { encodeQuery } from '@weir/dns-wire/testing';
import { createLogger, parseVariables } from '@weir/ops';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { a } from '../query/testing/records.js';
import { startResolver } from '../resolver.js';
import { askUdp } from '../testing/client.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { respond } from '../testing/respond.js';

const TOKEN = 'a-token-of-the-failures-test';

const environment = useResolverEnvironment();

/** Asks names whose upstream fails as their first label says. @returns the answer of `GET /upstream/failures` */
async function failuresAfter(names: readonly string[], variables: Record<string, string> = {}) {
  await environment.plane.commit(activateCatalogue(environment.plane));
  const { upstream } = environment;
  upstream.answer = (query) => {
    const kind = query.message.questions[0].qname.split('.')[0];
    if (kind === 'silent') return null;
    if (kind === 'servfail') return respond(query, { flags: 0x8182 });
    if (kind === 'refused') return respond(query, { flags: 0x8185 });
    if (kind === 'notimp') return respond(query, { flags: 0x8184 });
    return respond(query, { answers: [a('192.0.2.1')] });
  };
  const configuration = parseVariables(SCHEMA, {
    ...environment.variables,
    OPS_TOKENS: TOKEN,
    ...variables,
  });
  const log = createLogger({ name: 'resolver', level: 'silent' });
  const resolver = await startResolver(configuration, [upstream.endpoint], log);
  environment.cleanups.push(() => resolver.stop());
  await resolver.ready;
  for (const name of names) await askUdp(resolver.dns, encodeQuery(name, 1), 20_000);
  const url = `http://127.0.0.1:${resolver.opsPort}/upstream/failures`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } });
  expect(response.status).toBe(200);
  return (await response.json()) as {
    zones: object[];
    upstreams: (Record<string, number> & { upstream: string })[];
  };
}

describe('GET /upstream/failures', () => {
  it('tells the zones that failed most, and how each upstream failed', async () => {
    const { upstreams, ...told } = await failuresAfter(
      [
        'servfail.a.one.example',
        'refused.b.one.example',
        'silent.two.example',
        'fine.three.example',
      ],
      { QUERY_LOG_NAMES: 'true' },
    );
    expect(told).toEqual({
      zones: [
        { zone: 'one.example', failures: 2, error: 0 },
        { zone: 'two.example', failures: 1, error: 0 },
      ],
    });
    const { address, port } = environment.upstream.endpoint;
    expect(upstreams).toHaveLength(1);
    expect(upstreams[0]).toMatchObject({ upstream: `${address}:${port}`, other_errors: 0 });
    for (const kind of ['servfail', 'refused', 'timeouts', 'answers', 'queries']) {
      expect(upstreams[0][kind], kind).toBeGreaterThan(0);
    }
  });

  it('tells hashes of zones unless the query log has names', async () => {
    const { zones, upstreams } = await failuresAfter(['notimp.one.example']);
    const zone = hashDomain('one.example', parseHashKey(HASH_KEY_HEX));
    expect(zones).toEqual([{ zone, failures: 1, error: 0 }]);
    expect(upstreams[0]['other_errors']).toBeGreaterThan(0);
  });
});
