import { Injectable } from '@nestjs/common';
import { readApplications } from '../resources/applications/active-catalogue-reader.js';
import { DomainHasher } from '../resources/domain-lists/domain-hasher.js';
import { ConfigurationReader, type ConfigurationHead } from '../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../revisions/configuration-writer.js';
import type { WithRevision } from '../revisions/with-revision.js';
import { findDraftFaults } from './check/draft-faults.js';
import type { Draft } from './draft/draft.js';
import { digestOfDraft } from './load/draft-digest.js';
import { replaceConfiguration } from './load/replace-configuration.js';
import { FaultList } from './read/fault-list.js';
import { HeldBodies } from '../http/pipeline/held-bodies.js';
import { readInit } from './read/init-reader.js';

/** Replaces the whole configuration with a submitted one. */
@Injectable()
export class InitService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    private readonly hasher: DomainHasher,
    private readonly bodies: HeldBodies,
  ) {}

  /** It waits for other changes only when the body is there and has been checked. */
  async replace(body: AsyncIterable<Uint8Array>): Promise<WithRevision<void>> {
    return this.bodies.hold(body, async (counted) =>
      this.load(await readInit(counted, this.hasher)),
    );
  }

  private async load(draft: Draft): Promise<WithRevision<void>> {
    // Checked before the head is locked, so that an invalid body does not delay other changes.
    const checkedWith = await this.check(draft);
    const digest = await digestOfDraft(draft);
    return this.writer.replace(async (client, head) => {
      const isSame =
        head.lineage === checkedWith.lineage &&
        head.catalogueVersion === checkedWith.catalogueVersion;
      if (!isSame) await this.check(draft);
      return replaceConfiguration(client, draft, digest);
    });
  }

  /** @returns the head with the catalogue that the draft was checked against. @throws InvalidRequestError */
  private async check(draft: Draft): Promise<ConfigurationHead> {
    const { head, names } = (await readApplications(this.reader)).result;
    const faults = new FaultList();
    await findDraftFaults(draft, names, faults);
    faults.throwIfAny();
    return head;
  }
}
