import { Body, Controller, Injectable, Param } from '@nestjs/common';
import { type DomainRule, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { EntityChange } from '../../revisions/change-record.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from '../profiles/profile-store.js';
import { ProfilePath } from '../profiles/profile.dto.js';
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
@Injectable()
export class DomainListsService {
  constructor(private readonly writer: ConfigurationWriter) {}

  /** Creates or replaces rules (decisions §2). @returns the rules in the order of the hashes, without duplicates. */
  put(
    profileId: number,
    hashes: readonly number[],
    verdict: RuleVerdict,
  ): Promise<WithRevision<DomainRule[]>> {
    const after = Array.from(new Set(hashes), (domainHash) => ({ profileId, domainHash, verdict }));
    return this.writer.write({
      items: after.length,
      need: (tables) => needRules(tables, profileId, after),
      make: (tables) => {
        tables.of(WorkingProfiles.open).require(profileId);
        return { result: after, changes: after.map((rule) => putRule(tables, rule)) };
      },
    });
  }

  update(profileId: number, hash: number, verdict: RuleVerdict): Promise<WithRevision<DomainRule>> {
    const after = { profileId, domainHash: hash, verdict };
    return this.writer.write({
      need: (tables) => needRules(tables, profileId, [after]),
      make: (tables) => {
        requireRule(tables, after);
        return { result: after, changes: [putRule(tables, after)] };
      },
    });
  }

  remove(profileId: number, hash: number): Promise<WithRevision<void>> {
    const key = { profileId, domainHash: hash };
    return this.writer.write({
      need: (tables) => needRules(tables, profileId, [key]),
      make: (tables) => {
        const before = requireRule(tables, key);
        tables.of(openDomainRules).delete(key);
        return { result: undefined, changes: [{ kind: 'domainRule', before, after: null }] };
      },
    });
  }
}

function needRules(tables: WorkingTables, profileId: number, keys: readonly DomainRuleKey[]): void {
  tables.of(WorkingProfiles.open).needId(profileId);
  const rules = tables.of(openDomainRules);
  for (const key of keys) rules.need(key);
}

function requireRule(tables: WorkingTables, key: DomainRuleKey): DomainRule {
  tables.of(WorkingProfiles.open).require(key.profileId);
  const rule = tables.of(openDomainRules).find(key);
  // The message names the profile, but never the domain (decisions §8).
  if (rule === null) throw notFound(`domain rule of profile ${key.profileId}`);
  return rule;
}

function putRule(tables: WorkingTables, after: DomainRule): EntityChange {
  const rules = tables.of(openDomainRules);
  const before = rules.find(after);
  rules.put(after);
  return { kind: 'domainRule', before, after };
}

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
