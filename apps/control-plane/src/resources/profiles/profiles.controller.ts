import { Body, Controller, Param } from '@nestjs/common';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import {
  ProfilePath,
  PatchProfileDto,
  ProfileDto,
  toDraft,
  toDto,
  toPatch,
} from './profile.dto.js';
import { ProfilesService } from './profiles.service.js';

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
