import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Database } from '../platform/database/database.js';
import { type Harness, startHarness } from '../testing/harness.js';
import { digestScrub } from './digest-check.js';

describe('the scrub of the digest', () => {
  let harness: Harness;
  let database: Database;
  const log = pino({ level: 'silent' });
  beforeAll(async () => {
    harness = await startHarness();
    database = new Database(harness.environment['DATABASE_URL'], log);
    await harness.call('POST', '/blockpage/', { id: 7, type: 1 });
    await harness.call('POST', '/profiles/', { profile: { id: 1, page_id: 7 }, cat_ids: [12] });
    await harness.sql(`INSERT INTO domain_rule SELECT 1, i, 1 FROM generate_series(1, 3000) AS i`);
  });
  afterAll(async () => {
    await database.close();
    await harness.stop();
  });

  const scrub = async (signal = new AbortController().signal) => {
    const registry = new Registry();
    await digestScrub(database.snapshots, registry, log).run(signal);
    return (await registry.metrics()).split('\n').filter((line) => line.startsWith('weir_'));
  };

  it('finds rows that do not fit the digest, and nothing when all fit', async () => {
    expect(await scrub()).toEqual([
      'weir_digest_scrubs_total{result="fits"} 0',
      'weir_digest_scrubs_total{result="differs"} 1',
    ]);
    await harness.sql('DELETE FROM domain_rule');
    expect(await scrub()).toEqual([
      'weir_digest_scrubs_total{result="fits"} 1',
      'weir_digest_scrubs_total{result="differs"} 0',
    ]);
  });

  it('ends when the process stops', async () => {
    await expect(scrub(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });

  it('is a background job of the control plane', async () => {
    await vi.waitFor(
      async () => {
        const { opsPort } = harness.controlPlane;
        const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
        expect(metrics).toMatch(
          /weir_job_runs_total\{name="scrub-digest",result="completed"\} [1-9]/,
        );
      },
      { timeout: 60_000, interval: 50 },
    );
  });
});
