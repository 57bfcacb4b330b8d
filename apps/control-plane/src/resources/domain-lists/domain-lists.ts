import { Body, Controller, Param } from '@nestjs/common';
import { type DomainRule, RuleVerdict } from '@weir/config-model';
import { orNotFound } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint } from '../../http/routing/endpoint.js';
import type { EntityChange } from '../../revisions/change-record.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from '../profiles/profile-store.js';
import { ProfilePath, type RuleStatus } from '../profiles/profile.dto.js';
import { DomainHasher } from './domain-check.js';
import { type DomainRuleKey, openDomainRules } from './domain-rule-store.js';
import {
  AddDomainDto,
  AddDomainsDto,
  DomainPath,
  PatchDomainDto,
  StoredDomainRuleDto,
  toDto,
} from './domain-rule.dto.js';

/** Allow and deny lists of profiles. Domains are known only by their hashes. */
@Controller()
export class DomainListsController {
  constructor(
    private readonly writer: ConfigurationWriter,
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
    @Body() { domain, type }: AddDomainDto,
  ): Answer<StoredDomainRuleDto> {
    const stored = await this.put(path.profile_id, [domain], type);
    return stored.map(([rule]) => rule);
  }

  @ApiEndpoint('POST /profile/:profile_id/bw_list/batch', {
    path: ProfilePath,
    body: AddDomainsDto,
    summary: 'Sets the rules of several domains',
    answer: [StoredDomainRuleDto],
    errors: [404],
  })
  addAll(
    @Param() path: ProfilePath,
    @Body() { domains, type }: AddDomainsDto,
  ): Answer<StoredDomainRuleDto[]> {
    return this.put(path.profile_id, domains, type);
  }

  /** Creates or replaces rules (decisions §2). @returns the rules in the order of the domains, without duplicates. */
  private put(
    profileId: number,
    domains: readonly string[],
    type: RuleStatus,
  ): Answer<StoredDomainRuleDto[]> {
    const verdict = RuleVerdict[type];
    const hashes = new Set(domains.map((domain) => this.hasher.hash(domain)));
    const after = Array.from(hashes, (domainHash) => ({ profileId, domainHash, verdict }));
    return this.writer.write({
      items: after.length,
      need: (tables) => needRules(tables, profileId, after),
      make: (tables) => {
        tables.of(WorkingProfiles.open).require(profileId);
        return { result: after.map(toDto), changes: after.map((rule) => putRule(tables, rule)) };
      },
    });
  }

  @ApiEndpoint('PATCH /profile/:profile_id/bw_list/:domain', {
    path: DomainPath,
    body: PatchDomainDto,
    repeats: { profile_id: ['profile_id'], domain: ['domain'] },
    summary: 'Changes the rule of a domain',
    answer: StoredDomainRuleDto,
    errors: [404],
  })
  update(@Param() path: DomainPath, @Body() { type }: PatchDomainDto): Answer<StoredDomainRuleDto> {
    const after = { ...this.keyOf(path), verdict: RuleVerdict[type] };
    return this.writer.write({
      need: (tables) => needRules(tables, after.profileId, [after]),
      make: (tables) => {
        requireRule(tables, after);
        return { result: toDto(after), changes: [putRule(tables, after)] };
      },
    });
  }

  @ApiEndpoint('DELETE /profile/:profile_id/bw_list/:domain', {
    path: DomainPath,
    summary: 'Deletes the rule of a domain',
    errors: [404],
  })
  remove(@Param() path: DomainPath): Answer<void> {
    const key = this.keyOf(path);
    return this.writer.write({
      need: (tables) => needRules(tables, key.profileId, [key]),
      make: (tables) => {
        const before = requireRule(tables, key);
        tables.of(openDomainRules).delete(key);
        return { result: undefined, changes: [{ kind: 'domainRule', before, after: null }] };
      },
    });
  }

  private keyOf({ profile_id: profileId, domain }: DomainPath): DomainRuleKey {
    return { profileId, domainHash: this.hasher.hash(domain) };
  }
}

function needRules(tables: WorkingTables, profileId: number, keys: readonly DomainRuleKey[]): void {
  tables.of(WorkingProfiles.open).needId(profileId);
  const rules = tables.of(openDomainRules);
  for (const key of keys) rules.need(key);
}

function requireRule(tables: WorkingTables, key: DomainRuleKey): DomainRule {
  tables.of(WorkingProfiles.open).require(key.profileId);
  // The message names the profile, but never the domain (decisions §8).
  return orNotFound(
    tables.of(openDomainRules).find(key),
    `domain rule of profile ${key.profileId}`,
  );
}

function putRule(tables: WorkingTables, after: DomainRule): EntityChange {
  const rules = tables.of(openDomainRules);
  const before = rules.find(after);
  rules.put(after);
  return { kind: 'domainRule', before, after };
}
