import { Body, Controller, Param } from '@nestjs/common';
import { conflict } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint, type Listed } from '../../http/routing/endpoint.js';
import { type Fault, throwIfFaults } from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { WorkingApplications } from '../applications/active-applications.js';
import { unknownBlockPage, WorkingBlockPages } from '../block-pages/block-page-store.js';
import { type ProfileRow, PROFILES, readProfile, WorkingProfiles } from './profile-store.js';
import {
  applicationFaults,
  patched,
  PatchProfileDto,
  ProfileDto,
  ProfilePath,
  toDraft,
  toDto,
  toProfile,
  toRule,
} from './profile.dto.js';

@Controller()
export class ProfilesController {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  @ApiEndpoint('GET /profiles/', {
    isListing: true,
    summary: 'All profiles, by id',
    answer: [ProfileDto],
  })
  list(): Listed<ProfileDto> {
    return this.reader.list(PROFILES.sql, (row: ProfileRow) => toDto(PROFILES.toEntity(row)));
  }

  @ApiEndpoint('POST /profiles/', {
    body: ProfileDto,
    summary: 'Creates a profile',
    answer: ProfileDto,
    errors: [409],
  })
  create(@Body() body: ProfileDto): Answer<ProfileDto> {
    const after = toProfile(toDraft(body));
    const { id } = after;
    return this.writer.write({
      items: itemsOf(body),
      need: (tables) => need(tables, id, body),
      make: (tables) => {
        const profiles = tables.of(WorkingProfiles.open);
        throwIfFaults(referenceFaults(tables, body));
        if (profiles.has(id)) throw conflict(`profile ${id} already exists`);
        profiles.put(after);
        return { result: toDto(after), changes: [{ kind: 'profile', before: null, after }] };
      },
    });
  }

  @ApiEndpoint('GET /profiles/:profile_id', {
    path: ProfilePath,
    summary: 'One profile',
    answer: ProfileDto,
    errors: [404],
  })
  async get(@Param() path: ProfilePath): Answer<ProfileDto> {
    return (await readProfile(this.reader, path.profile_id)).map(toDto);
  }

  @ApiEndpoint('PATCH /profiles/:profile_id', {
    path: ProfilePath,
    body: PatchProfileDto,
    repeats: { profile_id: ['profile', 'id'] },
    summary: 'Changes a profile; submitted collections replace the existing ones',
    answer: ProfileDto,
    errors: [404],
  })
  update(
    @Param() { profile_id: id }: ProfilePath,
    @Body() body: PatchProfileDto,
  ): Answer<ProfileDto> {
    return this.writer.write({
      items: itemsOf(body),
      need: (tables) => need(tables, id, body),
      make: (tables) => {
        const profiles = tables.of(WorkingProfiles.open);
        const before = profiles.get(id);
        throwIfFaults(referenceFaults(tables, body));
        const after = toProfile(patched(before, body));
        profiles.put(after);
        return { result: toDto(after), changes: [{ kind: 'profile', before, after }] };
      },
    });
  }
}

function itemsOf({ cat_ids, apps }: PatchProfileDto): number {
  return 1 + (cat_ids?.length ?? 0) + (apps?.length ?? 0);
}

function need(tables: WorkingTables, profileId: number, { profile, apps }: PatchProfileDto): void {
  tables.of(WorkingProfiles.open).need({ id: profileId });
  const { page_id: id } = profile ?? {};
  if (typeof id === 'number') tables.of(WorkingBlockPages.open).need({ id });
  if (apps !== undefined) tables.of(WorkingApplications.open);
}

/** A fault for each unknown block page and application, and for each duplicate application. */
function referenceFaults(tables: WorkingTables, { profile, apps }: PatchProfileDto): Fault[] {
  const faults: Fault[] = [];
  const { page_id: id } = profile ?? {};
  if (typeof id === 'number' && tables.of(WorkingBlockPages.open).find({ id }) === null) {
    faults.push(unknownBlockPage(id, ['body', 'profile', 'page_id']));
  }
  if (apps !== undefined) {
    const { names } = tables.of(WorkingApplications.open);
    const locationOf = (i: number): string[] => ['body', 'apps', String(i), 'app_id'];
    faults.push(...applicationFaults(apps.map(toRule), names, locationOf));
  }
  return faults;
}
