import { Body, Controller, Param, Query } from '@nestjs/common';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { DomainHasher } from '../domain-lists/domain-check.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import {
  GrantDto,
  GrantPath,
  GrantsQuery,
  readPlace,
  StoredGrantDto,
  toDto,
  toGrant,
  toKey,
} from './grant.dto.js';
import { GrantsService } from './grants.service.js';

const TAG = 'grants';

@Controller()
export class GrantsController {
  constructor(
    private readonly grants: GrantsService,
    private readonly hasher: DomainHasher,
  ) {}

  @ApiEndpoint('GET /profile/:profile_id/grants', {
    tag: TAG,
    path: ProfilePath,
    query: GrantsQuery,
    summary: 'The grants of a profile that hold, by their end',
    description:
      'Without parameters it answers all. A page begins after the last grant of the one before.',
    answer: [StoredGrantDto],
    errors: [404],
  })
  async list(
    @Param() { profile_id: id }: ProfilePath,
    @Query() { after, limit }: GrantsQuery,
  ): Promise<WithRevision<Json<StoredGrantDto>[]>> {
    const place = after === undefined ? null : readPlace(after);
    return (await this.grants.list(id, place, limit ?? null)).map((all) => all.map(toDto));
  }

  @ApiEndpoint('GET /profile/:profile_id/grants/:id', {
    tag: TAG,
    path: GrantPath,
    summary: 'One grant that holds',
    answer: StoredGrantDto,
    errors: [404],
  })
  async get(@Param() path: GrantPath): Promise<WithRevision<Json<StoredGrantDto>>> {
    return (await this.grants.get(toKey(path))).map(toDto);
  }

  @ApiEndpoint('POST /profile/:profile_id/grants', {
    tag: TAG,
    path: ProfilePath,
    body: GrantDto,
    summary: 'Allows or denies a domain for a while; it replaces the grant of the same domain',
    answer: StoredGrantDto,
    errors: [404],
  })
  async create(
    @Param() path: ProfilePath,
    @Body() body: GrantDto,
  ): Promise<WithRevision<Json<StoredGrantDto>>> {
    const grant = toGrant(path.profile_id, body, (domain) => this.hasher.hash(domain));
    return (await this.grants.put(grant)).map(toDto);
  }

  @ApiEndpoint('DELETE /profile/:profile_id/grants/:id', {
    tag: TAG,
    path: GrantPath,
    summary: 'Ends a grant',
    errors: [404],
  })
  remove(@Param() path: GrantPath): Promise<WithRevision<void>> {
    return this.grants.remove(toKey(path));
  }
}
