import type { DomainRule, RuleVerdict } from '@weir/config-model';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../revisions/configuration-writer.js';

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

/** The rules of a profile for the given hashes, by hash. */
export async function findDomainRules(
  tx: Transaction,
  profileId: number,
  hashes: readonly number[],
): Promise<Map<number, DomainRule>> {
  const rows = await tx.$queryRaw<{ domain_hash: bigint; verdict: number }[]>`
    SELECT domain_hash, verdict FROM domain_rule
    WHERE profile_id = ${profileId} AND domain_hash = ANY (${hashes.map(String)}::bigint[])`;
  return new Map(
    rows.map((row) => {
      const domainHash = Number(row.domain_hash);
      return [domainHash, { profileId, domainHash, verdict: row.verdict as RuleVerdict }];
    }),
  );
}

/** Creates or replaces rules of one profile with one verdict. */
export async function putDomainRules(
  tx: Transaction,
  profileId: number,
  hashes: readonly number[],
  verdict: RuleVerdict,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO domain_rule (profile_id, domain_hash, verdict)
    SELECT ${profileId}, hash, ${verdict} FROM unnest(${hashes.map(String)}::bigint[]) AS hash
    ON CONFLICT (profile_id, domain_hash) DO UPDATE SET verdict = EXCLUDED.verdict`;
}

export async function deleteDomainRule(
  tx: Transaction,
  { profileId, domainHash }: DomainRule,
): Promise<void> {
  await tx.domainRule.delete({
    where: { profileId_domainHash: { profileId, domainHash: BigInt(domainHash) } },
  });
}
