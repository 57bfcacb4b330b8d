import type { FeedSource, SnapshotPart, StoredImage } from '@weir/change-feed';
import { type EncodedChange, ENTITY_KINDS, type Head } from '@weir/config-model';
import { findImage } from '../catalogue/catalogue-store.js';
import type { Database } from '../database/database.js';
import { Snapshot } from '../database/snapshot.js';
import { SNAPSHOT_TABLES } from './entity-tables.js';

/** Stored size of the operations behind which a page of changes ends; one change is a page, however large. */
const PAGE_BYTES = 1024 * 1024;

/** What followers read, straight from the database. */
export class DatabaseFeedSource implements FeedSource {
  /** The newest revision read so far; the publisher reads the head each second. */
  lastRevision = 0;

  constructor(private readonly database: Database) {}

  async head(): Promise<Head> {
    const { rows } = await this.database.pool.query<Head>(
      'SELECT revision::float8 AS revision, digest FROM config_head',
    );
    const [head] = rows;
    if (head === undefined) throw new Error('config_head has lost its row');
    this.lastRevision = head.revision;
    return head;
  }

  async changesAfter(revision: number, limit: number): Promise<readonly EncodedChange[] | null> {
    const { rows } = await this.database.pool.query<EncodedChange>(
      // The sizes are those stored, compressed: known without reading the operations.
      `SELECT revision::float8 AS revision, digest, operations FROM (
         SELECT *, sum(pg_column_size(operations)) OVER (ORDER BY revision) - pg_column_size(operations) AS bytes_before
         FROM (SELECT * FROM change WHERE revision > $1 ORDER BY revision LIMIT $2) AS next
       ) AS page WHERE bytes_before < $3 ORDER BY page.revision`,
      [revision, limit, PAGE_BYTES],
    );
    // A log that was trimmed begins later; one that is empty may be so because nothing ever changed.
    const [first] = rows;
    if (first === undefined) return (await this.head()).revision > revision ? null : [];
    return first.revision === revision + 1 ? rows : null;
  }

  async *snapshot(): AsyncGenerator<SnapshotPart> {
    const snapshot = await Snapshot.open(this.database.pool);
    try {
      yield { type: 'head', ...snapshot.head };
      for (const kind of ENTITY_KINDS) {
        const table = SNAPSHOT_TABLES[kind];
        for await (const page of snapshot.pages(table.sql)) {
          yield { type: 'rows', kind, rows: page.map((row) => table.toRow(row)) };
        }
      }
    } finally {
      await snapshot.close();
    }
  }

  catalogueImage(sha256: string): Promise<StoredImage | null> {
    return findImage(this.database.pool, sha256);
  }
}
