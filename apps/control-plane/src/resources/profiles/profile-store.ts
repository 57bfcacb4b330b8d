import { type Profile, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import type { Fault } from '../../http/validation/fault.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../revisions/configuration-writer.js';
import { type RuleStatus, toStatus } from './rule-status.js';

interface ProfileRow {
  id: number;
  page_id: number | null;
  white_list_only: boolean;
  empty_dns_answer: boolean;
  appaware_priority_over_bwlists: boolean;
  category_ids: number[];
  application_ids: number[];
  statuses: RuleStatus[];
}

const SELECT = `
  SELECT profile.id, page_id, white_list_only, empty_dns_answer, appaware_priority_over_bwlists, category_ids,
         rules.application_ids, rules.statuses
  FROM profile
  CROSS JOIN LATERAL (
    SELECT COALESCE(array_agg(application_id ORDER BY application_id), '{}') AS application_ids,
           COALESCE(array_agg(status::text ORDER BY application_id), '{}') AS statuses
    FROM application_rule WHERE profile_id = profile.id
  ) AS rules`;

export const PROFILES: EntityTable<'profile', ProfileRow> = {
  kind: 'profile',
  sql: `${SELECT} ORDER BY profile.id`,
  toEntity: (row) => ({
    id: row.id,
    pageId: row.page_id,
    whiteListOnly: row.white_list_only,
    emptyDnsAnswer: row.empty_dns_answer,
    appawarePriorityOverBwlists: row.appaware_priority_over_bwlists,
    categoryIds: row.category_ids,
    applicationRules: row.application_ids.map((applicationId, i) => ({
      applicationId,
      verdict: RuleVerdict[row.statuses[i]],
    })),
  }),
};

/** Reads the profiles with the ids of its parameter, which may be thousands. */
export const PROFILES_OF_IDS = `
  SELECT profile.id, page_id, white_list_only, empty_dns_answer, appaware_priority_over_bwlists, category_ids,
         COALESCE(application_ids, '{}') AS application_ids, COALESCE(statuses, '{}') AS statuses
  FROM profile LEFT JOIN (
    SELECT profile_id, array_agg(application_id ORDER BY application_id) AS application_ids,
           array_agg(status::text ORDER BY application_id) AS statuses
    FROM application_rule WHERE profile_id = ANY ($1::integer[]) GROUP BY profile_id
  ) AS rules ON rules.profile_id = profile.id
  WHERE profile.id = ANY ($1::integer[])`;

export async function findProfile(tx: Transaction, id: number): Promise<Profile | null> {
  const [row] = await tx.$queryRawUnsafe<ProfileRow[]>(`${SELECT} WHERE profile.id = $1`, id);
  return row === undefined ? null : PROFILES.toEntity(row);
}

/** @throws RequestError 404 when the profile does not exist. */
export async function requireProfile(tx: Transaction, id: number): Promise<Profile> {
  const profile = await findProfile(tx, id);
  if (profile === null) throw notFound(`profile ${id}`);
  return profile;
}

/** The ids that no profile has. */
export async function unknownProfiles(
  tx: Transaction,
  ids: readonly number[],
): Promise<Set<number>> {
  const unknown = new Set(ids);
  const known = await tx.$queryRaw<{ id: number }[]>`
    SELECT id FROM profile WHERE id = ANY (${[...unknown]}::integer[])`;
  for (const { id } of known) unknown.delete(id);
  return unknown;
}

/** A fault at `loc` when the profile does not exist; otherwise none. */
export async function profileFaults(
  tx: Transaction,
  id: number,
  loc: readonly string[],
): Promise<Fault[]> {
  const unknown = await unknownProfiles(tx, [id]);
  return unknown.has(id) ? [unknownProfile(id, loc)] : [];
}

export function unknownProfile(id: number, loc: readonly string[]): Fault {
  return { loc, msg: `Profile ${id} does not exist`, type: 'reference' };
}

export async function insertProfile(tx: Transaction, profile: Profile): Promise<void> {
  await tx.profile.create({ data: { id: profile.id, ...columns(profile) } });
  await insertRules(tx, profile);
}

export async function updateProfile(
  tx: Transaction,
  before: Profile,
  after: Profile,
): Promise<void> {
  await tx.profile.update({ where: { id: after.id }, data: columns(after) });
  if (JSON.stringify(before.applicationRules) === JSON.stringify(after.applicationRules)) return;
  await tx.applicationRule.deleteMany({ where: { profileId: after.id } });
  await insertRules(tx, after);
}

interface ProfileColumns {
  pageId: number | null;
  whiteListOnly: boolean;
  emptyDnsAnswer: boolean;
  appawarePriorityOverBwlists: boolean;
  categoryIds: number[];
}

function columns(profile: Profile): ProfileColumns {
  return {
    pageId: profile.pageId,
    whiteListOnly: profile.whiteListOnly,
    emptyDnsAnswer: profile.emptyDnsAnswer,
    appawarePriorityOverBwlists: profile.appawarePriorityOverBwlists,
    categoryIds: [...profile.categoryIds],
  };
}

async function insertRules(tx: Transaction, { id, applicationRules }: Profile): Promise<void> {
  if (applicationRules.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO application_rule (profile_id, application_id, status)
    SELECT ${id}, * FROM unnest(
      ${applicationRules.map(({ applicationId }) => applicationId)}::integer[],
      ${applicationRules.map(({ verdict }) => toStatus(verdict))}::rule_status[])`;
}
