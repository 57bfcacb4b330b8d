import { Body, Controller, Param } from '@nestjs/common';
import { RuleVerdict } from '@weir/config-model';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import { DomainHasher } from './domain-check.js';
import { DomainListsService } from './domain-lists.service.js';
import {
  AddDomainDto,
  AddDomainsDto,
  DomainPath,
  PatchDomainDto,
  StoredDomainRuleDto,
  toDto,
} from './domain-rule.dto.js';

@Controller()
export class DomainListsController {
  constructor(
    private readonly lists: DomainListsService,
    private readonly hasher: DomainHasher,
  ) {}

  @ApiEndpoint('POST /profile/:profile_id/bw_list', {
    path: ProfilePath,
    body: AddDomainDto,
    summary: 'Sets the rule of a domain',
    answer: StoredDomainRuleDto,
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

  @ApiEndpoint('POST /profile/:profile_id/bw_list/batch', {
    path: ProfilePath,
    body: AddDomainsDto,
    summary: 'Sets the rules of several domains',
    answer: [StoredDomainRuleDto],
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

  @ApiEndpoint('PATCH /profile/:profile_id/bw_list/:domain', {
    path: DomainPath,
    body: PatchDomainDto,
    repeats: { profile_id: ['profile_id'], domain: ['domain'] },
    summary: 'Changes the rule of a domain',
    answer: StoredDomainRuleDto,
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

  @ApiEndpoint('DELETE /profile/:profile_id/bw_list/:domain', {
    path: DomainPath,
    summary: 'Deletes the rule of a domain',
    errors: [404],
  })
  remove(@Param() path: DomainPath): Promise<WithRevision<void>> {
    return this.lists.remove(path.profile_id, this.hasher.hash(path.domain));
  }
}
