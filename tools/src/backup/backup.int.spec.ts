import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrate } from '../migrate/migrate.js';
import { BACKUP_TABLES, HEAD_TABLE, OMITTED_TABLES } from './backup-tables.js';
import { restoreBackup } from './restore-backup.js';
import { writeBackup } from './write-backup.js';

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
const NEW_MIGRATION = '29990101000000_new';
const log = () => undefined;
const { signal } = new AbortController();

const SAMPLE = `
  INSERT INTO catalogue_image (version, sha256, size_bytes, metadata)
  VALUES (7, repeat('07', 32), 3, '{"applications": [{"id": 3, "name": "tab\\t, line\\n, \\\\."}]}'),
         (8, repeat('08', 32), 4, '{}');
  INSERT INTO catalogue_image_piece VALUES (7, 0, '\\x00ff5c'), (8, 0, '\\x0a5c2e0a');
  INSERT INTO catalogue_source (name, last_error, names, places, names_sha256, last_attempt_at)
  VALUES (E'a\\tb\\nc\\\\.\\n\\\\.', NULL, '\\x0a5c2e0a', '', repeat('ab', 32), '2026-01-02 03:04:05.678+00'),
         ('long', NULL, convert_to(repeat('0123456789', 250000), 'UTF8'), NULL, repeat('ac', 32), now());
  UPDATE config_head SET revision = 42, digest = '0123456789abcdef', catalogue_version = 8, domain_hash_check = 99;
  INSERT INTO change (revision, digest, operations) VALUES (42, '0123456789abcdef', '[]');
  INSERT INTO block_page VALUES (1, 0), (2, 1);
  INSERT INTO profile VALUES (10, 1, true, false, true, '{1,5}'), (11, NULL, false, true, false, '{}');
  INSERT INTO application_rule VALUES (10, 3, 1), (11, 3, 2);
  INSERT INTO domain_rule SELECT 10, i, 1 + i % 2 FROM generate_series(1, 20000) AS i;
  INSERT INTO ipv4_network (address, prefix_length, profile_id) VALUES ('192.0.2.77', 26, 10);
  INSERT INTO ipv6_network (address, prefix_length, profile_id) VALUES ('2001:db8::77', 56, 11);
  INSERT INTO napt_assignment VALUES ('198.51.100.1', 0, 65535, 11);
  INSERT INTO schedule VALUES (10, 11, '[{"start": {"day": "friday", "time": "18:30"}}]');
  INSERT INTO domain_order VALUES
    (3, 5, 'a court', '1 O 2/26', '2030-01-31 12:00:00+00', 42, '{"revision": 42, "k": 3, "m": 3}'),
    (4, 5, 'a customs office', '7', NULL, 41, NULL);
  INSERT INTO domain_grant VALUES (10, 5, 1, '2030-01-31 12:00:00+00');
  INSERT INTO change_record VALUES
    (41, '2026-01-02 03:04:05.678+00', 'catalogue', NULL, NULL, NULL, NULL, NULL, '[["put", "catalogue", []]]', 1, '{}'),
    (42, now(), 'api', 'billing', '2001:db8::1', 'id', 'POST', '/net/', '[]', 0, '{10,11}');
  INSERT INTO change_record_profile VALUES (10, 42, 'billing'), (11, 42, 'billing');`;

/** The first domain rule of the sample, as a backup has it. */
const RULE = '{"verdict": 2, "profile_id": 10, "domain_hash": 1}';

describe('backup and restore', () => {
  let folder: string;
  let file: string;
  let url: string;
  let client: pg.Client;
  let clients: pg.Client[];
  let number = 0;

  const connect = async (to = url) => {
    const connected = new pg.Client(to);
    await connected.connect();
    clients.push(connected);
    return connected;
  };
  const freshDatabase = async (owner?: string) => {
    const admin = await connect(inject('databaseUrl'));
    const name = `backup_${process.pid}_${++number}`;
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${name} ${owner === undefined ? '' : `OWNER ${owner}`}`);
    const fresh = new URL(inject('databaseUrl'));
    fresh.pathname = `/${name}`;
    return fresh;
  };
  /** All that a database holds, as text. */
  const contents = async (of = client) => {
    const held: Record<string, unknown> = {};
    for (const table of [HEAD_TABLE, ...BACKUP_TABLES, 'change']) {
      const { rows } = await of.query(`SELECT ${table}::text FROM ${table} ORDER BY 1`);
      held[table] = rows.map((row: Record<string, string>) => row[table]);
    }
    return held;
  };
  const backUp = () => writeBackup(url, file, signal);
  const restore = (options: { replace?: boolean; databaseUrl?: string; folder?: string } = {}) =>
    restoreBackup({
      databaseUrl: url,
      file,
      replace: false,
      folder: MIGRATIONS,
      log,
      signal,
      ...options,
    });
  const lineageOf = async (of = client) =>
    (await of.query<{ lineage: string }>(`SELECT lineage FROM ${HEAD_TABLE}`)).rows[0].lineage;
  const schemas = async () => {
    const { rows } = await client.query<object>(
      "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1",
    );
    return rows;
  };
  /** The file with another text. */
  const edit = (change: (text: string) => string) => {
    writeFileSync(file, gzipSync(change(gunzipSync(readFileSync(file)).toString('utf8'))));
  };
  /** The migrations of a release to come. */
  const newRelease = (sql: string) => {
    const newer = join(folder, 'migrations');
    cpSync(MIGRATIONS, newer, { recursive: true });
    mkdirSync(join(newer, NEW_MIGRATION));
    writeFileSync(join(newer, NEW_MIGRATION, 'migration.sql'), sql);
    return newer;
  };

  beforeEach(async () => {
    clients = [];
    folder = mkdtempSync(join(tmpdir(), 'weir-backup-'));
    file = join(folder, 'weir.backup');
    url = (await freshDatabase()).href;
    await migrate({ databaseUrl: url, folder: MIGRATIONS });
    client = await connect();
    await client.query(SAMPLE);
  });
  afterEach(async () => {
    await Promise.all(clients.map((one) => one.end()));
    rmSync(folder, { recursive: true });
  });

  it('list every table of the schema as included or omitted, after the tables that it refers to', async () => {
    const tables = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    );
    const known: string[] = [HEAD_TABLE, ...BACKUP_TABLES, ...OMITTED_TABLES];
    expect(tables.rows.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
    const references = await client.query<{ from: string; to: string }>(
      `SELECT conrelid::regclass::text AS "from", confrelid::regclass::text AS "to"
       FROM pg_constraint WHERE contype = 'f' AND conrelid <> confrelid AND conrelid <> $1::regclass`,
      [HEAD_TABLE],
    );
    const order: readonly string[] = BACKUP_TABLES;
    expect(references.rows.length).toBeGreaterThan(5);
    for (const { from, to } of references.rows) {
      expect(order.indexOf(to)).toBeLessThan(order.indexOf(from));
    }
    const sequences = await client.query("SELECT relname FROM pg_class WHERE relkind = 'S'");
    expect(sequences.rows).toEqual([{ relname: 'catalogue_image_version_seq' }]);
  });

  it.each(['bare', 'migrated'])(
    'fill an empty database (%s) with all that was held',
    async (kind) => {
      const held = await contents();
      expect(await backUp()).toBe('42');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder)).toEqual(['weir.backup']);

      const databaseUrl = (await freshDatabase()).href;
      if (kind === 'migrated') await migrate({ databaseUrl, folder: MIGRATIONS });
      await restore({ databaseUrl });
      const restored = await connect(databaseUrl);
      const before = await lineageOf();
      expect(await lineageOf(restored)).not.toBe(before);
      await restored.query(`UPDATE ${HEAD_TABLE} SET lineage = $1`, [before]);
      expect(await contents(restored)).toEqual({
        ...held,
        change: [],
        // Of the images only the one in force.
        catalogue_image: [(held['catalogue_image'] as string[])[1]],
        catalogue_image_piece: [(held['catalogue_image_piece'] as string[])[1]],
      });
      const next = await restored.query(
        `INSERT INTO catalogue_image (sha256, size_bytes, metadata)
       VALUES (repeat('09', 32), 1, '{}') RETURNING version`,
      );
      expect(next.rows).toEqual([{ version: '9' }]);
    },
  );

  it('restore the contents of a database, as a user who owns only that database', async () => {
    const role = `backup_owner_${process.pid}_${number}`;
    const password = randomBytes(12).toString('hex');
    await client.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
    await backUp();
    const mine = await freshDatabase(role);
    mine.username = role;
    mine.password = password;
    await restore({ databaseUrl: mine.href });
    const restored = await connect(mine.href);
    const held = await contents(restored);
    await restored.query(
      'DELETE FROM domain_rule; DELETE FROM schedule; DELETE FROM block_page WHERE id = 2',
    );
    await restore({ databaseUrl: mine.href, replace: true });
    expect({ ...(await contents(restored)), [HEAD_TABLE]: null }).toEqual({
      ...held,
      [HEAD_TABLE]: null,
    });
  });

  it('undo changes of all kinds with --replace, and never reuse the number of an image', async () => {
    await backUp();
    const held = await contents();
    const before = await lineageOf();
    await client.query(`
      DELETE FROM ipv4_network; UPDATE profile SET white_list_only = NOT white_list_only;
      INSERT INTO profile VALUES (12, 2); INSERT INTO domain_rule VALUES (12, 1, 1);
      INSERT INTO change (revision, digest, operations) VALUES (43, 'ffffffffffffffff', '[]');
      SELECT setval('catalogue_image_version_seq', 500);
      UPDATE ${HEAD_TABLE} SET revision = 43, digest = 'ffffffffffffffff'`);
    await restore({ replace: true });
    const after = await lineageOf();
    expect(after).not.toBe(before);
    await client.query(`UPDATE ${HEAD_TABLE} SET lineage = $1`, [before]);
    expect(await contents()).toMatchObject({
      [HEAD_TABLE]: held[HEAD_TABLE],
      profile: held['profile'],
    });
    expect(await contents()).toMatchObject({ ipv4_network: held['ipv4_network'], change: [] });
    expect((await client.query("SELECT nextval('catalogue_image_version_seq')")).rows).toEqual([
      { nextval: '501' },
    ]);
    expect(await schemas()).toEqual([{ nspname: 'information_schema' }, { nspname: 'public' }]);
  });

  it('keep the snapshot of running readers, and apply later changes to the restored configuration', async () => {
    await backUp();
    await client.query(`UPDATE ${HEAD_TABLE} SET revision = 50; DELETE FROM domain_rule`);
    const reader = await connect();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const head = `SELECT revision::int, lineage FROM ${HEAD_TABLE}`;
    const [begun] = (await reader.query<object>(head)).rows;
    const writer = await connect();
    await writer.query('BEGIN');
    await writer.query(`${head} FOR UPDATE`);
    const gate = await connect();
    await gate.query('BEGIN; LOCK TABLE change IN ROW EXCLUSIVE MODE');
    /** Waits until exactly one connection waits for a lock with a statement that begins like this. */
    const waitsFor = (statement: string) =>
      expect
        .poll(async () => {
          const { rowCount } = await client.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock' AND starts_with(query, $1)`,
            [statement],
          );
          return rowCount;
        })
        .toBe(1);

    const restoring = restore({ replace: true });
    await waitsFor(`SELECT FROM ${HEAD_TABLE} FOR UPDATE`);
    await writer.query(`UPDATE ${HEAD_TABLE} SET revision = 51`);
    await writer.query('COMMIT');
    // The gate holds the restore up behind its lock of the head, so that the next change is sure to queue behind it.
    await waitsFor('LOCK TABLE ');
    const next = await connect();
    await next.query('BEGIN');
    const queued = next.query<{ revision: number; lineage: string }>(`${head} FOR UPDATE`);
    await waitsFor(`${head} FOR UPDATE`);
    await gate.query('ROLLBACK');
    await restoring;

    const [locked] = (await queued).rows;
    expect(locked).toEqual({ revision: 42, lineage: await lineageOf() });
    expect((await next.query('SELECT count(*)::int FROM domain_rule')).rows).toEqual([
      { count: 20_000 },
    ]);
    expect((await reader.query<object>(head)).rows).toEqual([begun]);
    expect((await reader.query('SELECT count(*)::int FROM domain_rule')).rows).toEqual([
      { count: 0 },
    ]);
    await next.query('ROLLBACK');
    await reader.query('ROLLBACK');
  });

  it('restore a backup of an older release, with the defaults of the columns that it did not have', async () => {
    await backUp();
    const newer = newRelease("ALTER TABLE block_page ADD title text NOT NULL DEFAULT 'none'");
    const databaseUrl = (await freshDatabase()).href;
    await restore({ databaseUrl, folder: newer });
    const restored = await connect(databaseUrl);
    const pages = () => restored.query('SELECT * FROM block_page ORDER BY id');
    const expected = [
      { id: 1, type: 0, title: 'none' },
      { id: 2, type: 1, title: 'none' },
    ];
    expect((await pages()).rows).toEqual(expected);
    await restored.query("UPDATE block_page SET title = 'other'");
    await restore({ databaseUrl, folder: newer, replace: true });
    expect((await pages()).rows).toEqual(expected);
  });

  it('ignore the statement timeouts of the database', async () => {
    await client.query(
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET statement_timeout = '500ms'`,
    );
    await client.query('BEGIN; LOCK TABLE profile IN ACCESS EXCLUSIVE MODE');
    const backup = backUp();
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_database ON database = pg_database.oid
                     WHERE datname = current_database() AND NOT granted`;
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBeGreaterThan(0);
    await sleep(750);
    await client.query('COMMIT');
    expect(await backup).toBe('42');
  });

  it('restore after a change that was in progress, whatever dates and isolation the database has set', async () => {
    await backUp();
    const name = new URL(url).pathname.slice(1);
    await client.query(`
      ALTER DATABASE ${name} SET DateStyle = 'German, DMY';
      ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    await client.query(`BEGIN; UPDATE ${HEAD_TABLE} SET revision = 43`);
    const restoring = restore({ replace: true });
    const waiting = `SELECT FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const other = await connect();
    await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(1);
    await client.query('COMMIT');
    expect(await restoring).toBe(42);
  });

  describe('change nothing and explain why', () => {
    const expectRefusal = async (
      message: string | RegExp,
      options: Parameters<typeof restore>[0] = { replace: true },
    ) => {
      const held = await contents();
      await expect(restore(options)).rejects.toThrow(message);
      expect(await contents()).toEqual(held);
      expect(await schemas()).toEqual([{ nspname: 'information_schema' }, { nspname: 'public' }]);
    };
    beforeEach(backUp);

    it('when the database holds a configuration and --replace is missing', async () => {
      await client.query('DELETE FROM domain_rule');
      await expectRefusal(
        `${file}: nothing was restored: the database holds a configuration; --replace says that it may go`,
        {},
      );
    });

    it('when another DOMAIN_HASH_KEY is in use', async () => {
      await client.query(`UPDATE ${HEAD_TABLE} SET domain_hash_check = 98`);
      await expectRefusal('made under another DOMAIN_HASH_KEY');
    });

    it('when the backup is of a newer release', async () => {
      const newer = newRelease('ALTER TABLE block_page ADD title text');
      await migrate({ databaseUrl: url, folder: newer });
      await backUp();
      const databaseUrl = (await freshDatabase()).href;
      await expect(restore({ databaseUrl })).rejects.toThrow(
        `it is of a newer or another release: this one does not know its migration ${NEW_MIGRATION}`,
      );
      await restore({ databaseUrl, folder: newer });
      edit((text) => text.replace(/_init": "[0-9a-f]{64}"/, '_init": "other"'));
      await expect(restore({ databaseUrl, folder: newer, replace: true })).rejects.toThrow(
        /is of a newer or another release: .* migration \d+_init$/,
      );
    });

    it.each([
      [
        'is not there',
        () => {
          rmSync(file);
        },
        'ENOENT',
      ],
      [
        'is empty',
        () => {
          writeFileSync(file, '');
        },
        'it is damaged or no backup of Weir',
      ],
      [
        'is something else',
        () => {
          writeFileSync(file, 'PGDMP');
        },
        'it is damaged or no backup of Weir',
      ],
      [
        'is another zipped file',
        () => {
          edit(() => '{}\n');
        },
        'it is damaged or no backup of Weir (missing data for column "fields")',
      ],
      [
        'is of another format',
        () => {
          edit((text) => text.replace('weir-backup-2', 'weir-backup-3'));
        },
        'it is no backup of Weir',
      ],
      [
        'was cut off',
        () => {
          writeFileSync(file, readFileSync(file).subarray(0, -100));
        },
        'it is damaged or no backup of Weir (unexpected end of file)',
      ],
      [
        'has another last byte',
        () => {
          const bytes = readFileSync(file);
          bytes[bytes.length - 5] ^= 1;
          writeFileSync(file, bytes);
        },
        'it is damaged or no backup of Weir (incorrect data check)',
      ],
      [
        'has a row that cannot be',
        () => {
          edit((text) => text.replace(RULE, RULE.replace('2', '7')));
        },
        'new row for relation "domain_rule" violates check constraint',
      ],
      [
        'has a row that refers to nothing',
        () => {
          edit((text) => text.replace(RULE, RULE.replace('10', '77')));
        },
        'Key (profile_id)=(77) is not present in table "profile"',
      ],
      [
        'has a column more',
        () => {
          edit((text) => text.replace('"head": {', '"head": {"x\\\\" = 1": 1, '));
        },
        'column "x" = 1" does not exist',
      ],
    ])('when the file %s', async (_what, spoil, message) => {
      spoil();
      await expectRefusal(message);
    });

    it('when a bit of the file has turned over', async () => {
      const bytes = readFileSync(file);
      bytes[Math.floor(bytes.length / 2)] ^= 1;
      writeFileSync(file, bytes);
      await expectRefusal('it is damaged');
    });

    it('when the last step fails', async () => {
      await client.query(`
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no more room'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON schedule FOR EACH ROW EXECUTE FUNCTION fail();
        ALTER TABLE schedule ENABLE ALWAYS TRIGGER fail;
        DELETE FROM domain_rule;`);
      await expectRefusal('no more room');
    });

    it('when it is interrupted', async () => {
      const interrupted = new AbortController();
      interrupted.abort(new Error('Ctrl-C'));
      const options = { databaseUrl: url, file, replace: true, folder: MIGRATIONS, log };
      const held = await contents();
      await expect(restoreBackup({ ...options, signal: interrupted.signal })).rejects.toThrow(
        'Ctrl-C',
      );
      expect(await contents()).toEqual(held);
      const bytes = readFileSync(file);
      await expect(writeBackup(url, file, interrupted.signal)).rejects.toThrow('Ctrl-C');
      expect([readFileSync(file).equals(bytes), readdirSync(folder)]).toEqual([
        true,
        ['weir.backup'],
      ]);
    });

    it('when the backup cannot be written', async () => {
      const nowhere = join(folder, 'nowhere', 'file');
      await expect(writeBackup(url, nowhere, signal)).rejects.toThrow(
        /^the backup failed: ENOENT: .*nowhere/,
      );
    });

    it('when the backup would take the place of a pipe or a folder', async () => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      for (const path of [pipe, folder]) {
        await expect(writeBackup(url, path, signal)).rejects.toThrow(
          `the backup failed: ${path} is not a regular file`,
        );
      }
      expect(readdirSync(folder).sort()).toEqual(['pipe', 'weir.backup']);
    });
  });
});
