import type { ClientBase } from 'pg';
import { copyIn, copyLine, copyLines } from '../../platform/database/copy.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import type { Draft } from '../draft/draft.js';

/** A table that others refer to. */
export type ReferredTableName = 'block_page' | 'profile';

/**
 * A table that others refer to. All rows of the draft are copied into a staging table, and what differs is written from
 * there. A row with other values is updated, because deleting it would delete the rows that refer to it.
 */
export interface StagedTable {
  readonly name: ReferredTableName;
  /** The columns besides the key `id`. */
  readonly values: readonly string[];
  /** The number of rows of the draft. */
  readonly count: number;
  /** The text of a row of the draft for COPY. */
  line(row: number): string;
}

/** Those that others of them refer to come first. */
export function stagedTables({ blockPages, profiles }: Draft): readonly StagedTable[] {
  return [
    {
      name: 'block_page',
      values: ['type'],
      count: blockPages.ids.length,
      line: (row) => {
        const { id, type } = blockPages.at(row);
        return copyLine(id, type);
      },
    },
    {
      name: 'profile',
      values: [
        'page_id',
        'white_list_only',
        'empty_dns_answer',
        'appaware_priority_over_bwlists',
        'category_ids',
      ],
      count: profiles.ids.length,
      line: (row) => {
        const profile = toProfile(profiles.at(row));
        return copyLine(
          profile.id,
          profile.pageId ?? '\\N',
          profile.whiteListOnly,
          profile.emptyDnsAnswer,
          profile.appawarePriorityOverBwlists,
          `{${profile.categoryIds.join(',')}}`,
        );
      },
    },
  ];
}

/** Copies the rows of the draft into the staging table. @returns how many of them are new. */
export async function stage(client: ClientBase, table: StagedTable): Promise<number> {
  const { name, count } = table;
  await client.query(`
    CREATE TEMPORARY TABLE ${stagingTableOf(table)} ON COMMIT DROP AS
    SELECT ${columnsOf(table)} FROM ${name} WITH NO DATA`);
  const lines = copyLines(count, (row) => table.line(row));
  await copyIn(client, `${stagingTableOf(table)} (${columnsOf(table)})`, lines);
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ${NEW_ROWS(table)}`,
  );
  return rows[0]?.count ?? 0;
}

/** The statements that insert the new rows, and update those with other values. */
export function putsOf(table: StagedTable): string[] {
  return [
    UPDATE_CHANGED(table),
    `INSERT INTO ${table.name} (${columnsOf(table)}) SELECT * FROM ${NEW_ROWS(table)}`,
  ];
}

/** The statement that deletes rows that are not in the draft. */
export function deleteOthers(table: StagedTable): string {
  const { name } = table;
  return `
    DELETE FROM ${name}
    WHERE NOT EXISTS (SELECT FROM ${stagingTableOf(table)} AS new WHERE new.id = ${name}.id)`;
}

/** The statements that delete the schedules of which a profile is not in the draft, and all grants. */
export const DELETE_KEYS = [
  ...['profile_id', 'target_profile_id'].map((column) => {
    const isGone = `NOT EXISTS (SELECT FROM new_profile WHERE id = ${column})`;
    const sql = `DELETE FROM schedule WHERE ${isGone} RETURNING profile_id AS "profileId"`;
    return { kind: 'schedule', sql } as const;
  }),
  {
    kind: 'grant',
    sql: `DELETE FROM domain_grant RETURNING profile_id AS "profileId", domain_hash::float8 AS "domainHash"`,
  },
] as const;

function stagingTableOf({ name }: StagedTable): string {
  return `new_${name}`;
}

function columnsOf({ values }: StagedTable): string {
  return ['id', ...values].join(', ');
}

const NEW_ROWS = (table: StagedTable): string => `(
  SELECT ${columnsOf(table)} FROM ${stagingTableOf(table)} AS new
  WHERE NOT EXISTS (SELECT FROM ${table.name} WHERE ${table.name}.id = new.id)
) AS new_rows`;

const UPDATE_CHANGED = (table: StagedTable): string => `
  UPDATE ${table.name}
  SET ${table.values.map((column) => `${column} = new.${column}`).join(', ')}
  FROM ${stagingTableOf(table)} AS new
  WHERE new.id = ${table.name}.id
  AND (${rowOf(table, 'new')}) IS DISTINCT FROM (${rowOf(table, table.name)})`;

function rowOf({ values }: StagedTable, source: string): string {
  return values.map((column) => `${source}.${column}`).join(', ');
}
