import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { faultsOf, type Harness, startHarness } from '../testing/harness.js';
import { startListServer } from '../testing/list-server.js';
import { writeCatalogue } from '../testing/write-catalogue.js';

const WAIT = { timeout: 60_000, interval: 100 };

describe('the catalogue of the deployment', () => {
  let harness: Harness;
  const revision = async () =>
    Number((await harness.sql('SELECT revision FROM config_head'))[0][0]);
  const images = async () => (await harness.sql('SELECT version FROM catalogue_image')).length;
  const metricsOf = async ({ opsPort }: Pick<ControlPlane, 'opsPort'>) =>
    (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const restartWith = async (folder: string) => {
    const replica = await harness.startReplica({ CATALOGUE: folder });
    await replica.stop();
  };

  beforeEach(async () => {
    harness = await startHarness();
    // The first update is over and the next one is far away, so this replica does not update after another one starts.
    await vi.waitFor(async () => {
      const look = 'weir_job_runs_total{name="catalogue-look",result="completed"} 1';
      expect(await metricsOf(harness.controlPlane)).toContain(look);
    }, WAIT);
  });
  afterEach(() => harness.stop());

  it('is activated at the start, as a change like any other', async () => {
    const changes = await harness.sql('SELECT revision, operations FROM change');
    const [[version, sizeBytes]] = await harness.sql(
      'SELECT version, size_bytes FROM catalogue_image JOIN config_head ON version = catalogue_version',
    );
    const row = [Number(version), ...Array<unknown>(8).fill(expect.any(Number)), Number(sizeBytes)];
    expect(changes).toEqual([['1', [['put', 'catalogue', row]]]]);
  });

  it('is not activated again by another replica, or by one that starts again', async () => {
    await harness.startReplica().then((replica) => replica.stop());
    expect([await revision(), await images()]).toEqual([1, 1]);
  });

  it('is activated once when several replicas have a new one at the same time', async () => {
    const folder = await writeCatalogue({ 3: 'Video', 5: 'Music' });
    await Promise.all([restartWith(folder), restartWith(folder), restartWith(folder)]);
    expect([await revision(), await images()]).toEqual([2, 2]);
  });

  it('decides which applications a profile may have, in every replica', async () => {
    const body = { profile: { id: 1 }, apps: [{ app_id: 5 }] };
    const before = await harness.call('POST', '/profiles/', body);
    expect([before.status, faultsOf(before)]).toEqual([422, ['body.apps.0.app_id: reference']]);
    await restartWith(await writeCatalogue({ 5: 'Music' }));
    expect((await harness.call('POST', '/profiles/', body)).status).toBe(201);
    const gone = await harness.call('PATCH', '/profiles/1', { apps: [{ app_id: 3 }] });
    expect([gone.status, faultsOf(gone)]).toEqual([422, ['body.apps.0.app_id: reference']]);
  });

  it('keeps the rules of a removed application, and logs that once', async () => {
    await restartWith(await writeCatalogue({ 5: 'Music', 6: 'Films' }));
    for (const id of [1, 2]) {
      await harness.call('POST', '/profiles/', {
        profile: { id },
        apps: [{ app_id: 5 }, { app_id: 6 }],
      });
    }
    const told = () => harness.logLines.filter((line) => line.includes('no effect'));
    expect(told()).toEqual([]);
    await restartWith(await writeCatalogue({ 6: 'Films' }));
    expect(told().map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ applications: [5], applicationCount: 1, ruleCount: 2 }),
    ]);
    expect((await harness.call('GET', '/profile/1/app_aware')).body).toHaveLength(2);
    const other = { white_list_only: true };
    const patched = await harness.call('PATCH', '/profiles/1', { profile: other });
    expect([patched.status, patched.body.apps]).toEqual([
      200,
      expect.objectContaining({ length: 2 }),
    ]);
  });

  it('keeps the image in force and the two before it, and can activate an old one again', async () => {
    for (const id of [5, 6, 7]) await restartWith(await writeCatalogue({ [id]: 'Music' }));
    expect([await revision(), await images()]).toEqual([4, 3]);
    const [[active]] = await harness.sql('SELECT catalogue_version FROM config_head');
    await restartWith(await writeCatalogue({ 6: 'Music' }));
    expect([await revision(), await images()]).toEqual([5, 3]);
    const [[again]] = await harness.sql('SELECT catalogue_version FROM config_head');
    expect(Number(again)).toBeLessThan(Number(active));
  });

  it('is refreshed by one of several replicas, from the folder and from URLs', async () => {
    const lists = await startListServer();
    lists.serve('/list', ['at-url.example']);
    const folder = await writeCatalogue({ 5: 'Music' });
    const variables = { CATALOGUE: folder, CATALOGUE_INTERVAL_MS: '1000' };
    await harness.stop();
    harness = await startHarness(variables);
    const replica = await harness.startReplica();
    try {
      const source = `sources: [{ url: "${lists.url}/list", format: domains }]`;
      const definition = `applications: [{ id: 5, name: Music }, { id: 6, name: Films, ${source} }]`;
      await writeFile(join(folder, 'catalogue.yaml'), definition);
      await vi.waitFor(async () => {
        const listed = 'weir_catalogue_application_domains{application="6"} 1';
        expect(await metricsOf(replica)).toContain(listed);
      }, WAIT);
      const applications = await harness.call('GET', '/app_aware/application/');
      expect(applications.body).toEqual([
        { id: 5, name: 'Music' },
        { id: 6, name: 'Films' },
      ]);
      expect(lists.requests).toHaveLength(1);
    } finally {
      await replica.stop();
      await lists.stop();
    }
  });

  it('ends the start with one line when it is invalid', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'weir-catalogue-'));
    const start = harness.startReplica({ CATALOGUE: empty });
    await expect(start).rejects.toThrow(/^.*catalogue\.yaml: cannot be read: .* \(CATALOGUE\)$/);
    expect(await revision()).toBe(1);
  });
});
