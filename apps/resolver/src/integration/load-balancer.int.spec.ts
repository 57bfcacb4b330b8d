import { CidrSet, createLogger } from '@weir/ops';
import { domainRule, policyOf, profile, put } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DnsService } from '../dns-service.js';
import { CONFIGURATION } from '../testing/configuration.js';
import { type NameServer, startDnsdist } from '../testing/name-servers.js';
import { hasProgram, run } from '../testing/programs.js';

const log = createLogger({ name: 'resolver', level: 'silent' });
const LOOPBACK = 0x7f00_0001;
const [FIRST_PORT, LAST_PORT] = [20_000, 20_999];

/** dnsdist as the load balancer, dig as the client: two subscribers with one address and different ports. */
describe.skipIf(!hasProgram('dnsdist') || !hasProgram('dig'))('behind dnsdist', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-dnsdist-'));
  let service: DnsService;
  let balancer: NameServer;

  const dig = (sourcePort: number, ...more: string[]) =>
    run('dig', ['@127.0.0.1', '-p', `${balancer.endpoint.port}`, '-b', `127.0.0.1#${sourcePort}`, '+tries=3', '+time=2', 'host.localhost', ...more]); // prettier-ignore

  beforeAll(async () => {
    const policy = policyOf(
      profile(1),
      profile(2),
      domainRule(2, 'deny', 'localhost'),
      put('ipv4Network', { address: LOOPBACK, prefixLength: 32, profileId: 1 }),
      put('naptAssignment', { address: LOOPBACK, lowerPort: FIRST_PORT, upperPort: LAST_PORT, profileId: 2 }),
    ); // prettier-ignore
    const DNS_PROXY_PROTOCOL_FROM = CidrSet.parse(['127.0.0.1']);
    service = new DnsService({
      configuration: { ...CONFIGURATION, DNS_PROXY_PROTOCOL_FROM },
      upstreams: [],
      source: { policy },
      log,
    });
    const { port } = await service.start();
    balancer = await startDnsdist(folder, port);
    while ((await dig(40_000, '+short')).trim() !== '127.0.0.1') await sleep(100);
  });
  afterAll(async () => {
    await balancer.stop();
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['UDP', '+notcp'],
    ['TCP', '+tcp'],
  ])('sees the address and port of the client over %s', async (_, how) => {
    const neighbour = await dig(40_001, how);
    expect(neighbour).toContain('status: NOERROR');
    expect(neighbour).toMatch(/localhost\.\s.*\sA\s+127\.0\.0\.1/);
    const blocked = await dig(FIRST_PORT + 1, how);
    expect(blocked).toContain('EDE: 17 (Filtered)');
    expect(blocked).toMatch(/localhost\.\s.*\sA\s+192\.0\.2\.80/);
  });
});
