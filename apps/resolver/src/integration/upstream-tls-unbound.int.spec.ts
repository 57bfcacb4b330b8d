import { freePort, needs } from '@weir/ops/testing';
import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { createLogger, parseVariables } from '@weir/ops';
import { loopback, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { startResolver } from '../resolver.js';
import { Authority, type Identity } from '../testing/authority.js';
import { askUdp } from '../testing/client.js';
import {
  type NameServer,
  overTls,
  startNsd,
  startUnbound,
  writeZone,
} from '../testing/name-servers.js';
import { useResolverEnvironment } from '../testing/resolver-environment.js';

const environment = useResolverEnvironment();
describe('UPSTREAMS with tls://, in front of unbound', needs('nsd', 'unbound'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-unbound-tls-'));
  const servers: NameServer[] = [];
  let authority: Authority;
  let identity: Identity;
  let port = 0;
  beforeAll(async () => {
    authority = new Authority(folder);
    identity = authority.issue('dns.example');
    port = await freePort();
    writeZone(folder, { origin: 'plain.example', records: ['www IN A 192.0.2.1'] });
    const nsd = await startNsd(folder);
    servers.push(nsd, await startUnbound(folder, nsd, [], overTls(port, identity)));
  });
  afterAll(async () => {
    for (const server of servers.reverse()) await server.stop();
    rmSync(folder, { recursive: true });
  });

  async function start(variables: Record<string, string>) {
    await environment.plane.commit(profile(1), loopback(1));
    const configuration = parseVariables(SCHEMA, { ...environment.variables, ...variables });
    let log = '';
    const lines = { write: (line: string) => void (log += line) };
    const logger = createLogger({ name: 'resolver', level: 'info' }, lines);
    const resolver = await startResolver(configuration, configuration.UPSTREAMS!, logger);
    environment.cleanups.push(() => resolver.stop());
    await resolver.ready;
    const ask = async () => {
      const answer = await askUdp(
        resolver.dns,
        encodeQuery('www.plain.example', 1, { udpBytes: 1232 }),
      );
      const { rcode, answers, ede } = decodeMessage(answer!);
      return rcode === 0 ? answers.map(({ rdata }) => hexOf(rdata)) : [rcode, ...ede];
    };
    const metrics = async () =>
      (await fetch(`http://127.0.0.1:${resolver.opsPort}/metrics`)).text();
    return { ask, metrics, log: () => log };
  }

  it.each([
    [
      'name',
      () => ({
        UPSTREAMS: `tls://127.0.0.1:${port}#dns.example`,
        UPSTREAM_TLS_CA: authority.caFile,
      }),
    ],
    ['pin', () => ({ UPSTREAMS: `tls://127.0.0.1:${port}#sha256/${identity.pin}` })],
  ])('answers when the %s is right', async (_what, variables) => {
    const { ask, metrics } = await start(variables());
    // On a busy machine unbound may fail while its cache is empty.
    await expect.poll(ask, { interval: 1_000 }).toEqual(['c0000201']);
    const upstream = `{upstream="${variables().UPSTREAMS}"}`;
    expect(await metrics()).toContain(`weir_resolver_upstream_tls_errors_total${upstream} 0`);
  });

  it.each([
    ['name', () => `tls://127.0.0.1:${port}#other.example`, 'altnames'],
    [
      'pin',
      () => `tls://127.0.0.1:${port}#sha256/${'A'.repeat(43)}=`,
      'the pin of its public key is',
    ],
  ])('gives SERVFAIL when the %s is wrong, and says why', async (_what, upstream, reason) => {
    const UPSTREAM_TLS_CA = authority.caFile;
    const { ask, metrics, log } = await start({ UPSTREAMS: upstream(), UPSTREAM_TLS_CA });
    // After a stall it may be silence at first, for as long as SERVFAIL is cached.
    await expect.poll(ask, { interval: 1_000 }).toEqual([2, 23]);
    expect(log()).toContain('upstream is not trusted: TLS has failed');
    expect(log()).toContain(reason);
    expect(await metrics()).toMatch(/^weir_resolver_upstream_tls_errors_total\{.*\} [1-9]/m);
  });

  it('does not start with a UPSTREAM_TLS_CA that holds no certificate', async () => {
    const UPSTREAMS = `tls://127.0.0.1:${port}#dns.example`;
    await expect(start({ UPSTREAMS, UPSTREAM_TLS_CA: identity.keyFile })).rejects.toThrow(
      'UPSTREAM_TLS_CA',
    );
  });
});
