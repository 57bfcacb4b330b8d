import {
  ACTIVE_APPLICATIONS,
  type CatalogueMetadata,
  findMetadata,
} from '../../catalogue/store/catalogue-store.js';
import type {
  ConfigurationHead,
  ConfigurationReader,
} from '../../revisions/configuration-reader.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { LockedHead } from '../../revisions/change-log.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTable } from '../../revisions/working-tables.js';

export interface ActiveApplications {
  readonly head: ConfigurationHead;
  /** By application id; empty while there is no catalogue. */
  readonly names: ReadonlyMap<number, string>;
}

const EMPTY: ReadonlyMap<number, string> = new Map();

/** Reads the applications in the active catalogue. */
export function readApplications(
  reader: ConfigurationReader,
): Promise<WithRevision<ActiveApplications>> {
  return reader.read(
    ACTIVE_APPLICATIONS,
    ([row]: Pick<CatalogueMetadata, 'applications'>[], head) => ({
      head,
      names: row === undefined ? EMPTY : namesOf(row.applications),
    }),
  );
}

/** The applications in the active catalogue. An image never changes, so the last one read is cached. */
export class ActiveCatalogueReader {
  /** Opens the applications for a group of changes. */
  readonly open = (): KnownApplications => new KnownApplications(this);

  private cachedHead: ConfigurationHead | null = null;
  private cached = EMPTY;

  /**
   * @param head the head that is locked in this transaction.
   * @returns names by application id; empty while there is no catalogue.
   */
  async applications(
    tx: Transaction,
    head: ConfigurationHead,
  ): Promise<ReadonlyMap<number, string>> {
    const { lineage, catalogueVersion: version } = head;
    if (version === null) return EMPTY;
    // After a restore of the database, the same version may be a different image.
    if (version !== this.cachedHead?.catalogueVersion || lineage !== this.cachedHead.lineage) {
      const metadata = await findMetadata(tx, version);
      if (metadata === null) throw new Error(`catalogue ${version} is active but not stored`);
      this.cached = namesOf(metadata.applications);
      this.cachedHead = head;
    }
    return this.cached;
  }
}

/** The applications in the active catalogue, for a group of changes: no change of a group activates another one. */
class KnownApplications implements WorkingTable {
  /** By application id. */
  names = EMPTY;

  constructor(private readonly catalogue: ActiveCatalogueReader) {}

  async read(tx: Transaction, head: LockedHead): Promise<void> {
    this.names = await this.catalogue.applications(tx, head);
  }

  write(): Promise<void> {
    return Promise.resolve();
  }
}

/** By application id. */
export function namesOf(
  applications: CatalogueMetadata['applications'],
): ReadonlyMap<number, string> {
  return new Map(applications.map(({ id, name }) => [id, name]));
}
