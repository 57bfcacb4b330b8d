import { Injectable } from '@nestjs/common';
import type { DomainRule, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import { ConfigurationWriter, type Transaction } from '../../revisions/configuration-writer.js';
import type { EntityChange } from '../../revisions/entity-change.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { requireProfile } from '../profiles/profile-store.js';
import { deleteDomainRule, findDomainRules, putDomainRules } from './domain-rule-store.js';

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
    return this.writer.write(async (tx) => {
      await requireProfile(tx, profileId);
      const distinct = [...new Set(hashes)];
      const before = await findDomainRules(tx, profileId, distinct);
      await putDomainRules(tx, profileId, distinct, verdict);
      const rules = distinct.map((domainHash) => ({ profileId, domainHash, verdict }));
      const changes = rules.map((after): EntityChange => ({
        kind: 'domainRule',
        before: before.get(after.domainHash) ?? null,
        after,
      }));
      return { result: rules, changes };
    });
  }

  update(profileId: number, hash: number, verdict: RuleVerdict): Promise<WithRevision<DomainRule>> {
    return this.writer.write(async (tx) => {
      const before = await this.requireRule(tx, profileId, hash);
      await putDomainRules(tx, profileId, [hash], verdict);
      const after = { ...before, verdict };
      return { result: after, changes: [{ kind: 'domainRule', before, after }] };
    });
  }

  remove(profileId: number, hash: number): Promise<WithRevision<void>> {
    return this.writer.write(async (tx) => {
      const before = await this.requireRule(tx, profileId, hash);
      await deleteDomainRule(tx, before);
      return { result: undefined, changes: [{ kind: 'domainRule', before, after: null }] };
    });
  }

  private async requireRule(tx: Transaction, profileId: number, hash: number): Promise<DomainRule> {
    await requireProfile(tx, profileId);
    const rule = (await findDomainRules(tx, profileId, [hash])).get(hash);
    // The message names the profile, but never the domain (decisions §8).
    if (rule === undefined) throw notFound(`domain rule of profile ${profileId}`);
    return rule;
  }
}
