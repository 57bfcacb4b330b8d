import { Body, Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { ProfilePath } from './profile-path.js';
import type { Json } from '../../http/validation/json.js';
import { Gives, Takes } from '../../http/routing/shape.js';
import type { Listing, Revised } from '../../revisions/revised.js';
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
  @Gives({ summary: 'All profiles, by id', status: 200, body: [ProfileDto] })
  list(): Promise<Revised<Listing<Json<ProfileDto>>>> {
    return this.profiles.list(toDto);
  }

  @Post()
  @Takes({ body: ProfileDto })
  @Gives({ summary: 'Creates a profile', status: 201, body: ProfileDto, refusals: [409] })
  async create(@Body() body: ProfileDto): Promise<Revised<Json<ProfileDto>>> {
    return (await this.profiles.create(toDraft(body), PROFILE_LOCATIONS)).map(toDto);
  }

  @Get(':profile_id')
  @Takes({ path: ProfilePath })
  @Gives({ summary: 'One profile', status: 200, body: ProfileDto, refusals: [404] })
  async get(@Param() path: ProfilePath): Promise<Revised<Json<ProfileDto>>> {
    return (await this.profiles.get(path.profile_id)).map(toDto);
  }

  @Patch(':profile_id')
  @Takes({ path: ProfilePath, body: PatchProfileDto, repeats: { profile_id: ['profile', 'id'] } })
  @Gives({
    summary: 'Changes a profile; collections that are sent replace what was there',
    status: 200,
    body: ProfileDto,
    refusals: [404],
  })
  async update(
    @Param() path: ProfilePath,
    @Body() body: PatchProfileDto,
  ): Promise<Revised<Json<ProfileDto>>> {
    return (await this.profiles.update(path.profile_id, toPatch(body), PROFILE_LOCATIONS)).map(
      toDto,
    );
  }
}
