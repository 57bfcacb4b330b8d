import { hashDomain, parseHashKey } from '@weir/dns-name';
import { encodeQuery } from '@weir/dns-wire/testing';
import { createLogger, parseVariables } from '@weir/ops';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { startResolver } from '../resolver.js';
import { askUdp } from '../testing/client.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { respond } from '../testing/respond.js';

const TOKEN = 'a-token-of-the-failures-test';
const domain_hash = hashDomain('broken.example', parseHashKey(HASH_KEY_HEX));

const environment = useResolverEnvironment();

/** A resolver whose upstream answers SERVFAIL. */
async function start(variables: Record<string, string>) {
  await environment.plane.commit(activateCatalogue(environment.plane));
  environment.upstream.answer = (query) => respond(query, { flags: 0x8182 });
  const all = { ...environment.variables, OPS_TOKENS: TOKEN, ...variables };
  const configuration = parseVariables(SCHEMA, all);
  const log = createLogger({ name: 'resolver', level: 'silent' });
  const resolver = await startResolver(configuration, [environment.upstream.endpoint], log);
  environment.cleanups.push(() => resolver.stop());
  await resolver.ready;
  return resolver;
}

async function failuresOf(opsPort: number, token = TOKEN) {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`http://127.0.0.1:${opsPort}/upstreams/failures`, { headers });
  return [response.status, await response.json()];
}

describe('GET /upstreams/failures', () => {
  it.each([
    ['hashes', 'false', { domain_hash }],
    ['names, where they may be shown,', 'true', { domain_hash, domain: 'broken.example' }],
  ])('lists the %s of zones that fail', async (_what, showNames, zone) => {
    const { dns, opsPort } = await start({ QUERY_LOG_NAMES: showNames });
    for (const name of ['a.broken.example', 'b.broken.example']) {
      await askUdp(dns, encodeQuery(name, 1), 20_000);
    }
    const counts = { silent: 0, servfail: 2, refused: 0, other: 0 };
    const metrics = await fetch(`http://127.0.0.1:${opsPort}/metrics`).then((one) => one.text());
    expect(metrics).toMatch(/^weir_resolver_upstream_errors_total{.*rcode="SERVFAIL".*} 2$/m);
    expect(await failuresOf(opsPort)).toEqual([200, { zones: [{ ...zone, ...counts }] }]);
  });

  it('needs a token', async () => {
    const { opsPort } = await start({});
    const [status] = await failuresOf(opsPort, 'another-token-of-nobody');
    expect(status).toBe(401);
  });
});
