import { Injectable } from '@nestjs/common';
import type { Transaction } from '../revisions/configuration-writer.js';
import { findMetadata } from './catalogue-store.js';

const NONE: ReadonlyMap<number, string> = new Map();

/** Names of the applications that the active catalogue has. An image never changes, so the last one read is remembered. */
@Injectable()
export class ActiveCatalogueReader {
  private version: number | null = null;
  private known = NONE;

  /** @param version of the active catalogue; null while there is none, and then it has no applications. */
  async applications(
    tx: Transaction,
    version: number | null,
  ): Promise<ReadonlyMap<number, string>> {
    if (version === null) return NONE;
    if (version !== this.version) {
      const metadata = await findMetadata(tx, version);
      if (metadata === null) throw new Error(`catalogue ${version} is active but not stored`);
      this.known = new Map(metadata.applications.map(({ id, name }) => [id, name]));
      this.version = version;
    }
    return this.known;
  }
}
