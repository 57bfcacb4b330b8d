import type { ApplicationRule, Profile } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { Transaction } from '../../revisions/configuration-writer.js';
import type { RowChange } from '../../revisions/working-rows.js';

interface RuleOfProfile extends ApplicationRule {
  readonly profileId: number;
}

/** Writes the rules by which the profiles differ from before. */
export async function writeRules(
  tx: Transaction,
  changes: readonly RowChange<Profile>[],
): Promise<void> {
  const deleted: RuleOfProfile[] = [];
  const put: RuleOfProfile[] = [];
  for (const { before, after } of changes) {
    if (after === null) continue;
    const profileId = after.id;
    const rest = new Map(before?.applicationRules.map((rule) => [rule.applicationId, rule]));
    for (const rule of after.applicationRules) {
      if (rest.get(rule.applicationId)?.verdict !== rule.verdict) put.push({ profileId, ...rule });
      rest.delete(rule.applicationId);
    }
    for (const rule of rest.values()) deleted.push({ profileId, ...rule });
  }
  await deleteRules(tx, deleted);
  await putRules(tx, put);
}

async function deleteRules(tx: Transaction, rules: readonly RuleOfProfile[]): Promise<void> {
  if (rules.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM application_rule
    WHERE (profile_id, application_id) IN (SELECT * FROM ${unnest(rules)})`;
}

async function putRules(tx: Transaction, rules: readonly RuleOfProfile[]): Promise<void> {
  if (rules.length === 0) return;
  const verdicts = Prisma.sql`, ${rules.map(({ verdict }) => verdict)}::integer[]`;
  await tx.$executeRaw`
    INSERT INTO application_rule (profile_id, application_id, verdict)
    SELECT * FROM ${unnest(rules, verdicts)}
    ON CONFLICT (profile_id, application_id) DO UPDATE SET verdict = EXCLUDED.verdict`;
}

/** Keys as rows. @param further columns. */
function unnest(rules: readonly RuleOfProfile[], further: Prisma.Sql = Prisma.empty): Prisma.Sql {
  return Prisma.sql`unnest(
    ${rules.map(({ profileId }) => profileId)}::integer[],
    ${rules.map(({ applicationId }) => applicationId)}::integer[]${further})`;
}
