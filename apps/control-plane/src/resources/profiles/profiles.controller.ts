import { Body, Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { Lists } from '../../http/callers/lists.js';
import { ApiResponse, ApiRequest } from '../../http/routing/request-shape.js';
import type { Json } from '../../http/validation/json.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ProfilePath } from './profile-path.js';
import {
  PatchProfileDto,
  PROFILE_LOCATIONS,
  ProfileDto,
  toDraft,
  toDto,
  toPatch,
} from './profile.dto.js';
import { ProfilesService } from './profiles.service.js';

@Controller('profiles')
export class ProfilesController {
  constructor(private readonly profiles: ProfilesService) {}

  @Get()
  @Lists(true)
  @ApiResponse({ summary: 'All profiles, by id', status: 200, body: [ProfileDto] })
  list(): Promise<WithRevision<Listing<Json<ProfileDto>>>> {
    return this.profiles.list(toDto);
  }

  @Post()
  @ApiRequest({ body: ProfileDto })
  @ApiResponse({ summary: 'Creates a profile', status: 201, body: ProfileDto, errors: [409] })
  async create(@Body() body: ProfileDto): Promise<WithRevision<Json<ProfileDto>>> {
    return (await this.profiles.create(toDraft(body), PROFILE_LOCATIONS)).map(toDto);
  }

  @Get(':profile_id')
  @ApiRequest({ path: ProfilePath })
  @ApiResponse({ summary: 'One profile', status: 200, body: ProfileDto, errors: [404] })
  async get(@Param() path: ProfilePath): Promise<WithRevision<Json<ProfileDto>>> {
    return (await this.profiles.get(path.profile_id)).map(toDto);
  }

  @Patch(':profile_id')
  @ApiRequest({
    path: ProfilePath,
    body: PatchProfileDto,
    repeats: { profile_id: ['profile', 'id'] },
  })
  @ApiResponse({
    summary: 'Changes a profile; submitted collections replace the existing ones',
    status: 200,
    body: ProfileDto,
    errors: [404],
  })
  async update(
    @Param() path: ProfilePath,
    @Body() body: PatchProfileDto,
  ): Promise<WithRevision<Json<ProfileDto>>> {
    return (await this.profiles.update(path.profile_id, toPatch(body), PROFILE_LOCATIONS)).map(
      toDto,
    );
  }
}
