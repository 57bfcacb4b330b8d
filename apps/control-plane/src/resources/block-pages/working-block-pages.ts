import type { BlockPage } from '@weir/config-model';
import type { Transaction } from '../../revisions/configuration-writer.js';
import { WorkingRows } from '../../revisions/working-rows.js';
import type { WorkingTable } from '../../revisions/working-tables.js';
import {
  deleteBlockPages,
  findBlockPages,
  findPageUsers,
  insertBlockPages,
  replaceBlockPages,
} from './block-page-store.js';

/** The block pages that a group of changes needs, and the profiles that show them. */
export class WorkingBlockPages implements WorkingTable {
  static readonly open = (): WorkingBlockPages => new WorkingBlockPages();

  private readonly rows = new WorkingRows<BlockPage, number>();
  /** The page of each profile that the group may change. Null: none. */
  private readonly pageOf = new Map<number, number | null>();
  /** The pages whose users are needed, with the lowest of all other profiles that show them. Null: none. */
  private readonly otherUsers = new Map<number, number | null>();

  need(id: number): void {
    this.rows.need(id);
  }

  needUser(id: number): void {
    this.otherUsers.set(id, null);
  }

  find(id: number): BlockPage | null {
    return this.rows.get(id);
  }

  /** The lowest profile that shows a page. */
  findUser(id: number): number | null {
    const users = Array.from(this.pageOf, ([user, page]) => (page === id ? user : Infinity));
    const lowest = Math.min(this.otherUsers.get(id) ?? Infinity, ...users);
    return lowest === Infinity ? null : lowest;
  }

  put(page: BlockPage): void {
    this.rows.set(page.id, page);
  }

  delete(id: number): void {
    this.rows.set(id, null);
  }

  /** A profile that the group may change shows this page. */
  setPageOf(profileId: number, pageId: number | null): void {
    this.pageOf.set(profileId, pageId);
  }

  async read(tx: Transaction): Promise<void> {
    const ids = this.rows.neededKeys;
    if (ids.length === 0) return;
    for (const page of await findBlockPages(tx, ids)) this.rows.load(page.id, page);
    const pageIds = [...this.otherUsers.keys()];
    if (pageIds.length === 0) return;
    for (const { pageId, profileId } of await findPageUsers(tx, pageIds, [...this.pageOf.keys()])) {
      this.otherUsers.set(pageId, profileId);
    }
  }

  async write(tx: Transaction): Promise<void> {
    const { inserted, replaced } = this.rows.split();
    await insertBlockPages(tx, inserted);
    await replaceBlockPages(tx, replaced);
  }

  async deleteReferenced(tx: Transaction): Promise<void> {
    await deleteBlockPages(tx, this.rows.split().deleted);
  }
}
