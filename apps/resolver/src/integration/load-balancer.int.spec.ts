import { freePort, needs } from '@weir/ops/testing';
import { parseCidrs } from '@weir/ops';
import { domainRule, policyOf, profile, put } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DnsService } from '../dns-service.js';
import { type NameServer, startDnsdist } from '../testing/name-servers.js';
import { run } from '../testing/programs.js';
import { createService } from '../testing/service.js';

const LOOPBACK = 0x7f00_0001;

/** dnsdist as the load balancer, dig as the client: two subscribers with one address and different ports. */
describe('behind dnsdist', needs('dnsdist', 'dig'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-dnsdist-'));
  let service: DnsService;
  let balancer: NameServer;
  /** Of the subscriber who may not ask. */
  let port: number;

  /** @param source address, and `#` with a port; without one any port but that of the subscriber */
  const dig = (source: string, ...more: string[]) =>
    run('dig', ['@127.0.0.1', '-p', `${balancer.endpoint.port}`, '-b', source, '+retry=2', '+time=15', 'host.localhost', ...more]); // oxfmt-ignore

  beforeAll(async () => {
    port = await freePort();
    const policy = policyOf(
      profile(1),
      profile(2),
      domainRule(2, 'deny', 'localhost'),
      put('ipv4Network', { address: LOOPBACK, prefixLength: 32, profileId: 1 }),
      put('naptAssignment', { address: LOOPBACK, lowerPort: port, upperPort: port, profileId: 2 }),
    ); // oxfmt-ignore
    const DNS_PROXY_PROTOCOL_FROM = parseCidrs(['127.0.0.1']);
    service = createService({ DNS_PROXY_PROTOCOL_FROM }, { source: { policy } });
    const bound = await service.start();
    balancer = await startDnsdist(folder, bound.port);
    while ((await dig('127.0.0.1', '+short')).trim() !== '127.0.0.1') await sleep(100);
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
    const neighbour = await dig('127.0.0.1', how);
    expect(neighbour).toContain('status: NOERROR');
    expect(neighbour).toMatch(/localhost\.\s.*\sA\s+127\.0\.0\.1/);
    const blocked = await dig(`127.0.0.1#${port}`, how);
    expect(blocked).toContain('EDE: 17 (Filtered)');
    expect(blocked).toMatch(/localhost\.\s.*\sA\s+192\.0\.2\.80/);
  });
});
