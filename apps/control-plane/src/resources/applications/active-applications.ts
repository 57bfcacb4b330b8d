import {
  ACTIVE_APPLICATIONS,
  type CatalogueMetadata,
} from '../../catalogue/store/catalogue-store.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type {
  ConfigurationHead,
  ConfigurationReader,
} from '../../revisions/configuration-reader.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTable } from '../../revisions/working-tables.js';

/** The rows of `ACTIVE_APPLICATIONS`: one, or none while there is no catalogue. */
type Rows = readonly Pick<CatalogueMetadata, 'applications'>[];

/** The applications in the catalogue in force. */
export interface ActiveApplications {
  readonly head: ConfigurationHead;
  /** By application id; empty while there is no catalogue. */
  readonly names: ReadonlyMap<number, string>;
}

export function readApplications(
  reader: ConfigurationReader,
): Promise<WithRevision<ActiveApplications>> {
  return reader.read(ACTIVE_APPLICATIONS, (rows: Rows, head) => ({ head, names: namesOf(rows) }));
}

/** The applications for a group of changes: no change of a group puts another catalogue in force. */
export class WorkingApplications implements WorkingTable {
  static readonly open = (): WorkingApplications => new WorkingApplications();

  names: ActiveApplications['names'] = new Map();

  async read(tx: Transaction): Promise<void> {
    this.names = namesOf(await tx.$queryRaw<Rows>(ACTIVE_APPLICATIONS));
  }
}

/** By application id. */
export function namesOf([row]: Rows): ActiveApplications['names'] {
  return new Map(row?.applications.map(({ id, name }) => [id, name]));
}
