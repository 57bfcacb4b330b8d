import { Injectable } from '@nestjs/common';
import type { ConfigurationHead } from '../../revisions/configuration-reader.js';
import type { Transaction } from '../../revisions/configuration-writer.js';
import { findMetadata } from '../../catalogue/store/catalogue-store.js';

const NONE: ReadonlyMap<number, string> = new Map();

/**
 * Names of the applications that the active catalogue has. An image never changes, so the last one read is remembered.
 */
@Injectable()
export class ActiveCatalogueReader {
  private last: ConfigurationHead | null = null;
  private known = NONE;

  /** @param head that was read, or locked, in the transaction. While there is no catalogue it has no applications. */
  async applications(tx: Transaction, head: ConfigurationHead): Promise<ReadonlyMap<number, string>> {
    const { lineage, catalogueVersion: version } = head;
    if (version === null) return NONE;
    // In a database that was restored the same number may be another image.
    if (version !== this.last?.catalogueVersion || lineage !== this.last.lineage) {
      const metadata = await findMetadata(tx, version);
      if (metadata === null) throw new Error(`catalogue ${version} is active but not stored`);
      this.known = new Map(metadata.applications.map(({ id, name }) => [id, name]));
      this.last = head;
    }
    return this.known;
  }
}
