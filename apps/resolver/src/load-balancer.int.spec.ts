import { CidrSet, createLogger } from '@weir/ops';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DnsService } from './dns-service.js';
import { CONFIGURATION, domainRule, policyOf, profile, put } from './testing/policies.js';
import { hasProgram, run, startProgram } from './testing/programs.js';

const log = createLogger({ name: 'resolver', level: 'silent' });
const LOOPBACK = 0x7f00_0001;
const [FIRST_PORT, LAST_PORT] = [20_000, 20_999];

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

/** dnsdist as the load balancer, dig as the client: two subscribers behind one address, told apart by their ports. */
describe.skipIf(!hasProgram('dnsdist') || !hasProgram('dig'))('behind dnsdist', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-dnsdist-'));
  let service: DnsService;
  let balancerPort: number;
  let stopBalancer: () => Promise<void>;

  const dig = (sourcePort: number, ...more: string[]) =>
    run('dig', ['@127.0.0.1', '-p', `${balancerPort}`, '-b', `127.0.0.1#${sourcePort}`, '+tries=3', '+time=2', 'host.localhost', ...more]); // prettier-ignore

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
    balancerPort = await freePort();
    const file = join(folder, 'dnsdist.conf');
    writeFileSync(
      file,
      `setLocal("127.0.0.1:${balancerPort}")\nsetSecurityPollSuffix("")\n` +
        `newServer({address="127.0.0.1:${port}", useProxyProtocol=true, checkName="localhost."})\n`,
    );
    stopBalancer = startProgram('dnsdist', ['--supervised', '--disable-syslog', '-C', file]);
    while ((await dig(40_000, '+short')).trim() !== '127.0.0.1') await sleep(100);
  });
  afterAll(async () => {
    await stopBalancer();
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['UDP', '+notcp'],
    ['TCP', '+tcp'],
  ])('knows the client’s own address and port over %s', async (_, how) => {
    const neighbour = await dig(40_001, how);
    expect(neighbour).toContain('status: NOERROR');
    expect(neighbour).toMatch(/localhost\.\s.*\sA\s+127\.0\.0\.1/);
    const blocked = await dig(FIRST_PORT + 1, how);
    expect(blocked).toContain('EDE: 17 (Filtered)');
    expect(blocked).toMatch(/localhost\.\s.*\sA\s+192\.0\.2\.80/);
  });
});
