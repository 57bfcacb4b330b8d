import { Injectable } from '@nestjs/common';
import type { Profile } from '@weir/config-model';
import { conflict } from '../../http/errors/errors.js';
import { type Fault, throwIfFaults } from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { ActiveCatalogueReader } from '../applications/active-catalogue-reader.js';
import { unknownBlockPage, WorkingBlockPages } from '../block-pages/block-page-store.js';
import {
  applicationFaults,
  applyPatch,
  type ProfileDraft,
  type ProfilePatch,
  toProfile,
} from './profile-draft.js';
import { PROFILES, readProfile } from './profile-store.js';
import { WorkingProfiles } from './working-profiles.js';

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
    return readProfile(this.reader, id);
  }

  create(draft: ProfileDraft): Promise<WithRevision<Profile>> {
    return this.writer.write({
      items: itemsOf(draft),
      need: (tables) => {
        tables.of(WorkingProfiles.open).need(draft.id);
        this.needReferences(tables, draft);
      },
      make: (tables) => {
        const profiles = tables.of(WorkingProfiles.open);
        throwIfFaults(this.referenceFaults(tables, draft));
        if (profiles.has(draft.id)) throw conflict(`profile ${draft.id} already exists`);
        const after = toProfile(draft);
        profiles.put(after);
        return { result: after, changes: [{ kind: 'profile', before: null, after }] };
      },
    });
  }

  update(id: number, patch: ProfilePatch): Promise<WithRevision<Profile>> {
    return this.writer.write({
      items: itemsOf(patch),
      need: (tables) => {
        tables.of(WorkingProfiles.open).need(id);
        this.needReferences(tables, patch);
      },
      make: (tables) => {
        const profiles = tables.of(WorkingProfiles.open);
        const before = profiles.get(id);
        throwIfFaults(this.referenceFaults(tables, patch));
        const after = toProfile(applyPatch(before, patch));
        profiles.put(after);
        return { result: after, changes: [{ kind: 'profile', before, after }] };
      },
    });
  }

  private needReferences(
    tables: WorkingTables,
    { pageId, applicationRules }: Partial<ProfilePatch>,
  ): void {
    if (typeof pageId === 'number') tables.of(WorkingBlockPages.open).need({ id: pageId });
    if (applicationRules !== undefined) tables.of(this.catalogue.open);
  }

  /** A fault for each unknown block page and application, and for each duplicate application. */
  private referenceFaults(
    tables: WorkingTables,
    { pageId, applicationRules }: Partial<ProfilePatch>,
  ): Fault[] {
    const faults: Fault[] = [];
    if (
      typeof pageId === 'number' &&
      tables.of(WorkingBlockPages.open).find({ id: pageId }) === null
    ) {
      faults.push(unknownBlockPage(pageId, ['body', 'profile', 'page_id']));
    }
    if (applicationRules !== undefined) {
      const { names } = tables.of(this.catalogue.open);
      const locationOf = (i: number): string[] => ['body', 'apps', String(i), 'app_id'];
      faults.push(...applicationFaults(applicationRules, names, locationOf));
    }
    return faults;
  }
}

function itemsOf({ applicationRules, categoryIds }: Partial<ProfilePatch>): number {
  return 1 + (applicationRules?.length ?? 0) + (categoryIds?.length ?? 0);
}
