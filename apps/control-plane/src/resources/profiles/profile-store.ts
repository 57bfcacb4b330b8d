import type { ApplicationRule, Profile, RuleVerdict } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import { notFound } from '../../http/errors/errors.js';
import type { Fault } from '../../http/validation/fault.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { ConfigurationReader } from '../../revisions/configuration-reader.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import {
  type RowChange,
  WorkingRows,
  type WorkingTable,
  type WorkingTables,
} from '../../revisions/working-tables.js';
import { WorkingBlockPages } from '../block-pages/block-page-store.js';

export interface ProfileRow extends Omit<Profile, 'applicationRules'> {
  readonly applicationIds: readonly number[];
  readonly verdicts: readonly RuleVerdict[];
}

/** Categories as JSON: a profile may have 10,000, which the driver takes long to read from an array. */
const COLUMNS = `profile.id, page_id AS "pageId", white_list_only AS "whiteListOnly",
  empty_dns_answer AS "emptyDnsAnswer", appaware_priority_over_bwlists AS "appawarePriorityOverBwlists",
  to_json(category_ids) AS "categoryIds", COALESCE(application_ids, '{}') AS "applicationIds",
  COALESCE(verdicts, '{}') AS verdicts`;
const RULES = `array_agg(application_id ORDER BY application_id) AS application_ids,
  array_agg(verdict ORDER BY application_id) AS verdicts`;

export const PROFILES: EntityTable<'profile', ProfileRow> = {
  kind: 'profile',
  sql: `
    SELECT ${COLUMNS} FROM profile
    CROSS JOIN LATERAL (
      SELECT ${RULES} FROM application_rule WHERE profile_id = profile.id
    ) AS rules ORDER BY profile.id`,
  toEntity: ({ applicationIds, verdicts, ...settings }) => ({
    ...settings,
    applicationRules: applicationIds.map((applicationId, i) => ({
      applicationId,
      verdict: verdicts[i],
    })),
  }),
};

/** Reads the profiles with these ids, which may be thousands. */
function profilesOf(ids: readonly number[]): Prisma.Sql {
  return profilesIn(Prisma.sql`${ids}::integer[]`);
}

/** @param ids an expression for an array of ids. */
export function profilesIn(ids: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)} FROM profile LEFT JOIN (
      SELECT profile_id, ${Prisma.raw(RULES)}
      FROM application_rule WHERE profile_id = ANY (${ids}) GROUP BY profile_id
    ) AS rules ON rules.profile_id = profile.id
    WHERE profile.id = ANY (${ids})`;
}

export async function findProfiles(tx: Transaction, ids: readonly number[]): Promise<Profile[]> {
  const rows = await tx.$queryRaw<ProfileRow[]>(profilesOf(ids));
  return rows.map((row) => PROFILES.toEntity(row));
}

/** @throws RequestError 404 when the profile does not exist. */
export function readProfile(
  reader: ConfigurationReader,
  id: number,
): Promise<WithRevision<Profile>> {
  return reader.read(profilesOf([id]), ([row]: ProfileRow[]) => {
    if (row === undefined) throw profileNotFound(id);
    return PROFILES.toEntity(row);
  });
}

export function profileNotFound(id: number): Error {
  return notFound(`profile ${id}`);
}

export function unknownProfile(id: number, loc: readonly string[]): Fault {
  return { loc, msg: `Profile ${id} does not exist`, type: 'reference' };
}

/** Writes profiles without their rules. @param onConflict empty: it fails when there is one with the same id. */
export async function insertProfiles(
  tx: Transaction,
  profiles: readonly Profile[],
  onConflict = Prisma.empty,
): Promise<void> {
  if (profiles.length === 0) return;
  // As JSON, because `unnest` makes one list of the lists of categories.
  await tx.$executeRaw`
    INSERT INTO profile
      (id, page_id, white_list_only, empty_dns_answer, appaware_priority_over_bwlists, category_ids)
    SELECT id, "pageId", "whiteListOnly", "emptyDnsAnswer", "appawarePriorityOverBwlists", "categoryIds"
    FROM jsonb_to_recordset(${JSON.stringify(profiles)}::jsonb) AS profile (
      id integer, "pageId" integer, "whiteListOnly" boolean, "emptyDnsAnswer" boolean,
      "appawarePriorityOverBwlists" boolean, "categoryIds" integer[])
    ${onConflict}`;
}

const REPLACE_PROFILES = Prisma.sql`
  ON CONFLICT (id) DO UPDATE SET
    page_id = EXCLUDED.page_id,
    white_list_only = EXCLUDED.white_list_only,
    empty_dns_answer = EXCLUDED.empty_dns_answer,
    appaware_priority_over_bwlists = EXCLUDED.appaware_priority_over_bwlists,
    category_ids = EXCLUDED.category_ids`;

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
  if (deleted.length > 0) {
    await tx.$executeRaw`
      DELETE FROM application_rule
      WHERE (profile_id, application_id) IN (SELECT * FROM ${unnest(deleted)})`;
  }
  if (put.length > 0) {
    const verdicts = Prisma.sql`, ${put.map(({ verdict }) => verdict)}::integer[]`;
    await tx.$executeRaw`
      INSERT INTO application_rule (profile_id, application_id, verdict)
      SELECT * FROM ${unnest(put, verdicts)}
      ON CONFLICT (profile_id, application_id) DO UPDATE SET verdict = EXCLUDED.verdict`;
  }
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
      const rows = await tx.$queryRaw<{ id: number }[]>`
        SELECT id FROM profile WHERE id = ANY (${[...this.neededIds]}::integer[])`;
      for (const { id } of rows) this.ids.add(id);
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
