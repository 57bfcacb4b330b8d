import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../testing/harness.js';

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

  it('does not start with another key, and says what to do', async () => {
    const other = { DOMAIN_HASH_KEY: 'ffffffffffffffffffffffffffffffff' };
    await expect(harness.startReplica(other)).rejects.toThrow(
      'DOMAIN_HASH_KEY is not the key of this database',
    );
    expect(await harness.sql('SELECT count(*) FROM catalogue_image')).toEqual([['1']]);
  });
});
