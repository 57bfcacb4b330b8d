import { StartError } from '@weir/ops';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import pg, { type Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { explained } from '../migrate/connection.js';
import { migrate } from '../migrate/migrate.js';
import { readMigrations } from '../migrate/migrations.js';
import {
  BACKUP_TABLES,
  columnsOf,
  FORMAT,
  HEAD_TABLE,
  LIST_COLUMNS,
  LIST_TABLES,
  withClient,
} from './backup-tables.js';

interface RestoreOptions {
  readonly databaseUrl: string;
  readonly file: string;
  /** Whether the configuration in the database may be overwritten. */
  readonly replace: boolean;
  /** The folder of the migrations. Default: that of this release. */
  readonly folder?: string;
  /** Called with each step. */
  readonly log: (line: string) => void;
  /** Aborts the work; its reason is thrown. */
  readonly signal: AbortSignal;
}

interface Header {
  /** ISO 8601. */
  readonly madeAt: string;
  /** The row of config_head, without id and lineage. */
  readonly head: Readonly<Record<string, unknown>> & { readonly revision: number };
  /** Checksums of the applied migrations. */
  readonly migrations: Readonly<Record<string, string>>;
}

/**
 * Replaces the contents of a database by a backup: loads it beside them, and exchanges them in one transaction. If
 * anything fails, they are unchanged. Control planes, resolvers and block pages may run; changes wait for the exchange.
 * @returns the revision
 * @throws StartError with one line
 */
export function restoreBackup(options: RestoreOptions): Promise<number> {
  const { databaseUrl, file, replace, folder, log, signal } = options;
  let outcome = 'nothing was restored';
  const failed = () => `${file}: ${outcome}`;
  const work = async (client: Client) => {
    const { madeAt, head, migrations } = await load(client, file, signal);
    const known = new Map((await readMigrations(folder)).map((one) => [one.name, one.checksum]));
    const other = Object.keys(migrations).find((name) => known.get(name) !== migrations[name]);
    if (other !== undefined) {
      throw new StartError(
        `it is of a newer or another release: this one does not know its migration ${other}`,
      );
    }
    log(`restoring revision ${head.revision}, backed up at ${madeAt}`);
    await migrate({ databaseUrl, folder, log });
    await client.query('BEGIN');
    // Every change locks this row first.
    await client.query(`SELECT FROM ${HEAD_TABLE} FOR UPDATE`);
    await client.query(`LOCK TABLE ${BACKUP_TABLES.join()}, change IN SHARE ROW EXCLUSIVE MODE`);
    await expectReplaceable(client, replace, head);
    await exchange(client, head);
    signal.throwIfAborted();
    outcome = 'it is not known whether it was restored';
    await client.query('COMMIT');
    await client.query('ANALYZE');
    return head.revision;
  };
  return explained(signal, failed, () => withClient(databaseUrl, work));
}

/** Loads the file into a temporary table. @throws StartError when it is damaged or no backup */
async function load(client: Client, file: string, signal: AbortSignal): Promise<Header> {
  await client.query(
    'CREATE TEMPORARY TABLE restored (of_table text NOT NULL, fields jsonb NOT NULL)',
  );
  const copy = client.query(copyFrom('COPY restored FROM STDIN'));
  await pipeline(createReadStream(file), createGunzip(), copy, { signal }).catch(
    (error: unknown) => {
      const { code = '', message } = error as NodeJS.ErrnoException;
      // An error of zlib, or of the class "data exception" of PostgreSQL.
      if (!/^Z_|^22/.test(code)) throw error;
      throw new StartError(`it is damaged or no backup of Weir (${message})`, { cause: error });
    },
  );
  const header = 'SELECT fields FROM restored WHERE of_table = $1';
  const { rows } = await client.query<{ fields: Header }>(header, [FORMAT]);
  if (rows.length !== 1) throw new StartError('it is no backup of Weir');
  return rows[0].fields;
}

async function expectReplaceable(client: Client, replace: boolean, head: Header['head']) {
  const { rows } = await client.query<{ isEmpty: boolean; hasOtherKey: boolean | null }>(
    `SELECT NOT EXISTS (SELECT FROM profile) AND NOT EXISTS (SELECT FROM block_page) AS "isEmpty",
       domain_hash_check <> $1 AS "hasOtherKey" FROM ${HEAD_TABLE}`,
    [head['domain_hash_check']],
  );
  if (!rows[0].isEmpty && !replace) {
    throw new StartError('the database holds a configuration; --replace says that it may go');
  }
  if (rows[0].hasOtherKey === true) {
    throw new StartError(
      'it was made under another DOMAIN_HASH_KEY than this database is used with; its domain rules would match nothing',
    );
  }
}

/** Joins the pieces of a column to the rows of the table: as `of_<column>.bytes`, NULL where the column is NULL. */
const wholeOf = (table: string, column: string): string => `
  LEFT JOIN (SELECT fields ->> 'name' AS of,
    string_agg((fields ->> 'bytes')::bytea, '' ORDER BY (fields -> 'at')::bigint) AS bytes
    FROM restored WHERE of_table = '${table}.${column}' GROUP BY 1) AS of_${column} ON of_${column}.of = one.name`;

async function exchange(client: Client, head: Header['head']): Promise<void> {
  await client.query(`UPDATE ${HEAD_TABLE} SET catalogue_version = NULL`);
  // Not TRUNCATE: readers with an older snapshot would see empty tables.
  for (const name of ['change', ...BACKUP_TABLES.toReversed()])
    await client.query(`DELETE FROM ${name}`);
  for (const name of BACKUP_TABLES) {
    // Columns that an older release did not have get their defaults, as when it runs on this schema.
    const first = `SELECT fields FROM restored WHERE of_table = '${name}' LIMIT 1`;
    const columns = await columnsOf(client, name, `(${first}) ? attname::text`);
    if (columns === null) continue;
    const lists = LIST_TABLES.includes(name) ? LIST_COLUMNS : [];
    await client.query(
      `INSERT INTO ${name} (${[columns, ...lists].join(', ')})
       SELECT ${[columns, ...lists.map((column) => `of_${column}.bytes`)].join(', ')}
       FROM restored CROSS JOIN jsonb_populate_record(NULL::${name}, fields) AS one
       ${lists.map((column) => wholeOf(name, column)).join('\n')} WHERE of_table = '${name}'`,
    );
  }
  // A backup that knows no key leaves the key that the database knows.
  const names = Object.keys(head).filter((name) => head[name] !== null);
  const columns = names.map((name) => pg.escapeIdentifier(name)).join(', ');
  await client.query(
    `UPDATE ${HEAD_TABLE} SET lineage = gen_random_uuid(), (${columns}) =
       (SELECT ${columns} FROM jsonb_populate_record(NULL::${HEAD_TABLE}, $1))`,
    [JSON.stringify(head)],
  );
  // Never lower: a number that was used in this database, or is in a cache, must not be used again.
  await client.query(
    `SELECT setval('catalogue_image_version_seq', greatest(last_value, (SELECT max(version) FROM catalogue_image)))
     FROM catalogue_image_version_seq`,
  );
}
