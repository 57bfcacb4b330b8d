import type { DomainRule, EntityKeys } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { RowsTable, RowStore, type WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from '../profiles/profile-store.js';

export type DomainRuleKey = EntityKeys['domainRule'];

const COLUMNS = 'profile_id AS "profileId", domain_hash::float8 AS "domainHash", verdict';

export const DOMAIN_RULES: EntityTable<'domainRule'> = {
  kind: 'domainRule',
  sql: `SELECT ${COLUMNS} FROM domain_rule ORDER BY profile_id, domain_hash`,
  toEntity: (row) => row,
};

export function domainRulesIn(profileIds: Prisma.Sql, hashes: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)} FROM domain_rule
    WHERE profile_id = ANY (${profileIds}) AND domain_hash = ANY (${hashes})`;
}

/** Of rules and of grants. */
export const DOMAIN_KEY = {
  profile_id: ['integer', ({ profileId }: DomainRuleKey) => profileId],
  domain_hash: ['bigint', ({ domainHash }: DomainRuleKey) => domainHash],
} as const;

const STORE = new RowStore<DomainRule, DomainRuleKey>({
  name: 'domain_rule',
  key: DOMAIN_KEY,
  rest: { verdict: ['smallint', ({ verdict }) => verdict] },
  select: COLUMNS,
});

export function openDomainRules(tables: WorkingTables): RowsTable<DomainRule, DomainRuleKey> {
  tables.of(WorkingProfiles.open);
  return new RowsTable(STORE);
}
