import type { ActiveCatalogue } from '@weir/config-model';
import type { CompiledCatalogue } from '@weir/catalogue';
import type { ClientBase, Pool } from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../platform/database/transaction.js';

/** Ids, names and sizes of the groups in an image, and which categories block well-known domains. */
export type CatalogueMetadata = Pick<CompiledCatalogue, 'categories' | 'applications' | 'popular'>;

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

/**
 * SHA-256 of the inputs of the image in force; null: there is no image, or a release that did not record it compiled
 * it.
 */
export async function readActiveInputsSha256(pool: Pool): Promise<string | null> {
  const { rows } = await pool.query<{ inputs: string | null }>(
    'SELECT inputs_sha256 AS inputs FROM config_head JOIN catalogue_image ON version = catalogue_version',
  );
  return rows[0]?.inputs ?? null;
}

/** The image in force; null: there is none. */
export async function findActive(client: ClientBase): Promise<ActiveCatalogue | null> {
  const { rows } = await client.query<CatalogueRow>(CATALOGUE.sql);
  return rows.map((row) => CATALOGUE.toEntity(row)).at(0) ?? null;
}

export async function findBySha256(
  client: ClientBase,
  sha256: string,
): Promise<ActiveCatalogue | null> {
  const { rows } = await client.query<CatalogueRow>(
    `SELECT version::float8 AS version, sha256, size_bytes::float8 AS size_bytes
     FROM catalogue_image WHERE sha256 = $1`,
    [sha256],
  );
  return rows.map((row) => CATALOGUE.toEntity(row)).at(0) ?? null;
}

export async function findMetadata(
  tx: Transaction,
  version: number,
): Promise<CatalogueMetadata | null> {
  const rows = await tx.$queryRaw<{ metadata: CatalogueMetadata }[]>`
    SELECT metadata FROM catalogue_image WHERE version = ${version}`;
  return rows.at(0)?.metadata ?? null;
}

/** Reads the applications in the image in force, as one list. */
export const ACTIVE_APPLICATIONS = Prisma.sql`
  SELECT metadata -> 'applications' AS applications
  FROM config_head JOIN catalogue_image ON version = catalogue_version`;

/** The groups in the image in force; empty when there is none. */
export async function findActiveMetadata(pool: Pool): Promise<CatalogueMetadata> {
  const { rows } = await pool.query<{ metadata: CatalogueMetadata }>(
    `SELECT '{"popular": []}' || metadata AS metadata
     FROM config_head JOIN catalogue_image ON version = catalogue_version`,
  );
  return rows[0]?.metadata ?? { categories: [], applications: [], popular: [] };
}

/** Version of the image in force, and since when it is. */
export async function findActivation(
  pool: Pool,
): Promise<{ readonly version: number; readonly since: Date | null } | null> {
  const { rows } = await pool.query<{ version: number; since: Date | null }>(
    `SELECT version::float8 AS version, activated_at AS since
     FROM config_head JOIN catalogue_image ON version = catalogue_version`,
  );
  return rows[0] ?? null;
}

/** Makes this image the one in force. */
export async function setActive(client: ClientBase, version: number): Promise<void> {
  await client.query(
    `WITH activated AS (UPDATE catalogue_image SET activated_at = now() WHERE version = $1)
     UPDATE config_head SET catalogue_version = $1`,
    [version],
  );
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
