import type { ApplicationRule, Profile, RuleVerdict } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import { notFound, orNotFound } from '../../http/errors/errors.js';
import type { Fault } from '../../http/validation/fault.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { ConfigurationReader } from '../../revisions/configuration-reader.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { RowsTable, RowStore, type WorkingTables } from '../../revisions/working-tables.js';
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

const STORE = new RowStore<Profile, Pick<Profile, 'id'>>({
  name: 'profile',
  key: { id: ['integer', ({ id }) => id] },
  rest: {
    page_id: ['integer', ({ pageId }) => pageId],
    white_list_only: ['boolean', ({ whiteListOnly }) => whiteListOnly],
    empty_dns_answer: ['boolean', ({ emptyDnsAnswer }) => emptyDnsAnswer],
    appaware_priority_over_bwlists: ['boolean', (one) => one.appawarePriorityOverBwlists],
    category_ids: ['integer[]', ({ categoryIds }) => categoryIds],
  },
  select: 'id',
});

interface RuleOfProfile extends ApplicationRule {
  readonly profileId: number;
}

const RULE_STORE = new RowStore<RuleOfProfile, Omit<RuleOfProfile, 'verdict'>>({
  name: 'application_rule',
  key: {
    profile_id: ['integer', ({ profileId }) => profileId],
    application_id: ['integer', ({ applicationId }) => applicationId],
  },
  rest: { verdict: ['smallint', ({ verdict }) => verdict] },
  select: 'verdict',
});

/** The profiles that a group of changes needs. Most changes only need to know whether a profile exists. */
export class WorkingProfiles extends RowsTable<Profile, Pick<Profile, 'id'>> {
  static readonly open = (tables: WorkingTables): WorkingProfiles =>
    new WorkingProfiles(tables.of(WorkingBlockPages.open));

  private readonly neededIds = new Set<number>();
  /** The ids that are known to exist. */
  private readonly ids = new Set<number>();

  constructor(private readonly pages: WorkingBlockPages) {
    super(STORE);
  }

  /** Names a profile of which only its existence is needed. */
  needId(id: number): void {
    this.neededIds.add(id);
  }

  /** Names a profile that may be changed. */
  override need(key: Pick<Profile, 'id'>): void {
    super.need(key);
    this.pages.setPageOf(key.id, null);
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
    return orNotFound(this.find({ id }), `profile ${id}`);
  }

  override put(profile: Profile): void {
    super.put(profile);
    this.note(profile);
  }

  override async read(tx: Transaction): Promise<void> {
    if (this.neededIds.size > 0) {
      const rows = await tx.$queryRaw<{ id: number }[]>`
        SELECT id FROM profile WHERE id = ANY (${[...this.neededIds]}::integer[])`;
      for (const { id } of rows) this.ids.add(id);
    }
    await super.read(tx);
  }

  /** Writes the profiles, and then the rules by which they differ from before. */
  override async write(tx: Transaction): Promise<void> {
    await super.write(tx);
    const deleted: RuleOfProfile[] = [];
    const put: RuleOfProfile[] = [];
    for (const { before, after } of this.rows.changes()) {
      if (after === null) continue;
      const profileId = after.id;
      const rest = new Map(before?.applicationRules.map((rule) => [rule.applicationId, rule]));
      for (const rule of after.applicationRules) {
        if (rest.get(rule.applicationId)?.verdict !== rule.verdict)
          put.push({ profileId, ...rule });
        rest.delete(rule.applicationId);
      }
      for (const rule of rest.values()) deleted.push({ profileId, ...rule });
    }
    if (deleted.length > 0) await RULE_STORE.delete(tx, deleted);
    if (put.length > 0) await RULE_STORE.replace(tx, put);
  }

  protected override async select(
    tx: Transaction,
    keys: readonly Pick<Profile, 'id'>[],
  ): Promise<Profile[]> {
    const rows = await tx.$queryRaw<ProfileRow[]>(profilesOf(keys.map(({ id }) => id)));
    return rows.map((row) => PROFILES.toEntity(row));
  }

  protected override load(profile: Profile): void {
    super.load(profile);
    this.note(profile);
  }

  private note({ id, pageId }: Profile): void {
    this.ids.add(id);
    this.pages.setPageOf(id, pageId);
  }
}
