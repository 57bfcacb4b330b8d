import type { BlockPage } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { Fault } from '../../http/validation/fault.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../revisions/configuration-writer.js';

export const BLOCK_PAGES: EntityTable<'blockPage', BlockPage> = {
  kind: 'blockPage',
  sql: 'SELECT id, type FROM block_page ORDER BY id',
  toEntity: ({ id, type }) => ({ id, type }),
};

/** A profile that shows a page. */
export interface PageUser {
  readonly pageId: number;
  readonly profileId: number;
}

export function unknownBlockPage(id: number, loc: readonly string[]): Fault {
  return { loc, msg: `Block page ${id} does not exist`, type: 'reference' };
}

export function blockPagesOf(ids: readonly number[]): Prisma.Sql {
  return Prisma.sql`SELECT id, type FROM block_page WHERE id = ANY (${ids}::integer[])`;
}

export function findBlockPages(tx: Transaction, ids: readonly number[]): Promise<BlockPage[]> {
  return tx.$queryRaw(blockPagesOf(ids));
}

/** For each page the lowest profile that shows it, if there is one. @param except profiles that do not count. */
export function findPageUsers(
  tx: Transaction,
  pageIds: readonly number[],
  except: readonly number[],
): Promise<PageUser[]> {
  return tx.$queryRaw`
    SELECT page.id AS "pageId", shown.id AS "profileId"
    FROM unnest(${pageIds}::integer[]) AS page (id)
    CROSS JOIN LATERAL (
      SELECT id FROM profile WHERE page_id = page.id AND id <> ALL (${except}::integer[]) ORDER BY id LIMIT 1
    ) AS shown`;
}

/** @throws when there is one with the same id. */
export function insertBlockPages(tx: Transaction, pages: readonly BlockPage[]): Promise<void> {
  return write(tx, pages, Prisma.empty);
}

export function replaceBlockPages(tx: Transaction, pages: readonly BlockPage[]): Promise<void> {
  return write(tx, pages, Prisma.sql`ON CONFLICT (id) DO UPDATE SET type = EXCLUDED.type`);
}

export async function deleteBlockPages(
  tx: Transaction,
  pages: readonly BlockPage[],
): Promise<void> {
  if (pages.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM block_page WHERE id = ANY (${pages.map(({ id }) => id)}::integer[])`;
}

async function write(
  tx: Transaction,
  pages: readonly BlockPage[],
  onConflict: Prisma.Sql,
): Promise<void> {
  if (pages.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO block_page (id, type)
    SELECT * FROM unnest(
      ${pages.map(({ id }) => id)}::integer[], ${pages.map(({ type }) => type)}::integer[])
    ${onConflict}`;
}
