import { Injectable } from '@nestjs/common';
import type { Profile } from '@weir/config-model';
import { conflict } from '../../http/errors/errors.js';
import { type Fault, throwIfFaults } from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import {
  ConfigurationWriter,
  type LockedHead,
  type Transaction,
} from '../../revisions/configuration-writer.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ActiveCatalogueReader } from '../applications/active-catalogue-reader.js';
import { findBlockPage, unknownBlockPage } from '../block-pages/block-page-store.js';
import { applicationFaults } from './application-faults.js';
import {
  applyPatch,
  type ProfileDraft,
  type ProfileLocations,
  type ProfilePatch,
  toProfile,
} from './profile-draft.js';
import {
  findProfile,
  insertProfile,
  PROFILES,
  requireProfile,
  updateProfile,
} from './profile-store.js';

@Injectable()
export class ProfilesService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    private readonly catalogue: ActiveCatalogueReader,
  ) {}

  list<T>(convert: (profile: Profile) => T): Promise<WithRevision<Listing<T>>> {
    return this.reader.list(PROFILES.sql, (row: Parameters<typeof PROFILES.toEntity>[0]) =>
      convert(PROFILES.toEntity(row)),
    );
  }

  get(id: number): Promise<WithRevision<Profile>> {
    return this.reader.read((tx) => requireProfile(tx, id));
  }

  create(draft: ProfileDraft, locations: ProfileLocations): Promise<WithRevision<Profile>> {
    return this.writer.write(async (tx, head) => {
      throwIfFaults(await this.referenceFaults(tx, head, draft, locations));
      if (await findProfile(tx, draft.id)) throw conflict(`profile ${draft.id} already exists`);
      const after = toProfile(draft);
      await insertProfile(tx, after);
      return { result: after, changes: [{ kind: 'profile', before: null, after }] };
    });
  }

  update(
    id: number,
    patch: ProfilePatch,
    locations: ProfileLocations,
  ): Promise<WithRevision<Profile>> {
    return this.writer.write(async (tx, head) => {
      const before = await requireProfile(tx, id);
      throwIfFaults(await this.referenceFaults(tx, head, patch, locations));
      const after = toProfile(applyPatch(before, patch));
      await updateProfile(tx, before, after);
      return { result: after, changes: [{ kind: 'profile', before, after }] };
    });
  }

  /** A fault for each unknown block page and application, and for each duplicate application. */
  private async referenceFaults(
    tx: Transaction,
    head: LockedHead,
    { pageId, applicationRules }: Partial<ProfilePatch>,
    locations: ProfileLocations,
  ): Promise<Fault[]> {
    const faults: Fault[] = [];
    if (typeof pageId === 'number' && !(await findBlockPage(tx, pageId))) {
      faults.push(unknownBlockPage(pageId, locations.pageId));
    }
    const applications = await this.catalogue.applications(tx, head);
    faults.push(
      ...applicationFaults(applicationRules ?? [], applications, (i) => locations.application(i)),
    );
    return faults;
  }
}
