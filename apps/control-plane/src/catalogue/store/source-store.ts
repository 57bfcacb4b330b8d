import type { ListFormat } from '@weir/catalogue';
import type { ClientBase, Pool } from 'pg';

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
  /** The same as a time. */
  readonly lastSuccessAt: Date | null;
  /** Of the last attempt at the URL itself, although a mirror may have the list; null: it succeeded. */
  readonly lastError: string | null;
  /** The mirror that the last accepted list, `etag` and `lastModified` came from; null: the URL or the file itself. */
  readonly mirror: string | null;
  /** Attempts since the last success. */
  readonly failures: number;
  readonly domainCount: number | null;
  readonly invalidCount: number | null;
  /** Of the bytes of the last accepted list, protected names behind them; null: there is none. */
  readonly namesSha256: string | null;
  readonly namesBytes: number;
  readonly placesBytes: number;
  /** Names of the list that would block a domain of `never_block`. */
  readonly protectedCount: number | null;
  readonly protectedBytes: number;
  /** See `readWith`; empty: nothing. */
  readonly readWith: string;
  /** Whether the definition named it when it was read last. */
  readonly isNamed: boolean;
}

/** A list that was read. */
export interface StoredList {
  readonly format: ListFormat;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly mirror: string | null;
  readonly domainCount: number;
  readonly invalidCount: number;
  /** Serialised by `NameList.toBytes`. */
  readonly names: Uint8Array;
  /** Bytes of `NamePlaces`. */
  readonly places: Uint8Array;
  readonly namesSha256: string;
  readonly protectedCount: number;
  /** Serialised in the same way; null: there are none. */
  readonly protectedNames: Uint8Array | null;
  readonly readWith: string;
}

const MAX_ERROR_LENGTH = 500;
/** Bytes of a list that one query reads: no cursor cuts a value, of which the driver takes twice the memory. */
const PIECE_BYTES = 256 * 1024;

export async function readStates(pool: Pool): Promise<ReadonlyMap<string, SourceState>> {
  const { rows } = await pool.query<SourceState>(`
    SELECT name, format, etag, last_modified AS "lastModified", last_error AS "lastError", failures,
           extract(epoch FROM now() - last_attempt_at)::float8 AS "secondsSinceAttempt",
           extract(epoch FROM now() - last_success_at)::float8 AS "secondsSinceSuccess",
           last_success_at AS "lastSuccessAt", mirror,
           domain_count AS "domainCount", invalid_count AS "invalidCount",
           names_sha256 AS "namesSha256", coalesce(octet_length(names), 0) AS "namesBytes",
           coalesce(octet_length(places), 0) AS "placesBytes",
           is_named AS "isNamed", protected_count AS "protectedCount", read_with AS "readWith",
           coalesce(octet_length(protected), 0) AS "protectedBytes"
    FROM catalogue_source`);
  return new Map(rows.map((row) => [row.name, row]));
}

/** The columns of a list that are read in pieces. `protected` may be empty. */
type ListBytes = 'names' | 'places' | 'protected';

/** The bytes of the last accepted list. @throws Error when it was replaced meanwhile. */
export async function readBytes<C extends ListBytes>(
  pool: Pool,
  column: C,
  state: Pick<SourceState, 'name' | 'namesSha256' | `${C}Bytes`>,
): Promise<Uint8Array<ArrayBuffer>> {
  const size: number = state[`${column}Bytes`];
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, size - at);
    const { rows } = await pool.query<{ piece: Buffer }>(
      `SELECT substring(${column} FROM $3 FOR $4) AS piece FROM catalogue_source
       WHERE name = $1 AND names_sha256 = $2`,
      [state.name, state.namesSha256, at + 1, length],
    );
    const piece = rows[0]?.piece;
    if (piece?.length !== length) throw new Error('a list was replaced while it was read');
    bytes.set(piece, at);
  }
  return bytes;
}

/** The columns of a list, and the fields of `StoredList` that they have. */
const LIST_FIELDS = {
  format: 'format',
  etag: 'etag',
  last_modified: 'lastModified',
  domain_count: 'domainCount',
  invalid_count: 'invalidCount',
  protected_count: 'protectedCount',
  names: 'names',
  names_sha256: 'namesSha256',
  protected: 'protectedNames',
  read_with: 'readWith',
  places: 'places',
  mirror: 'mirror',
} as const satisfies Record<string, keyof StoredList>;
const COLUMNS = Object.keys(LIST_FIELDS);
const LIST_COLUMNS = COLUMNS.join(', ');
/** After `$1`, the name of the source. */
const LIST_PARAMETERS = COLUMNS.map((_, i) => `$${i + 2}`).join(', ');
/** The parameter after those of the list. */
const LAST_PARAMETER = `$${COLUMNS.length + 2}`;

function columnsOf(table: 'excluded' | 'held'): string {
  return COLUMNS.map((column) => `${table}.${column}`).join(', ');
}

/** @param last the value of `LAST_PARAMETER`. */
function listValues(name: string, list: StoredList, last: string | null): unknown[] {
  return [name, ...Object.values(LIST_FIELDS).map((field) => list[field]), last];
}

/**
 * Stores an accepted list in place of the last one, and of one that is held.
 * @param problem why it is of a mirror; null: it is not.
 */
export async function recordList(
  pool: Pool,
  name: string,
  list: StoredList,
  problem: string | null,
): Promise<void> {
  await pool.query(
    `WITH held AS (DELETE FROM catalogue_held WHERE name = $1)
     INSERT INTO catalogue_source (name, ${LIST_COLUMNS}, last_error, last_attempt_at, last_success_at)
     VALUES ($1, ${LIST_PARAMETERS}, ${LAST_PARAMETER}, now(), now())
     ON CONFLICT (name) DO UPDATE SET (${LIST_COLUMNS}) = ROW(${columnsOf('excluded')}),
       last_error = excluded.last_error, last_attempt_at = now(), last_success_at = now(), failures = 0`,
    listValues(name, list, shortened(problem)),
  );
}

/**
 * Keeps a list until somebody accepts it. The last accepted list stays in force.
 * @param comparedWith `namesSha256` of the accepted list that it was compared with.
 * @returns false: somebody has accepted a list since, so this one is not kept. The next attempt compares it with that.
 */
export async function recordHeld(
  pool: Pool,
  name: string,
  list: StoredList,
  comparedWith: string,
): Promise<boolean> {
  const { rows } = await pool.query<{ isHeld: boolean }>(
    `WITH compared AS (SELECT FROM catalogue_source WHERE name = $1 AND names_sha256 = ${LAST_PARAMETER}), held AS (
       INSERT INTO catalogue_held AS held (name, ${LIST_COLUMNS})
       SELECT $1, ${LIST_PARAMETERS} FROM compared
       ON CONFLICT (name) DO UPDATE SET (${LIST_COLUMNS}) = ROW(${columnsOf('excluded')})
         WHERE (held.names_sha256, held.read_with) <> (excluded.names_sha256, excluded.read_with))
     SELECT EXISTS (SELECT FROM compared) AS "isHeld"`,
    listValues(name, list, comparedWith),
  );
  return rows[0].isHeld;
}

/** Without control characters: PostgreSQL stores no NUL, and a server may have sent some. */
function shortened(problem: string | null): string | null {
  return problem?.slice(0, MAX_ERROR_LENGTH).replaceAll(/\p{Cc}/gu, ' ') ?? null;
}

/** The lists that nobody has accepted yet, by name, and why they are held. */
export async function readHeld(pool: Pool): Promise<{ name: string; problem: string }[]> {
  const { rows } = await pool.query<{ name: string; problem: string }>(
    `SELECT name, last_error AS problem FROM catalogue_held JOIN catalogue_source USING (name)
     WHERE is_named ORDER BY name`,
  );
  return rows;
}

/** Accepts the held list of a source. @returns its number of domains; null: no list of it is held. */
export async function acceptHeld(client: Pool | ClientBase, name: string): Promise<number | null> {
  const { rows } = await client.query<{ domains: number }>(
    `WITH held AS (DELETE FROM catalogue_held WHERE name = $1 RETURNING *)
     UPDATE catalogue_source AS source SET (${LIST_COLUMNS}) = ROW(${columnsOf('held')}),
       last_success_at = now(), last_error = NULL, failures = 0
     FROM held WHERE source.name = held.name RETURNING source.domain_count AS domains`,
    [name],
  );
  return rows[0]?.domains ?? null;
}

/**
 * The source, or a mirror because of `problem`, could be read and its list is still that of `namesSha256`. Nothing is
 * recorded when somebody has accepted another one meanwhile.
 */
export async function recordUnchanged(
  pool: Pool,
  source: Pick<SourceState, 'name' | 'etag' | 'lastModified' | 'namesSha256'>,
  problem: string | null = null,
): Promise<void> {
  await pool.query(
    `WITH held AS (DELETE FROM catalogue_held WHERE name = $1)
     INSERT INTO catalogue_source AS source
       (name, etag, last_modified, last_error, last_attempt_at, last_success_at)
     VALUES ($1, $2, $3, $4, now(), now())
     ON CONFLICT (name) DO UPDATE SET
       etag = excluded.etag, last_modified = excluded.last_modified, last_error = excluded.last_error,
       last_attempt_at = now(), last_success_at = now(), failures = 0
     WHERE source.names_sha256 IS NOT DISTINCT FROM $5`,
    [source.name, source.etag, source.lastModified, shortened(problem), source.namesSha256],
  );
}

/** The last accepted list stays. */
export async function recordFailure(pool: Pool, name: string, problem: string): Promise<void> {
  await pool.query(
    `INSERT INTO catalogue_source AS source (name, last_attempt_at, last_error, failures) VALUES ($1, now(), $2, 1)
     ON CONFLICT (name) DO UPDATE SET
       last_attempt_at = now(), last_error = excluded.last_error, failures = source.failures + 1`,
    [name, shortened(problem)],
  );
}

/** Records which sources are named. The others go after a week: replicas with an older definition may use them. */
export async function recordNamed(pool: Pool, names: readonly string[]): Promise<void> {
  await pool.query(
    // A pinned list was perhaps requested once, a year ago: the week begins now.
    `UPDATE catalogue_source SET is_named = NOT is_named,
       last_attempt_at = CASE WHEN is_named THEN now() ELSE last_attempt_at END
     WHERE is_named <> (name = ANY ($1::text[]))`,
    [names],
  );
  await pool.query(
    `DELETE FROM catalogue_source WHERE NOT is_named AND last_attempt_at < now() - interval '7 days'`,
  );
}
