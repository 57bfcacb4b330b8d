import type { CompiledCatalogue } from '@weir/catalogue';
import type { ActiveCatalogue } from '@weir/config-model';
import type { Logger } from '@weir/ops';
import type { ClientBase } from 'pg';
import type { Database } from '../../platform/database/database.js';
import { actAs } from '../../revisions/author.js';
import type { WorkResult } from '../../revisions/submitted-change.js';
import type { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import {
  findActive,
  findBySha256,
  findRulesWithoutApplication,
  setActive,
} from '../store/catalogue-store.js';
import { deleteOldImages, storeImage } from '../store/image-store.js';

/** Application ids, or domains, in one log line, at most. */
const MAX_REPORTED = 20;

/** Puts a compiled catalogue in force. Each activation is a change with a revision, like any other. */
export class CatalogueActivation {
  constructor(
    private readonly database: Database,
    private readonly writer: ConfigurationWriter,
    private readonly log: Logger,
  ) {}

  /** Activates a catalogue unless it is active already. When several replicas try at once, one of them does. */
  async activate(compiled: CompiledCatalogue, inputsSha256: string): Promise<void> {
    await storeImage(this.database.pool, compiled, inputsSha256);
    const active = await actAs({ origin: 'catalogue' }, () =>
      this.writer.writeAlone((client) => activateUnlessActive(client, compiled.sha256)),
    );
    if (active === null) return;
    // Outside of the change, because it deletes thousands of rows and no other change should wait for that.
    await deleteOldImages(this.database.pool);
    this.log.info({ ...active.result, revision: active.revision }, 'catalogue active');
    this.reportPopular(compiled);
    await this.reportRulesWithoutApplication(compiled.applications.map(({ id }) => id));
  }

  /** Warns of categories that block well-known domains. */
  private reportPopular({ popular }: CompiledCatalogue): void {
    for (const { categoryId, count, domains } of popular) {
      this.log.warn(
        { category: categoryId, count, examples: domains.slice(0, MAX_REPORTED) },
        'a category blocks well-known domains',
      );
    }
  }

  /** Warns of rules whose application is not in the catalogue. They are kept, because the application may return. */
  private async reportRulesWithoutApplication(known: readonly number[]): Promise<void> {
    const idle = await findRulesWithoutApplication(this.database.pool, known);
    if (idle.length === 0) return;
    const fields = {
      applications: idle.slice(0, MAX_REPORTED).map(({ applicationId }) => applicationId),
      applicationCount: idle.length,
      ruleCount: idle.reduce((sum, { rules }) => sum + rules, 0),
    };
    this.log.warn(
      fields,
      'some rules have no effect: the catalogue does not have their applications',
    );
  }
}

async function activateUnlessActive(
  client: ClientBase,
  sha256: string,
): Promise<WorkResult<ActiveCatalogue> | null> {
  const before = await findActive(client);
  if (before?.sha256 === sha256) return null;
  const after = await findBySha256(client, sha256);
  if (after === null) throw new Error('the catalogue image was deleted before its activation');
  await setActive(client, after.version);
  return { result: after, changes: [{ kind: 'catalogue', before, after }] };
}
