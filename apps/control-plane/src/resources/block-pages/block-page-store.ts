import type { BlockPage } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { Fault } from '../../http/validation/fault.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { RowsTable, RowStore } from '../../revisions/working-tables.js';

export const BLOCK_PAGES: EntityTable<'blockPage'> = {
  kind: 'blockPage',
  sql: 'SELECT id, type FROM block_page ORDER BY id',
  toEntity: ({ id, type }) => ({ id, type }),
};

type BlockPageKey = Pick<BlockPage, 'id'>;

export function unknownBlockPage(id: number, loc: readonly string[]): Fault {
  return { loc, msg: `Block page ${id} does not exist`, type: 'reference' };
}

export function blockPageOf(id: number): Prisma.Sql {
  return Prisma.sql`SELECT id, type FROM block_page WHERE id = ${id}`;
}

const STORE = new RowStore<BlockPage, BlockPageKey>({
  name: 'block_page',
  key: { id: ['integer', ({ id }) => id] },
  rest: { type: ['smallint', ({ type }) => type] },
  select: 'id, type',
});

/** The block pages that a group of changes needs, and the profiles that show them. */
export class WorkingBlockPages extends RowsTable<BlockPage, BlockPageKey> {
  static readonly open = (): WorkingBlockPages => new WorkingBlockPages(STORE);

  /** The page of each profile that the group may change. Null: none. */
  private readonly pageOf = new Map<number, number | null>();
  /** The pages whose users are needed, with the lowest of all other profiles that show them. Null: none. */
  private readonly otherUsers = new Map<number, number | null>();

  needUser(id: number): void {
    this.otherUsers.set(id, null);
  }

  /** The lowest profile that shows a page. */
  findUser(id: number): number | null {
    const users = Array.from(this.pageOf, ([user, page]) => (page === id ? user : Infinity));
    const lowest = Math.min(this.otherUsers.get(id) ?? Infinity, ...users);
    return lowest === Infinity ? null : lowest;
  }

  /** A profile that the group may change shows this page. */
  setPageOf(profileId: number, pageId: number | null): void {
    this.pageOf.set(profileId, pageId);
  }

  override async read(tx: Transaction): Promise<void> {
    await super.read(tx);
    const pageIds = [...this.otherUsers.keys()];
    if (pageIds.length === 0) return;
    const users = await tx.$queryRaw<{ pageId: number; profileId: number }[]>`
      SELECT page.id AS "pageId", shown.id AS "profileId"
      FROM unnest(${pageIds}::integer[]) AS page (id)
      CROSS JOIN LATERAL (
        SELECT id FROM profile
        WHERE page_id = page.id AND id <> ALL (${[...this.pageOf.keys()]}::integer[]) ORDER BY id LIMIT 1
      ) AS shown`;
    for (const { pageId, profileId } of users) this.otherUsers.set(pageId, profileId);
  }

  async deleteReferenced(tx: Transaction): Promise<void> {
    await super.writeDeletions(tx);
  }

  /** A page is deleted when no profile refers to it any more. */
  protected override writeDeletions(): Promise<void> {
    return Promise.resolve();
  }
}
