import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import type { PutOperation } from '@weir/config-model';
import { parseHashKey } from '@weir/dns-name';
import { needs } from '@weir/ops/testing';
import { domainRule, HASH_KEY_HEX, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type NameServer, startNsd, writeZone } from '../testing/name-servers.js';
import { run } from '../testing/programs.js';
import { createService } from '../testing/service.js';
import { inSharedMemory, SharedSource } from '../testing/shared-source.js';

const key = parseHashKey(HASH_KEY_HEX);
const category = (id: number, to: string) => ({
  id,
  name: `category ${id}`,
  lists: [],
  rewrites: [{ to, names: ['www.search.example', 'search.example'] }],
});
const { image } = compileCatalogue(
  {
    categories: [
      category(21, 'safe.search.example'),
      category(22, 'moderate.search.example'),
      { id: 1, name: 'All search', lists: [NameList.of(['search.example'], key)] },
    ],
    applications: [],
  },
  key,
);

/** nsd has the zone of a search engine, and dig asks the resolver in front of it. */
describe('safe search', needs('nsd', 'dig'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-safe-'));
  let nsd: NameServer;
  beforeAll(async () => {
    const records = [
      'www A 192.0.2.1',
      'www AAAA 2001:db8::1',
      'www HTTPS 1 . ipv4hint=192.0.2.1',
      '@ A 192.0.2.1',
      '@ MX 10 mail',
      'maps.www A 192.0.2.1',
      'safe 3600 A 192.0.2.2',
      'moderate CNAME edge',
      'edge A 192.0.2.3',
    ];
    writeZone(folder, { origin: 'search.example', records });
    nsd = await startNsd(folder);
  });
  afterAll(async () => {
    await nsd.stop();
    rmSync(folder, { recursive: true });
  });

  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function serve(...operations: PutOperation[]) {
    const policy = policyOf(loopback(1), ...operations);
    policy.setCatalogue(CatalogueImage.open(inSharedMemory(image), key));
    const source = new SharedSource(policy);
    const service = createService({}, { upstreams: [nsd.endpoint], source });
    const { port } = await service.start();
    cleanups.push(() => service.stop());
    const dig = (...args: string[]) => run('dig', ['@127.0.0.1', '-p', String(port), ...args]);
    const records = async (...args: string[]) => {
      const lines = (await dig('+noall', '+answer', ...args)).trim().split('\n');
      return lines
        .filter((line) => line !== '')
        .map((line) => line.split(/\s+/).with(1, '').join(' '));
    };
    const apply = (revision: number, operation: PutOperation) => {
      source.change(() => {
        policy.apply({ revision, digest: '', operations: [operation] });
      });
    };
    return { apply, dig, records };
  }
  const safe = (fields = {}) => profile(1, { categoryIds: [21], ...fields });
  const LINK = 'www.search.example.  IN CNAME safe.search.example.';

  it('is enforced for profiles that block the category, for every type of record', async () => {
    const { records, dig } = await serve(safe());
    expect(await records('www.search.example', 'A')).toEqual([
      LINK,
      'safe.search.example.  IN A 192.0.2.2',
    ]);
    for (const type of ['AAAA', 'HTTPS', 'TXT']) {
      expect(await records('www.search.example', type)).toEqual([LINK]);
    }
    expect(await records('www.search.example', 'CNAME')).toEqual([LINK]);
    expect(await records('search.example', 'MX')).toEqual([
      'search.example.  IN CNAME safe.search.example.',
    ]);
    expect(await dig('www.search.example', 'ANY', '+notcp')).toContain('"RFC8482" ""');
    // It is no block, and soon forgotten when the profile changes.
    expect(await dig('www.search.example')).not.toContain('EDE');
    expect(await dig('www.search.example')).toMatch(/^www\.search\.example\.\s+10\s+IN\s+CNAME/m);
  });

  it('leaves other names and other profiles alone', async () => {
    const { records } = await serve(safe());
    expect(await records('maps.www.search.example')).toEqual([
      'maps.www.search.example.  IN A 192.0.2.1',
    ]);
    const { records: others } = await serve(profile(1));
    expect(await others('www.search.example')).toEqual(['www.search.example.  IN A 192.0.2.1']);
  });

  it('follows the profile from the next query on, also for what is in the cache', async () => {
    const { records, apply } = await serve(profile(1));
    expect(await records('www.search.example')).toHaveLength(1);
    apply(2, safe());
    expect(await records('www.search.example')).toHaveLength(2);
    apply(3, profile(1));
    expect(await records('www.search.example')).toHaveLength(1);
  });

  it('takes the category with the lowest id', async () => {
    const { records } = await serve(profile(1, { categoryIds: [21, 22] }));
    expect(await records('www.search.example')).toContain(LINK);
    const { records: moderate } = await serve(profile(1, { categoryIds: [22] }));
    expect(await moderate('www.search.example')).toEqual([
      'www.search.example.  IN CNAME moderate.search.example.',
      'moderate.search.example.  IN CNAME edge.search.example.',
      'edge.search.example.  IN A 192.0.2.3',
    ]);
  });

  it('comes after rules and categories that block, and holds for a name that a rule allows', async () => {
    for (const operations of [
      [safe(), domainRule(1, 'deny', 'www.search.example')],
      [safe({ categoryIds: [1, 21] })],
      [safe({ whiteListOnly: true })],
    ]) {
      const { dig } = await serve(...operations);
      expect(await dig('www.search.example')).toContain('EDE: 17');
    }
    const { records } = await serve(
      safe({ whiteListOnly: true }),
      domainRule(1, 'allow', 'www.search.example'),
    );
    expect(await records('www.search.example')).toContain(LINK);
  });

  it('does not lead to a target that the profile blocks', async () => {
    const { records, dig } = await serve(safe(), domainRule(1, 'deny', 'safe.search.example'));
    expect(await dig('www.search.example')).toContain('EDE: 17');
    expect(await records('www.search.example')).toEqual(['www.search.example.  IN A 192.0.2.80']);
  });
});
