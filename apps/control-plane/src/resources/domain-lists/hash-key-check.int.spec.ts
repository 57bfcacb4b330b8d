import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../testing/harness.js';
import { startTcpProxy } from '../../testing/tcp-proxy.js';

const OTHER_KEY = { DOMAIN_HASH_KEY: 'ffffffffffffffffffffffffffffffff' };
const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };

describe('a control plane on a database that was used with a hash key', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
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
    const replica = await harness.startReplica({ ...OTHER_KEY, DATABASE_URL: proxied.href });
    proxy.restore();
    const before = await harness.sql('SELECT revision FROM config_head');
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
    expect(await harness.sql('SELECT revision FROM config_head')).toEqual(before);
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
