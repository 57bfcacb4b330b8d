import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../testing/harness.js';
import { startTcpProxy } from '../testing/tcp-proxy.js';

const OTHER_KEY = { DOMAIN_HASH_KEY: 'ffffffffffffffffffffffffffffffff' };
const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };

/** A catalogue folder whose category has a list with this domain. */
async function catalogueWith(domain: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-catalogue-'));
  const sources = '[{ file: list.txt, format: domains }]';
  const yaml = `categories: [{ id: 12, name: Gambling, sources: ${sources} }]\napplications: []\n`;
  await writeFile(join(folder, 'catalogue.yaml'), yaml);
  await writeFile(join(folder, 'list.txt'), `${domain}\n`);
  return folder;
}

describe('a control plane on a database that was used with a hash key', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({ CATALOGUE: await catalogueWith('one.example.com') });
  });
  afterAll(() => harness.stop());

  it('starts with the same key', async () => {
    const replica = await harness.startReplica();
    await replica.stop();
  });

  it('changes nothing with another key when PostgreSQL comes later than the start', async () => {
    const { hostname, port } = new URL(harness.environment['DATABASE_URL']);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const proxied = new URL(harness.environment['DATABASE_URL']);
    proxied.port = String(proxy.port);
    proxy.cut();
    const replica = await harness.startReplica({
      ...OTHER_KEY,
      DATABASE_URL: proxied.href,
      CATALOGUE: await catalogueWith('two.example.com'),
    });
    const stored = async () => [
      await harness.sql('SELECT revision FROM config_head'),
      await harness.sql('SELECT name, names_sha256 FROM catalogue_source ORDER BY name'),
      await harness.sql('SELECT sha256 FROM catalogue_image'),
    ];
    const before = await stored();
    proxy.restore();
    // Otherwise the lists of all replicas would have hashes of another key, and block nothing.
    const refusal = /DOMAIN_HASH_KEY is not the key[^\n]*"msg":"the catalogue /;
    await expect.poll(() => harness.logLines.join('')).toMatch(refusal);
    const call = (path: string, body: object) =>
      fetch(`http://127.0.0.1:${replica.managementPort}${path}`, {
        method: 'POST',
        headers: { ...harness.authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    for (const answer of [
      await call('/blockpage/', { id: 1, type: 0 }),
      await call('/net/', { ip: '192.0.2.1', profile_id: 1 }),
      await call('/init/', EMPTY),
    ]) {
      expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
        503,
        '1',
        { detail: 'This control plane does not fit the database. Nothing was changed' },
      ]);
    }
    expect(await stored()).toEqual(before);
    expect(harness.logLines.join('')).toContain('DOMAIN_HASH_KEY is not the key of this database');
    await replica.stop();
    await proxy.stop();
  });

  it('does not start with another key, and says what to do', async () => {
    await expect(harness.startReplica(OTHER_KEY)).rejects.toThrow(
      'DOMAIN_HASH_KEY is not the key of this database',
    );
    expect(await harness.sql('SELECT count(*) FROM catalogue_image')).toEqual([['1']]);
  });
});
