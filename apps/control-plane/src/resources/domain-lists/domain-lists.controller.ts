import { Body, Controller, Delete, Param, Patch, Post } from '@nestjs/common';
import { RuleVerdict } from '@weir/config-model';
import { ApiResponse, ApiRequest } from '../../http/routing/request-shape.js';
import type { Json } from '../../http/validation/json.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ProfilePath } from '../profiles/profile-path.js';
import { DomainHasher } from './domain-hasher.js';
import { DomainListsService } from './domain-lists.service.js';
import {
  AddDomainDto,
  AddDomainsDto,
  DomainPath,
  PatchDomainDto,
  StoredDomainRuleDto,
  toDto,
} from './domain-rule.dto.js';

@Controller('profile/:profile_id/bw_list')
export class DomainListsController {
  constructor(
    private readonly lists: DomainListsService,
    private readonly hasher: DomainHasher,
  ) {}

  @Post()
  @ApiRequest({ path: ProfilePath, body: AddDomainDto })
  @ApiResponse({
    summary: 'Sets the rule of a domain',
    status: 201,
    body: StoredDomainRuleDto,
    errors: [404],
  })
  async add(
    @Param() path: ProfilePath,
    @Body() body: AddDomainDto,
  ): Promise<WithRevision<Json<StoredDomainRuleDto>>> {
    const hash = this.hasher.hash(body.domain);
    const stored = await this.lists.put(path.profile_id, [hash], RuleVerdict[body.type]);
    return stored.map((rules) => toDto(rules[0]));
  }

  @Post('batch')
  @ApiRequest({ path: ProfilePath, body: AddDomainsDto })
  @ApiResponse({
    summary: 'Sets the rules of several domains',
    status: 201,
    body: [StoredDomainRuleDto],
    errors: [404],
  })
  async addAll(
    @Param() path: ProfilePath,
    @Body() body: AddDomainsDto,
  ): Promise<WithRevision<Json<StoredDomainRuleDto>[]>> {
    const hashes = body.domains.map((domain) => this.hasher.hash(domain));
    const stored = await this.lists.put(path.profile_id, hashes, RuleVerdict[body.type]);
    return stored.map((rules) => rules.map(toDto));
  }

  @Patch(':domain')
  @ApiRequest({
    path: DomainPath,
    body: PatchDomainDto,
    repeats: { profile_id: ['profile_id'], domain: ['domain'] },
  })
  @ApiResponse({
    summary: 'Changes the rule of a domain',
    status: 200,
    body: StoredDomainRuleDto,
    errors: [404],
  })
  async update(
    @Param() path: DomainPath,
    @Body() body: PatchDomainDto,
  ): Promise<WithRevision<Json<StoredDomainRuleDto>>> {
    const hash = this.hasher.hash(path.domain);
    const stored = await this.lists.update(path.profile_id, hash, RuleVerdict[body.type]);
    return stored.map(toDto);
  }

  @Delete(':domain')
  @ApiRequest({ path: DomainPath })
  @ApiResponse({ summary: 'Deletes the rule of a domain', status: 204, errors: [404] })
  remove(@Param() path: DomainPath): Promise<WithRevision<void>> {
    return this.lists.remove(path.profile_id, this.hasher.hash(path.domain));
  }
}
