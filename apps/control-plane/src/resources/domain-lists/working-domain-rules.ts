import type { DomainRule } from '@weir/config-model';
import type { Transaction } from '../../revisions/configuration-writer.js';
import { WorkingRows } from '../../revisions/working-rows.js';
import type { WorkingTable, WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from '../profiles/working-profiles.js';
import {
  deleteDomainRules,
  type DomainRuleKey,
  findDomainRules,
  putDomainRules,
} from './domain-rule-store.js';

/** The domain rules that a group of changes needs. */
export class WorkingDomainRules implements WorkingTable {
  static readonly open = (tables: WorkingTables): WorkingDomainRules => {
    tables.of(WorkingProfiles.open);
    return new WorkingDomainRules();
  };

  private readonly rows = new WorkingRows<DomainRule>();
  private readonly needed: DomainRuleKey[] = [];

  need(key: DomainRuleKey): void {
    this.rows.need(textOf(key));
    this.needed.push(key);
  }

  find(key: DomainRuleKey): DomainRule | null {
    return this.rows.get(textOf(key));
  }

  put(rule: DomainRule): void {
    this.rows.set(textOf(rule), rule);
  }

  delete(key: DomainRuleKey): void {
    this.rows.set(textOf(key), null);
  }

  async read(tx: Transaction): Promise<void> {
    if (this.needed.length === 0) return;
    for (const rule of await findDomainRules(tx, this.needed)) this.rows.load(textOf(rule), rule);
  }

  async write(tx: Transaction): Promise<void> {
    const { deleted, inserted, replaced } = this.rows.split();
    await deleteDomainRules(tx, deleted);
    await putDomainRules(tx, inserted.concat(replaced));
  }
}

function textOf({ profileId, domainHash }: DomainRuleKey): string {
  return `${profileId} ${domainHash}`;
}
