import { Injectable } from '@nestjs/common';
import { writeDelta } from '@weir/catalogue';
import type {
  FeedSource,
  ImageDelta,
  LogPage,
  SnapshotPart,
  SnapshotSource,
  StoredBytes,
} from '@weir/change-feed';
import { ENTITY_KINDS, type Head, type LogPoint } from '@weir/config-model';
import { findImage } from '../catalogue/store/catalogue-store.js';
import { Database } from '../platform/database/database.js';
import { headOf, readHead, Snapshot } from '../platform/database/snapshot.js';
import { ENTITY_TABLES, toFeedRow } from './entity-tables.js';

/** A page of changes ends when the stored size of its operations exceeds this. It has at least one change. */
const PAGE_BYTES = 1024 * 1024;

/** One statement, so that head and changes are consistent. The stored size is known without reading the operations. */
const READ_LOG = `
  SELECT head.lineage, head.revision::float8 AS head_revision, head.digest AS head_digest,
         page.revision::float8 AS revision, page.digest, page.operations::text
  FROM config_head AS head LEFT JOIN (
    SELECT *, sum(pg_column_size(operations)) OVER (ORDER BY revision) - pg_column_size(operations) AS bytes_before
    FROM (SELECT * FROM change WHERE revision > $1 ORDER BY revision LIMIT $2) AS next
  ) AS page ON bytes_before < $3
  ORDER BY page.revision`;

/** One statement. The first change that is kept is not pruned, so those after it are not either. */
const READ_CONTINUATION = `
  SELECT lineage, revision::float8 AS revision, digest,
         lineage = $1 AND CASE WHEN revision = $2 THEN digest = $3
           ELSE EXISTS (SELECT FROM change WHERE change.revision = $2 AND change.digest = $3) END AS "isContinued"
  FROM config_head`;

/** A change with the head; when there is no change, only the head. */
interface LogRow {
  readonly lineage: string;
  readonly head_revision: number;
  readonly head_digest: string;
  readonly revision: number | null;
  readonly digest: string | null;
  readonly operations: string;
}

/** Reads from the database what followers request. */
@Injectable()
export class DatabaseFeedSource implements FeedSource, SnapshotSource {
  /** The head that was read last. The publisher reads it each second. */
  lastHead: Head | null = null;

  constructor(private readonly database: Database) {}

  async head(): Promise<Head> {
    this.lastHead = await readHead(this.database.pool);
    return this.lastHead;
  }

  async changesAfter(revision: number, limit: number): Promise<LogPage> {
    const values = [revision, limit, PAGE_BYTES];
    const { rows } = await this.database.pool.query<LogRow>(READ_LOG, values);
    const { lineage, head_revision, head_digest } = headOf(rows);
    const head: Head = { lineage, revision: head_revision, digest: head_digest };
    this.lastHead = head;
    const changes = rows
      .filter((row): row is LogRow & LogPoint => row.revision !== null)
      .map((row) => ({ revision: row.revision, digest: row.digest, operations: row.operations }));
    const isPruned = head.revision > revision && changes[0]?.revision !== revision + 1;
    return { head, changes: isPruned ? null : changes };
  }

  async continuation(point: Head): Promise<{ head: Head; isContinued: boolean }> {
    type Row = Head & { readonly isContinued: boolean };
    const values = [point.lineage, point.revision, point.digest];
    const { rows } = await this.database.pool.query<Row>(READ_CONTINUATION, values);
    const { isContinued, ...head } = headOf(rows);
    return { head, isContinued };
  }

  async *snapshot(): AsyncGenerator<SnapshotPart> {
    const snapshot = await Snapshot.open(this.database.snapshots);
    try {
      yield { type: 'head', ...snapshot.head };
      for (const kind of ENTITY_KINDS) {
        for await (const page of snapshot.pages(ENTITY_TABLES[kind].sql)) {
          yield { type: 'rows', kind, rows: page.map((row) => toFeedRow(kind, row)) };
        }
      }
    } finally {
      await snapshot.close();
    }
  }

  catalogueImage(sha256: string): Promise<StoredBytes | null> {
    return findImage(this.database.pool, sha256);
  }

  async imageDelta(baseSha256: string, sha256: string): Promise<ImageDelta | null> {
    const base = await this.catalogueImage(baseSha256);
    const image = base && (await this.catalogueImage(sha256));
    return image && { baseBytes: base.sizeBytes, bytes: writeDelta(base, image) };
  }
}
