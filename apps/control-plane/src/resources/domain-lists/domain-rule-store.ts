import type { DomainRule, EntityKeys } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { RowsTable, type RowStore, type WorkingTables } from '../../revisions/working-tables.js';
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

const STORE: RowStore<DomainRule, DomainRuleKey> = {
  textOf: ({ profileId, domainHash }) => `${profileId} ${domainHash}`,
  find: (tx, keys) => tx.$queryRaw`
    SELECT ${Prisma.raw(COLUMNS)} FROM domain_rule
    WHERE (profile_id, domain_hash) IN (SELECT * FROM ${unnestKeys(keys)})`,
  insert: (tx, rules, onConflict) => tx.$executeRaw`
    INSERT INTO domain_rule (profile_id, domain_hash, verdict)
    SELECT * FROM ${unnestKeys(rules, Prisma.sql`, ${rules.map(({ verdict }) => verdict)}::integer[]`)}
    ${onConflict}`,
  replacing: Prisma.sql`
    ON CONFLICT (profile_id, domain_hash) DO UPDATE SET verdict = EXCLUDED.verdict`,
  delete: (tx, keys) => tx.$executeRaw`
    DELETE FROM domain_rule WHERE (profile_id, domain_hash) IN (SELECT * FROM ${unnestKeys(keys)})`,
};

export function openDomainRules(tables: WorkingTables): RowsTable<DomainRule, DomainRuleKey> {
  tables.of(WorkingProfiles.open);
  return new RowsTable(STORE);
}

/** Keys of rules or grants as rows. @param further columns. */
export function unnestKeys(keys: readonly DomainRuleKey[], further = Prisma.empty): Prisma.Sql {
  return Prisma.sql`unnest(
    ${keys.map(({ profileId }) => profileId)}::integer[],
    ${keys.map(({ domainHash }) => String(domainHash))}::bigint[]${further})`;
}
