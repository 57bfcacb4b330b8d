import type { ActiveCatalogue } from '@weir/config-model';
import type { CompiledCatalogue } from '@weir/catalogue';
import type { ClientBase, Pool } from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../platform/database/transaction.js';

/** Ids, names and sizes of the groups in an image, and which categories block well-known domains. */
export type CatalogueMetadata = Pick<CompiledCatalogue, 'categories' | 'applications' | 'popular'>;

const COLUMNS = 'version::float8 AS version, sha256, size_bytes::float8 AS "sizeBytes"';

export const CATALOGUE: EntityTable<'catalogue'> = {
  kind: 'catalogue',
  sql: `SELECT ${COLUMNS} FROM config_head JOIN catalogue_image ON version = catalogue_version`,
  toEntity: (row) => row,
};

/** The image in force; null: there is none. */
export async function findActive(client: ClientBase): Promise<ActiveCatalogue | null> {
  const { rows } = await client.query<ActiveCatalogue>(CATALOGUE.sql);
  return rows.at(0) ?? null;
}

export async function findBySha256(
  client: ClientBase,
  sha256: string,
): Promise<ActiveCatalogue | null> {
  const { rows } = await client.query<ActiveCatalogue>(
    `SELECT ${COLUMNS} FROM catalogue_image WHERE sha256 = $1`,
    [sha256],
  );
  return rows.at(0) ?? null;
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

/** What is known of the image in force. */
export interface CatalogueInForce {
  /** Null: there is no image. */
  readonly version: number | null;
  readonly since: Date | null;
  /** SHA-256 of its inputs. Null: there is no image, or a release that did not record it compiled it. */
  readonly inputsSha256: string | null;
  /** Its groups; empty when there is no image. */
  readonly metadata: CatalogueMetadata;
}

export async function readInForce(pool: Pool): Promise<CatalogueInForce> {
  const { rows } = await pool.query<CatalogueInForce>(
    `SELECT version::float8 AS version, activated_at AS since, inputs_sha256 AS "inputsSha256",
            '{"popular": []}' || metadata AS metadata
     FROM config_head JOIN catalogue_image ON version = catalogue_version`,
  );
  const metadata = { categories: [], applications: [], popular: [] };
  return rows[0] ?? { version: null, since: null, inputsSha256: null, metadata };
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
