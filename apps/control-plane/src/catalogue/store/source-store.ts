import type { ListFormat } from '@weir/catalogue';
import type { Pool } from 'pg';

/** What is stored of a source, without the names in its list. */
export interface SourceState {
  readonly name: string;
  /** Of the last accepted list; null: never read. */
  readonly format: ListFormat | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** By the clock of the database. */
  readonly secondsSinceAttempt: number;
  /** By the clock of the database; null: it never succeeded. */
  readonly secondsSinceSuccess: number | null;
  /** Of the last attempt; null: it succeeded. */
  readonly lastError: string | null;
  /** Attempts since the last success. */
  readonly failures: number;
  readonly domainCount: number | null;
  readonly invalidCount: number | null;
  /** Of the bytes of the last accepted list; null: there is none. */
  readonly namesSha256: string | null;
  readonly namesBytes: number;
  /** Whether the definition named it when it was read last. */
  readonly isNamed: boolean;
}

/** A list that was read and accepted. */
export interface AcceptedList {
  readonly format: ListFormat;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly domainCount: number;
  readonly invalidCount: number;
  /** Serialised by `NameList.toBytes`. */
  readonly names: Uint8Array;
  readonly namesSha256: string;
}

const MAX_ERROR_LENGTH = 500;
/**
 * Bytes of a list that one query reads. A list is one value, which no cursor cuts. For the whole, the driver would take
 * more than twice its memory, and hold up other requests while it decodes it.
 */
const PIECE_BYTES = 256 * 1024;

export async function readStates(pool: Pool): Promise<ReadonlyMap<string, SourceState>> {
  const { rows } = await pool.query<SourceState>(`
    SELECT name, format, etag, last_modified AS "lastModified", last_error AS "lastError", failures,
           extract(epoch FROM now() - last_attempt_at)::float8 AS "secondsSinceAttempt",
           extract(epoch FROM now() - last_success_at)::float8 AS "secondsSinceSuccess",
           domain_count AS "domainCount", invalid_count AS "invalidCount",
           names_sha256 AS "namesSha256", coalesce(octet_length(names), 0) AS "namesBytes",
           is_named AS "isNamed"
    FROM catalogue_source`);
  return new Map(rows.map((row) => [row.name, row]));
}

/** The bytes of the last accepted list. @throws Error when it was replaced meanwhile. */
export async function readNames(
  pool: Pool,
  { namesSha256, namesBytes }: Pick<SourceState, 'namesSha256' | 'namesBytes'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const names = new Uint8Array(namesBytes);
  for (let at = 0; at < namesBytes; at += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, namesBytes - at);
    const { rows } = await pool.query<{ piece: Buffer }>(
      'SELECT substring(names FROM $2 FOR $3) AS piece FROM catalogue_source WHERE names_sha256 = $1',
      [namesSha256, at + 1, length],
    );
    const piece = rows[0]?.piece;
    if (piece?.length !== length) throw new Error('a list was replaced while it was read');
    names.set(piece, at);
  }
  return names;
}

export async function recordList(pool: Pool, name: string, list: AcceptedList): Promise<void> {
  await pool.query(
    `INSERT INTO catalogue_source (name, format, etag, last_modified, domain_count, invalid_count, names, names_sha256,
                                   last_attempt_at, last_success_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now(), now())
     ON CONFLICT (name) DO UPDATE SET
       format = excluded.format, etag = excluded.etag, last_modified = excluded.last_modified,
       domain_count = excluded.domain_count, invalid_count = excluded.invalid_count,
       names = excluded.names, names_sha256 = excluded.names_sha256,
       last_attempt_at = now(), last_success_at = now(), last_error = NULL, failures = 0`,
    [
      name,
      list.format,
      list.etag,
      list.lastModified,
      list.domainCount,
      list.invalidCount,
      list.names,
      list.namesSha256,
    ],
  );
}

/** The source could be read and its list has not changed. */
export async function recordUnchanged(
  pool: Pool,
  { name, etag, lastModified }: Pick<SourceState, 'name' | 'etag' | 'lastModified'>,
): Promise<void> {
  await pool.query(
    `INSERT INTO catalogue_source (name, etag, last_modified, last_attempt_at, last_success_at)
     VALUES ($1, $2, $3, now(), now())
     ON CONFLICT (name) DO UPDATE SET
       etag = excluded.etag, last_modified = excluded.last_modified,
       last_attempt_at = now(), last_success_at = now(), last_error = NULL, failures = 0`,
    [name, etag, lastModified],
  );
}

/** The last accepted list stays. */
export async function recordFailure(pool: Pool, name: string, problem: string): Promise<void> {
  await pool.query(
    `INSERT INTO catalogue_source AS source (name, last_attempt_at, last_error, failures) VALUES ($1, now(), $2, 1)
     ON CONFLICT (name) DO UPDATE SET
       last_attempt_at = now(), last_error = excluded.last_error, failures = source.failures + 1`,
    [name, problem.slice(0, MAX_ERROR_LENGTH)],
  );
}

/**
 * Records which sources the definition names. The others are deleted after a week: during an upgrade, replicas with an
 * older definition may still use them.
 */
export async function recordNamed(pool: Pool, names: readonly string[]): Promise<void> {
  await pool.query(
    `UPDATE catalogue_source SET is_named = NOT is_named WHERE is_named <> (name = ANY ($1::text[]))`,
    [names],
  );
  await pool.query(
    `DELETE FROM catalogue_source WHERE NOT is_named AND last_attempt_at < now() - interval '7 days'`,
  );
}
