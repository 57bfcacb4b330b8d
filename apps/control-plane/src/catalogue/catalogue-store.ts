import type { ActiveCatalogue } from '@weir/config-model';
import type { CompiledCatalogue, GroupSummary } from '@weir/catalogue';
import type { StoredImage } from '@weir/change-feed';
import type { Pool } from 'pg';
import { readPieces } from '../database/read-pieces.js';
import type { EntityTable } from '../database/entity-table.js';
import type { Transaction } from '../revisions/configuration-writer.js';

/** Ids and names of what an image holds, as its row in the database says. */
export interface CatalogueMetadata {
  readonly categories: readonly GroupSummary[];
  readonly applications: readonly GroupSummary[];
}

interface CatalogueRow {
  version: number;
  sha256: string;
  size_bytes: number;
}

export const CATALOGUE: EntityTable<'catalogue', CatalogueRow> = {
  kind: 'catalogue',
  sql: `
    SELECT version::float8 AS version, sha256, size_bytes::float8 AS size_bytes
    FROM config_head JOIN catalogue_image ON version = catalogue_version`,
  toEntity: (row) => ({ version: row.version, sha256: row.sha256, sizeBytes: row.size_bytes }),
};

/** Images kept besides the active one: followers that are a little behind still find theirs. */
const OLD_IMAGES_KEPT = 2;

/**
 * Stores an image unless it is there already. Not through Prisma: it would encode the bytes several times.
 * @param inputsSha256 of what it was compiled from.
 */
export async function storeImage(
  pool: Pool,
  { sha256, image, categories, applications }: CompiledCatalogue,
  inputsSha256: string,
): Promise<void> {
  // The bytes are sent only if they are missing.
  const { rowCount } = await pool.query(
    'UPDATE catalogue_image SET inputs_sha256 = $2 WHERE sha256 = $1',
    [sha256, inputsSha256],
  );
  if (rowCount === 1) return;
  const metadata: CatalogueMetadata = { categories, applications };
  await pool.query(
    `INSERT INTO catalogue_image (sha256, size_bytes, image, metadata, inputs_sha256) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (sha256) DO NOTHING`,
    [sha256, image.byteLength, image, JSON.stringify(metadata), inputsSha256],
  );
}

/** Of what the image in force was compiled from; null: there is none, or an earlier version compiled it. */
export async function activeInputs(pool: Pool): Promise<string | null> {
  const { rows } = await pool.query<{ inputs: string | null }>(
    'SELECT inputs_sha256 AS inputs FROM config_head JOIN catalogue_image ON version = catalogue_version',
  );
  return rows[0]?.inputs ?? null;
}

/** An image by its sha256, read piece by piece; null when it is not kept. */
export async function findImage(pool: Pool, sha256: string): Promise<StoredImage | null> {
  const { rows } = await pool.query<{ size_bytes: number }>(
    'SELECT size_bytes::float8 AS size_bytes FROM catalogue_image WHERE sha256 = $1',
    [sha256],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const read = (start: number, end: number) =>
    readPieces(
      pool,
      { table: 'catalogue_image', column: 'image', key: 'sha256' },
      sha256,
      start,
      end,
    );
  return { sizeBytes: row.size_bytes, read };
}

const SUMMARY = { version: true, sha256: true, sizeBytes: true } as const;

export async function findByVersion(
  tx: Transaction,
  version: number,
): Promise<ActiveCatalogue | null> {
  const row = await tx.catalogueImage.findUnique({ where: { version }, select: SUMMARY });
  return row && toActive(row);
}

export async function findBySha256(
  tx: Transaction,
  sha256: string,
): Promise<ActiveCatalogue | null> {
  const row = await tx.catalogueImage.findUnique({ where: { sha256 }, select: SUMMARY });
  return row && toActive(row);
}

export async function findMetadata(
  tx: Transaction,
  version: number,
): Promise<CatalogueMetadata | null> {
  const row = await tx.catalogueImage.findUnique({
    where: { version },
    select: { metadata: true },
  });
  return row && (row.metadata as unknown as CatalogueMetadata);
}

/** Of the image in force; nothing when there is none. */
export async function findActiveMetadata(pool: Pool): Promise<CatalogueMetadata> {
  const { rows } = await pool.query<{ metadata: CatalogueMetadata }>(
    'SELECT metadata FROM config_head JOIN catalogue_image ON version = catalogue_version',
  );
  return rows[0]?.metadata ?? { categories: [], applications: [] };
}

/** Makes an image the one in force, and drops those that are long out of it. */
export async function setActive(tx: Transaction, version: number): Promise<void> {
  await tx.configHead.update({ where: { id: 1 }, data: { catalogueVersion: version } });
  await tx.$executeRaw`
    DELETE FROM catalogue_image WHERE version NOT IN (
      SELECT version FROM catalogue_image WHERE version <> ${version}::bigint
      ORDER BY created_at DESC, version DESC LIMIT ${OLD_IMAGES_KEPT}
    ) AND version <> ${version}::bigint`;
}

/** Applications that rules name and that are not `known`, by id, with the number of their rules. */
export async function findIdleRules(
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

function toActive(row: { version: bigint; sha256: string; sizeBytes: bigint }): ActiveCatalogue {
  return {
    version: Number(row.version),
    sha256: row.sha256,
    sizeBytes: Number(row.sizeBytes),
  };
}
