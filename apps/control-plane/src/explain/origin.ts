import type { EncodedOperation, EntityKind } from '@weir/config-model';
import { Reason } from '@weir/policy';
import type { Pool } from 'pg';
import type { Json } from '../http/validation/dto.js';
import { MAX_RECORDED } from '../revisions/change-record.js';
import type { OriginDto } from './explain.dto.js';
import type { QueryOutcome } from './model-resolver.js';
import { decidingStep, hashOf } from './steps.js';

/** In place of a profile: an order is of none, and POST /init/ leaves it as it is. */
const EVERYBODY = -1;

/** What decided: an order, or an entity of a profile, by its key. */
interface Deciding {
  readonly profileId: number;
  readonly kind: EntityKind;
  readonly key: readonly number[];
}

/** The entity that decided; null: none did. */
function decidingOf(outcome: QueryOutcome): Deciding | null {
  const step = decidingStep(outcome);
  if (step === undefined) return null;
  const { hashes, explanation } = outcome;
  const { activeProfileId: active, profileId: own } = explanation.decision;
  if (step.step === Reason.order) {
    return { profileId: EVERYBODY, kind: 'order', key: [step.matchedId] };
  }
  if (step.step === Reason.mandatoryCategory) return null;
  if (step.step === Reason.grant) {
    return { profileId: own, kind: 'grant', key: [own, hashOf(hashes, step.matchedLabels)] };
  }
  if (step.step !== Reason.domainRule) return { profileId: active, kind: 'profile', key: [active] };
  const key = [active, hashOf(hashes, step.matchedLabels)];
  return { profileId: active, kind: 'domainRule', key };
}

interface OriginRow {
  readonly revision: number;
  readonly time: Date;
  readonly token: string | null;
  readonly request_id: string | null;
}

/**
 * The last record of a change that has written an entity. One that concerns all profiles, such as POST /init/, writes
 * everything, also what it finds as it is. A record has no more than a hundred keys; whether a longer change has
 * written the entity is in the log, as long as that is kept. Where it is not, a batch of domain rules may have written
 * the rule, so the answer is null. Each condition has its index.
 */
const LAST_WRITER = `
  WITH written AS MATERIALIZED (
    SELECT revision FROM change_record WHERE keys @> $3::jsonb AND revision <= $1
    UNION ALL SELECT max(revision) FROM change_record_profile
    WHERE profile_id = -1 AND revision <= $1 AND $2::integer <> ${EVERYBODY}
  ), last AS (SELECT coalesce(max(revision), 0) AS revision FROM written), longer AS (
    SELECT max(record.revision) FILTER (WHERE operations @> $3::jsonb) AS revision,
      max(record.revision) FILTER (WHERE operations IS NULL AND route LIKE $4) AS unknown
    FROM change_record AS record LEFT JOIN change USING (revision), last
    WHERE key_count > ${MAX_RECORDED} AND record.revision > last.revision AND record.revision <= $1
      AND profile_ids @> ARRAY[$2::integer]
  )
  SELECT record.revision::float8 AS revision, created_at AS time, token, request_id
  FROM change_record AS record, last, longer
  WHERE record.revision = greatest(last.revision, longer.revision, longer.unknown)
    AND record.revision IS DISTINCT FROM longer.unknown`;

/**
 * The last change up to a revision that wrote what decided.
 * @returns null when no entity decided, or it is not known: the record is older than AUDIT_DAYS, or the log of a batch
 *   that may have written it is gone.
 */
export async function originOf(
  pool: Pool,
  revision: number,
  outcome: QueryOutcome,
): Promise<Json<OriginDto> | null> {
  const deciding = decidingOf(outcome);
  if (deciding === null) return null;
  const { profileId, kind, key } = deciding;
  const operation = ['put', kind, [...key]] satisfies EncodedOperation;
  const { rows } = await pool.query<OriginRow>({
    name: 'weir_last_writer',
    text: LAST_WRITER,
    values: [
      revision,
      profileId,
      JSON.stringify([operation]),
      kind === 'domainRule' ? '%/bw_list/batch' : '',
    ],
  });
  const row = rows.at(0);
  return row === undefined ? null : { ...row, time: row.time.toISOString() };
}
