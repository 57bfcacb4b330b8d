import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../../control-plane/src/testing/harness.js';
import { runWeir } from '../testing/run-weir.js';

describe('weir repair', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
    await harness.call('POST', '/blockpage/', { id: 7, type: 1 });
    await harness.call('POST', '/profiles/', { profile: { id: 1, page_id: 7 } });
    await harness.call('POST', '/net/', { ip: '192.0.2.77', prefix_len: 26, profile_id: 1 });
  });
  afterAll(() => harness.stop());

  const run = (...argv: string[]) => runWeir(['repair', ...argv], harness.environment);
  const head = async () => {
    const [[revision, digest]] = await harness.sql('SELECT revision, digest FROM config_head');
    return { revision: Number(revision), digest: String(digest) };
  };

  it('does nothing to a digest that fits', async () => {
    const before = await head();
    const { code, out } = await run('digest');
    expect([code, out.join()]).toEqual([
      0,
      expect.stringMatching(/fits the rows at revision \d+; nothing/),
    ]);
    expect(await head()).toEqual(before);
  });

  it('finds a row that was changed past the management API, and puts the digest of the rows in force', async () => {
    const before = await head();
    await harness.sql("DELETE FROM ipv4_network WHERE address = '192.0.2.77'");
    expect(await run('digest', '--check')).toMatchObject({ code: 1, errors: [] });
    expect(await head()).toEqual(before);

    expect(await run('digest')).toMatchObject({ code: 0, errors: [] });
    const after = await head();
    expect(after.revision).toBe(before.revision + 1);
    expect(after.digest).not.toBe(before.digest);
    // Every follower loads the configuration.
    expect(
      await harness.sql(`SELECT digest, operations FROM change WHERE revision = ${after.revision}`),
    ).toEqual([[after.digest, [['reload']]]]);
    expect(
      await harness.sql(
        `SELECT origin, token, keys FROM change_record WHERE revision = ${after.revision}`,
      ),
    ).toEqual([['repair', null, [['reload']]]]);
    expect((await run('digest', '--check')).code).toBe(0);
    // Changes go on from there.
    const answer = await harness.call('POST', '/net/', {
      ip: '192.0.2.77',
      prefix_len: 26,
      profile_id: 1,
    });
    expect([answer.status, answer.headers.get('x-config-revision')]).toEqual([
      201,
      String(after.revision + 1),
    ]);
    expect(await run('digest', '--check')).toMatchObject({ code: 0 });
    expect((await head()).digest).toBe(before.digest);
  });

  it('names the variable that is missing, and the database that cannot be reached', async () => {
    const DATA_DIR = '/nowhere';
    const DATABASE_URL = 'postgresql://nobody@127.0.0.1:1/none';
    expect(await runWeir(['repair', 'digest'], { DATA_DIR })).toMatchObject({
      code: 1,
      errors: [expect.stringContaining('DATABASE_URL')],
    });
    expect(await runWeir(['repair', 'digest'], { DATABASE_URL })).toMatchObject({
      code: 1,
      errors: [
        expect.stringMatching(/^weir: the database cannot be used \(DATABASE_URL.*ECONNREFUSED/),
      ],
    });
  });
});
