import { Body, Controller, Param } from '@nestjs/common';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { DomainHasher } from '../domain-lists/domain-check.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import { GrantDto, GrantPath, StoredGrantDto, toDto, toGrant, toKey } from './grant.dto.js';
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
    summary: 'The grants of a profile that hold, by their end',
    answer: [StoredGrantDto],
    errors: [404],
  })
  async list(@Param() path: ProfilePath): Promise<WithRevision<Json<StoredGrantDto>[]>> {
    return (await this.grants.list(path.profile_id)).map((all) => all.map(toDto));
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
