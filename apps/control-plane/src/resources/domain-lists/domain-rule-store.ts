import type { DomainRule, EntityKeys, RuleVerdict } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../revisions/configuration-writer.js';

export type DomainRuleKey = EntityKeys['domainRule'];

interface DomainRuleRow {
  profile_id: number;
  domain_hash: number;
  verdict: RuleVerdict;
}

export const DOMAIN_RULES: EntityTable<'domainRule', DomainRuleRow> = {
  kind: 'domainRule',
  sql: `
    SELECT profile_id, domain_hash::float8 AS domain_hash, verdict
    FROM domain_rule ORDER BY profile_id, domain_rule.domain_hash`,
  toEntity: (row) => ({
    profileId: row.profile_id,
    domainHash: row.domain_hash,
    verdict: row.verdict,
  }),
};

export async function findDomainRules(
  tx: Transaction,
  keys: readonly DomainRuleKey[],
): Promise<DomainRule[]> {
  const rows = await tx.$queryRaw<DomainRuleRow[]>`
    SELECT profile_id, domain_hash::float8 AS domain_hash, verdict FROM domain_rule
    WHERE (profile_id, domain_hash) IN (SELECT * FROM ${unnest(keys)})`;
  return rows.map((row) => DOMAIN_RULES.toEntity(row));
}

/** Adds rules, or replaces those with the same key. */
export async function putDomainRules(tx: Transaction, rules: readonly DomainRule[]): Promise<void> {
  if (rules.length === 0) return;
  const verdicts = Prisma.sql`, ${rules.map(({ verdict }) => verdict)}::integer[]`;
  await tx.$executeRaw`
    INSERT INTO domain_rule (profile_id, domain_hash, verdict)
    SELECT * FROM ${unnest(rules, verdicts)}
    ON CONFLICT (profile_id, domain_hash) DO UPDATE SET verdict = EXCLUDED.verdict`;
}

export async function deleteDomainRules(
  tx: Transaction,
  keys: readonly DomainRuleKey[],
): Promise<void> {
  if (keys.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM domain_rule WHERE (profile_id, domain_hash) IN (SELECT * FROM ${unnest(keys)})`;
}

/** Keys as rows. @param further columns. */
function unnest(keys: readonly DomainRuleKey[], further: Prisma.Sql = Prisma.empty): Prisma.Sql {
  return Prisma.sql`unnest(
    ${keys.map(({ profileId }) => profileId)}::integer[],
    ${keys.map(({ domainHash }) => String(domainHash))}::bigint[]${further})`;
}
