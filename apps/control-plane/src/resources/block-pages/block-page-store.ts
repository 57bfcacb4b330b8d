import type { BlockPage } from '@weir/config-model';
import type { Fault } from '../../http/validation/fault.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../revisions/configuration-writer.js';

export const BLOCK_PAGES: EntityTable<'blockPage', BlockPage> = {
  kind: 'blockPage',
  sql: 'SELECT id, type FROM block_page ORDER BY id',
  toEntity: (row) => row,
};

export function findBlockPage(tx: Transaction, id: number): Promise<BlockPage | null> {
  return tx.blockPage.findUnique({ where: { id } });
}

export function unknownBlockPage(id: number, loc: readonly string[]): Fault {
  return { loc, msg: `Block page ${id} does not exist`, type: 'reference' };
}
