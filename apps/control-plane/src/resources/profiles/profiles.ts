import { Body, Controller, Injectable, Param } from '@nestjs/common';
import type { Profile } from '@weir/config-model';
import { conflict } from '../../http/errors/errors.js';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import { type Fault, throwIfFaults } from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { Listing, WithRevision } from '../../revisions/with-revision.js';
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
import { PROFILES, readProfile, WorkingProfiles } from './profile-store.js';
import {
  PatchProfileDto,
  ProfileDto,
  ProfilePath,
  toDraft,
  toDto,
  toPatch,
} from './profile.dto.js';

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

@Controller()
export class ProfilesController {
  constructor(private readonly profiles: ProfilesService) {}

  @ApiEndpoint('GET /profiles/', {
    isListing: true,
    summary: 'All profiles, by id',
    answer: [ProfileDto],
  })
  list(): Promise<WithRevision<Listing<Json<ProfileDto>>>> {
    return this.profiles.list(toDto);
  }

  @ApiEndpoint('POST /profiles/', {
    body: ProfileDto,
    summary: 'Creates a profile',
    answer: ProfileDto,
    errors: [409],
  })
  async create(@Body() body: ProfileDto): Promise<WithRevision<Json<ProfileDto>>> {
    return (await this.profiles.create(toDraft(body))).map(toDto);
  }

  @ApiEndpoint('GET /profiles/:profile_id', {
    path: ProfilePath,
    summary: 'One profile',
    answer: ProfileDto,
    errors: [404],
  })
  async get(@Param() path: ProfilePath): Promise<WithRevision<Json<ProfileDto>>> {
    return (await this.profiles.get(path.profile_id)).map(toDto);
  }

  @ApiEndpoint('PATCH /profiles/:profile_id', {
    path: ProfilePath,
    body: PatchProfileDto,
    repeats: { profile_id: ['profile', 'id'] },
    summary: 'Changes a profile; submitted collections replace the existing ones',
    answer: ProfileDto,
    errors: [404],
  })
  async update(
    @Param() path: ProfilePath,
    @Body() body: PatchProfileDto,
  ): Promise<WithRevision<Json<ProfileDto>>> {
    return (await this.profiles.update(path.profile_id, toPatch(body))).map(toDto);
  }
}
