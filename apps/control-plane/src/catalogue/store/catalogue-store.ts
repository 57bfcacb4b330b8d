import type { CompiledCatalogue } from '@weir/catalogue';
import type { StoredBytes } from '@weir/change-feed';
import type { ActiveCatalogue } from '@weir/config-model';
import type { ClientBase, Pool } from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { inTransaction } from '../../platform/database/transaction.js';
import type { WorkResult } from '../../revisions/change-record.js';

/** Ids, names and sizes of the groups in an image, and which categories block well-known domains. */
export type CatalogueMetadata = Pick<CompiledCatalogue, 'categories' | 'applications' | 'popular'>;

export const NO_GROUPS: CatalogueMetadata = { categories: [], applications: [], popular: [] };

const COLUMNS = 'version::float8 AS version, sha256, size_bytes::float8 AS "sizeBytes"';

export const CATALOGUE: EntityTable<'catalogue'> = {
  kind: 'catalogue',
  sql: `SELECT ${COLUMNS} FROM config_head JOIN catalogue_image ON version = catalogue_version`,
  toEntity: (row) => row,
};

/** Puts a stored image in force, in a transaction that has locked the head. @returns null: it is in force already. */
export async function putInForce(
  client: ClientBase,
  sha256: string,
): Promise<WorkResult<ActiveCatalogue> | null> {
  const { rows: active } = await client.query<ActiveCatalogue>(CATALOGUE.sql);
  const before = active.at(0) ?? null;
  if (before?.sha256 === sha256) return null;
  const { rows: stored } = await client.query<ActiveCatalogue>(
    `UPDATE catalogue_image SET activated_at = now() WHERE sha256 = $1 RETURNING ${COLUMNS}`,
    [sha256],
  );
  const after = stored.at(0);
  if (after === undefined) throw new Error('the catalogue image was deleted before its activation');
  await client.query('UPDATE config_head SET catalogue_version = $1', [after.version]);
  return { result: after, changes: [{ kind: 'catalogue', before, after }] };
}

/** Reads the applications in the image in force, as one list. */
export const ACTIVE_APPLICATIONS = Prisma.sql`
  SELECT metadata -> 'applications' AS applications
  FROM config_head JOIN catalogue_image ON version = catalogue_version`;

/** What is known of the image in force. */
export interface CatalogueInForce {
  /** Null: there is no image. */
  readonly version: number | null;
  readonly since: Date | null;
  /** SHA-256 of its inputs. Null: there is no image. */
  readonly inputsSha256: string | null;
  /** Its groups; empty when there is no image. */
  readonly metadata: CatalogueMetadata;
}

export async function readInForce(pool: Pool): Promise<CatalogueInForce> {
  const { rows } = await pool.query<CatalogueInForce>(
    `SELECT version::float8 AS version, activated_at AS since, inputs_sha256 AS "inputsSha256",
            metadata
     FROM config_head JOIN catalogue_image ON version = catalogue_version`,
  );
  return rows[0] ?? { version: null, since: null, inputsSha256: null, metadata: NO_GROUPS };
}

/** Applications that have rules but are not in `known`, by id, with the number of their rules. */
export async function findRulesWithoutApplication(
  pool: Pool,
  known: readonly number[],
): Promise<readonly { readonly applicationId: number; readonly rules: number }[]> {
  const { rows } = await pool.query<{ applicationId: number; rules: number }>(
    `SELECT application_id AS "applicationId", count(*)::float8 AS rules FROM application_rule
     WHERE application_id <> ALL ($1::integer[]) GROUP BY application_id ORDER BY application_id`,
    [known],
  );
  return rows;
}

/** Each piece is read by its own query, because followers read slowly and several at a time. */
const PIECE_BYTES = 256 * 1024;
/** Images kept besides the active one, for followers that are a little behind. */
const OLD_IMAGES_KEPT = 2;

/** Stores an image unless it is stored already. Prisma would encode the bytes several times. */
export async function storeImage(
  pool: Pool,
  { sha256, image, categories, applications, popular }: CompiledCatalogue,
  inputsSha256: string,
): Promise<void> {
  const metadata: CatalogueMetadata = { categories, applications, popular };
  await inTransaction(pool, async (client) => {
    // A replica that stores the same image at the same time waits here.
    const { rows } = await client.query<{ version: string }>(
      `INSERT INTO catalogue_image (sha256, size_bytes, metadata, inputs_sha256) VALUES ($1, $2, $3, $4)
       ON CONFLICT (sha256) DO UPDATE
       SET inputs_sha256 = excluded.inputs_sha256, metadata = excluded.metadata, created_at = now()
       RETURNING version`,
      [sha256, image.byteLength, JSON.stringify(metadata), inputsSha256],
    );
    const [{ version }] = rows;
    const find = 'SELECT FROM catalogue_image_piece WHERE version = $1 LIMIT 1';
    if ((await client.query(find, [version])).rowCount !== 0) return;
    for (let number = 0; number * PIECE_BYTES < image.length; number++) {
      const piece = image.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES);
      const values = [version, number, piece];
      await client.query('INSERT INTO catalogue_image_piece VALUES ($1, $2, $3)', values);
    }
  });
}

/** An image by its SHA-256, to be read piece by piece; null when it is not stored. */
export async function findImage(pool: Pool, sha256: string): Promise<StoredBytes | null> {
  const { rows } = await pool.query<{ version: string; sizeBytes: number }>(
    'SELECT version, size_bytes::float8 AS "sizeBytes" FROM catalogue_image WHERE sha256 = $1',
    [sha256],
  );
  if (rows.length === 0) return null;
  const [{ version, sizeBytes }] = rows;
  return { sizeBytes, read: (start, end) => readBytes(pool, version, start, end) };
}

/** The whole image with this version. @param version null: the one in force. @returns null when it is not stored. */
export async function readImage(
  pool: Pool,
  version: number | string | null,
): Promise<Uint8Array | null> {
  const { rows } = await pool.query<{ sha256: string }>(
    `SELECT sha256 FROM catalogue_image
     WHERE version = coalesce($1, (SELECT catalogue_version FROM config_head))`,
    [version],
  );
  const stored = rows[0] && (await findImage(pool, rows[0].sha256));
  if (!stored) return null;
  const bytes = new Uint8Array(stored.sizeBytes);
  let at = 0;
  for await (const piece of stored.read(0, stored.sizeBytes)) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** The bytes from `start` up to `end`, exclusive. @throws Error when the image is deleted meanwhile. */
async function* readBytes(
  pool: Pool,
  version: string,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end;) {
    const number = Math.floor(at / PIECE_BYTES);
    const { rows } = await pool.query<{ bytes: Buffer }>(
      'SELECT bytes FROM catalogue_image_piece WHERE version = $1 AND number = $2',
      [version, number],
    );
    const begin = number * PIECE_BYTES;
    const part = rows[0]?.bytes.subarray(at - begin, end - begin);
    if (part === undefined || part.length === 0) {
      throw new Error(`catalogue ${version} was deleted while it was read`);
    }
    yield part;
    at += part.length;
  }
}

/** Deletes all images but the active one and the last `OLD_IMAGES_KEPT` before it. */
export async function deleteOldImages(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM catalogue_image WHERE version NOT IN (
       SELECT version FROM catalogue_image
       WHERE version <> (SELECT catalogue_version FROM config_head)
       ORDER BY created_at DESC, version DESC LIMIT $1
     ) AND version <> (SELECT catalogue_version FROM config_head)`,
    [OLD_IMAGES_KEPT],
  );
}
