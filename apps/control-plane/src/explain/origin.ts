import { type EncodedOperation, type EntityKind } from '@weir/config-model';
import type { Pool } from 'pg';
import { MAX_RECORDED } from '../revisions/change-record.js';
import type { Json } from '../http/validation/dto.js';
import type { OriginDto } from './explain.dto.js';

/** In place of a profile: an order is of none, and POST /init/ leaves it as it is. */
export const EVERYBODY = -1;

/** What decided: an order, or an entity of a profile, by its key. */
export interface Deciding {
  readonly profileId: number;
  readonly kind: EntityKind;
  readonly key: readonly number[];
}

interface OriginRow {
  readonly revision: number;
  readonly time: Date;
  readonly token: string | null;
  readonly requestId: string | null;
}

/**
 * The last record of a change that has written an entity. One that concerns all profiles, such as POST /init/, writes
 * everything, also what it finds as it is. A record has no more than a hundred keys; whether a longer change has
 * written the entity is in the log, as long as that is kept. Each condition has its index.
 */
const LAST_WRITER = `
  WITH written AS MATERIALIZED (
    SELECT revision FROM change_record WHERE keys @> $3::jsonb AND revision <= $1
    UNION ALL SELECT max(revision) FROM change_record_profile
    WHERE profile_id = -1 AND revision <= $1 AND $2::integer <> ${EVERYBODY}
  ), last AS (SELECT coalesce(max(revision), 0) AS revision FROM written), longer AS (
    SELECT max(record.revision) AS revision FROM change_record AS record JOIN change USING (revision), last
    WHERE key_count > ${MAX_RECORDED} AND record.revision > last.revision AND record.revision <= $1
      AND profile_ids @> ARRAY[$2::integer] AND operations @> $3::jsonb
  )
  SELECT record.revision::float8 AS revision, created_at AS time, token, request_id AS "requestId"
  FROM change_record AS record, last, longer
  WHERE record.revision = greatest(last.revision, longer.revision)`;

/**
 * The last change up to a revision that wrote what decided.
 * @returns null when there is no record of it: it is older than AUDIT_DAYS.
 */
export async function originOf(
  pool: Pool,
  { profileId, kind, key }: Deciding,
  revision: number,
): Promise<Json<OriginDto> | null> {
  const operation = ['put', kind, [...key]] satisfies EncodedOperation;
  const { rows } = await pool.query<OriginRow>({
    name: 'weir_last_writer',
    text: LAST_WRITER,
    values: [revision, profileId, JSON.stringify([operation])],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { time, token, requestId } = row;
  return { revision: row.revision, time: time.toISOString(), token, request_id: requestId };
}
