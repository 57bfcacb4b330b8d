import { parseHashKey } from '@weir/dns-name';
import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { policyOf, profile, put } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ClientAddress } from '@weir/clients';
import { OperatorFiles } from '../operator-files.js';
import { askUdp } from '../testing/client.js';
import { startService, createService } from '../testing/service.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-allowed-'));
const file = join(folder, 'allowed.txt');
/** Below the ports that tests look for, and above those of the stacks of nightly tests. */
const NAPT_RANGE = put('naptAssignment', {
  address: 0x7f00_0001,
  lowerPort: 15_000,
  upperPort: 15_099,
  profileId: 1,
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  rmSync(file, { force: true });
});

function open(networks: string) {
  writeFileSync(file, networks);
  const logged: string[] = [];
  const log = {
    info: (_: object, text: string) => logged.push(text),
    warn: (details: object, text: string) => logged.push(`${text}: ${JSON.stringify(details)}`),
  };
  const files = new OperatorFiles({
    configuration: {
      DNS_ALLOWED_CLIENTS: parseCidrs(['192.0.2.0/24']),
      DNS_ALLOWED_CLIENTS_FILE: file,
      LOCAL_RECORDS: undefined,
    },
    hashKey: parseHashKey('000102030405060708090a0b0c0d0e0f'),
    checkMs: 20,
    onChange: () => undefined,
    log,
  });
  cleanups.push(() => files.close());
  const clients = files.allowedClients;
  const has = (address: string) => {
    const client = new ClientAddress();
    client.set(address, 0);
    return clients.value.has(client);
  };
  return { clients, has, logged };
}

describe('an address with NAPT ranges', () => {
  it('is refused at ports outside of all of them, although its network is allowed', async () => {
    const { service, ...server } = await startService(
      { DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']) },
      { source: { policy: policyOf(profile(1), NAPT_RANGE) } },
    );
    const ask = async (port: number) =>
      decodeMessage((await askUdp(server, encodeQuery('localhost', 1), undefined, port))!);
    expect(await ask(15_001)).toMatchObject({ rcode: 0 });
    expect(await ask(15_500)).toMatchObject({ rcode: 5 });
    const refused = [...service.counts.queries.answeredCounts()].filter(
      ([{ rcode }]) => rcode === 'REFUSED',
    );
    expect(refused).toMatchObject([[{ reason: 'outside_ranges' }, 1]]);
  });
});

describe('DNS_ALLOWED_CLIENTS_FILE', () => {
  it('takes the place of DNS_ALLOWED_CLIENTS', async () => {
    writeFileSync(file, '127.0.0.0/8 # this machine\n');
    const service = createService(
      { DNS_ALLOWED_CLIENTS_FILE: file },
      { source: { policy: policyOf() } },
    );
    const server = await service.start();
    cleanups.push(() => service.stop());
    const answer = await askUdp(server, encodeQuery('localhost', 1));
    expect(decodeMessage(answer!).rcode).toBe(0);
  });

  it('has one network a line, with comments and empty lines', () => {
    const { has } = open('# subscribers\n198.51.100.0/24\r\n\n  2001:db8::/32 # IPv6\n');
    expect([has('198.51.100.7'), has('2001:db8::7'), has('192.0.2.7')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is read again when it changes; a bad or missing file keeps the list, and is counted', async () => {
    const { clients, has, logged } = open('198.51.100.0/24\n');
    writeFileSync(file, '203.0.113.0/24\n');
    await expect.poll(() => has('203.0.113.7')).toBe(true);
    expect(has('198.51.100.7')).toBe(false);
    expect(logged).toEqual(['a new version of the allowed clients is in force']);
    for (const spoil of ['203.0.113.0/24\nnonsense\n', '\n', null]) {
      const before = clients.faults;
      if (spoil === null) rmSync(file);
      else writeFileSync(file, spoil);
      await expect.poll(() => clients.faults).toBeGreaterThan(before + 1);
      expect(has('203.0.113.7')).toBe(true);
    }
    expect(logged.filter((line) => line.includes('were not replaced'))).toHaveLength(3);
    expect(logged[1]).toContain('nonsense');
    writeFileSync(file, '198.51.100.0/24\n');
    await expect.poll(() => has('198.51.100.7')).toBe(true);
  });

  it.each(['nonsense\n', ''])('ends the start when it is not usable: "%s"', (networks) => {
    expect(() => open(networks)).toThrow(`DNS_ALLOWED_CLIENTS_FILE: ${file}: `);
  });
});
