import type { Profile, ApplicationRule } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { Fault } from '../../http/validation/fault.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { WorkingRows, type RowChange } from '../../revisions/working-rows.js';
import type { WorkingTable, WorkingTables } from '../../revisions/working-tables.js';
import { WorkingBlockPages } from '../block-pages/block-page-store.js';
import {
  findProfileIds,
  findProfiles,
  profileNotFound,
  REPLACE_PROFILES,
  insertProfiles,
  unknownProfile,
} from './profile-store.js';

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

/** The profiles that a group of changes needs. Most changes only need to know whether a profile exists. */
export class WorkingProfiles implements WorkingTable {
  static readonly open = (tables: WorkingTables): WorkingProfiles =>
    new WorkingProfiles(tables.of(WorkingBlockPages.open));

  private readonly rows = new WorkingRows<Profile>();
  private readonly neededIds = new Set<number>();
  /** The ids that are known to exist. */
  private readonly ids = new Set<number>();

  constructor(private readonly pages: WorkingBlockPages) {}

  /** Names a profile of which only its existence is needed. */
  needId(id: number): void {
    this.neededIds.add(id);
  }

  /** Names a profile that may be changed. */
  need(id: number): void {
    this.rows.need(String(id));
    this.pages.setPageOf(id, null);
  }

  /** @param id must have been needed in one of both ways. */
  has(id: number): boolean {
    return this.ids.has(id);
  }

  /** A fault at `loc` when the profile does not exist; otherwise none. */
  faults(id: number, loc: readonly string[]): Fault[] {
    return this.has(id) ? [] : [unknownProfile(id, loc)];
  }

  /** @throws RequestError 404 when the profile does not exist. */
  require(id: number): void {
    if (!this.has(id)) throw profileNotFound(id);
  }

  /** @throws RequestError 404 when the profile does not exist. */
  get(id: number): Profile {
    const profile = this.rows.get(String(id));
    if (profile === null) throw profileNotFound(id);
    return profile;
  }

  put(profile: Profile): void {
    this.rows.set(String(profile.id), profile);
    this.note(profile);
  }

  async read(tx: Transaction): Promise<void> {
    if (this.neededIds.size > 0) {
      for (const id of await findProfileIds(tx, [...this.neededIds])) this.ids.add(id);
    }
    const ids = this.rows.neededKeys.map(Number);
    if (ids.length === 0) return;
    for (const profile of await findProfiles(tx, ids)) {
      this.rows.load(String(profile.id), profile);
      this.note(profile);
    }
  }

  async write(tx: Transaction): Promise<void> {
    const changes = this.rows.changes();
    const added = changes.flatMap(({ before, after }) => (before === null && after) || []);
    const replaced = changes.flatMap(({ before, after }) => (before !== null && after) || []);
    await insertProfiles(tx, added);
    await insertProfiles(tx, replaced, REPLACE_PROFILES);
    await writeRules(tx, changes);
  }

  private note({ id, pageId }: Profile): void {
    this.ids.add(id);
    this.pages.setPageOf(id, pageId);
  }
}
