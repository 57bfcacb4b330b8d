import type { CompiledCatalogue } from '@weir/catalogue';
import type { ActiveCatalogue } from '@weir/config-model';
import type { Logger } from '@weir/ops';
import type { Database } from '../../platform/database/database.js';
import type {
  ConfigurationWriter,
  LockedHead,
  Transaction,
  Written,
} from '../../revisions/configuration-writer.js';
import { findBySha256, findByVersion, findIdleRules, setActive } from '../store/catalogue-store.js';
import { dropOldImages, storeImage } from '../store/image-store.js';

/** Application ids in one line of the log. */
const MOST_REPORTED = 20;

/** Puts compiled catalogues into force: a change like any other, in the revision sequence. */
export class CatalogueActivation {
  constructor(
    private readonly database: Database,
    private readonly writer: ConfigurationWriter,
    private readonly log: Logger,
  ) {}

  /** Activates a catalogue unless the same one is active; of several replicas that try at once, one does. */
  async activate(compiled: CompiledCatalogue, inputsSha256: string): Promise<void> {
    await storeImage(this.database, compiled, inputsSha256);
    const active = await this.writer.writeUnless((tx, head) =>
      activateUnlessActive(tx, head, compiled.sha256),
    );
    if (active === null) return;
    // Not in the change: thousands of rows are deleted while nobody waits for them.
    await dropOldImages(this.database.pool);
    this.log.info({ ...active.result, revision: active.revision }, 'catalogue active');
    await this.reportIdleRules(compiled.applications.map(({ id }) => id));
  }

  /** Rules of an application that is gone are kept, as it may come back; an operator is told. */
  private async reportIdleRules(known: readonly number[]): Promise<void> {
    const idle = await findIdleRules(this.database.pool, known);
    if (idle.length === 0) return;
    const fields = {
      applications: idle.slice(0, MOST_REPORTED).map(({ applicationId }) => applicationId),
      applicationCount: idle.length,
      ruleCount: idle.reduce((sum, { rules }) => sum + rules, 0),
    };
    this.log.warn(fields, 'rules name applications that the catalogue does not have: no effect');
  }
}

async function activateUnlessActive(
  tx: Transaction,
  head: LockedHead,
  sha256: string,
): Promise<Written<ActiveCatalogue> | null> {
  const before =
    head.catalogueVersion === null ? null : await findByVersion(tx, head.catalogueVersion);
  if (before?.sha256 === sha256) return null;
  const after = await findBySha256(tx, sha256);
  if (after === null) throw new Error('the catalogue image was dropped before its activation');
  await setActive(tx, after.version);
  return { result: after, changes: [{ kind: 'catalogue', before, after }] };
}
