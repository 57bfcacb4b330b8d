import type { EntityKeys, Grant } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { RowsTable, RowStore, type WorkingTables } from '../../revisions/working-tables.js';
import { DOMAIN_KEY } from '../domain-lists/domain-rule-store.js';
import { toTimeText } from '../orders/order-store.js';
import { WorkingProfiles } from '../profiles/profile-store.js';

/** The hash of its domain is the id of a grant in its profile. */
export type GrantKey = EntityKeys['grant'];

/** A profile, with a grant if it has one. */
export type FoundGrant = Grant | { readonly domainHash: null };

const COLUMNS = `
  profile_id AS "profileId", domain_hash::float8 AS "domainHash", verdict, extract(epoch FROM until)::float8 AS until`;

export const GRANTS: EntityTable<'grant'> = {
  kind: 'grant',
  sql: `SELECT ${COLUMNS} FROM domain_grant ORDER BY profile_id, domain_hash`,
  toEntity: (row) => row,
};

/** Where a page of grants begins: after the one with this end and this hash. */
export type GrantPlace = Pick<Grant, 'until' | 'domainHash'>;

/**
 * Reads a profile with its grants that hold, each as a `FoundGrant`.
 * @param after null: from the first one that ends.
 * @param limit at most this many; null: all.
 */
export function grantsOf(
  profileId: number,
  after: GrantPlace | null,
  limit: number | null,
): Prisma.Sql {
  const { until, domainHash } = after ?? { until: 0, domainHash: 0 };
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)}
    FROM profile LEFT JOIN LATERAL (
      SELECT * FROM domain_grant
      WHERE profile_id = profile.id AND until > now()
        AND (until, domain_grant.domain_hash) > (to_timestamp(${until}::bigint), ${domainHash}::bigint)
      ORDER BY until, domain_grant.domain_hash LIMIT ${limit}::integer
    ) AS domain_grant ON true
    WHERE profile.id = ${profileId}`;
}

/** Reads a profile with the grant of this hash, if it holds, as a `FoundGrant`. */
export function grantOf({ profileId, domainHash }: GrantKey): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)}
    FROM profile LEFT JOIN domain_grant
      ON profile_id = profile.id AND domain_grant.domain_hash = ${domainHash}::bigint AND until > now()
    WHERE profile.id = ${profileId}`;
}

/** Reads the grants of profiles for domains with these hashes, each as a `Grant`. */
export function grantsIn(profileIds: Prisma.Sql, hashes: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)} FROM domain_grant
    WHERE profile_id = ANY (${profileIds}) AND domain_grant.domain_hash = ANY (${hashes})`;
}

/**
 * Grants that ended a minute ago: it is each resolver that ends a grant, by its own clock.
 * @param limit at most this many.
 */
export function endedGrants(limit: number): string {
  return `
    SELECT ${COLUMNS} FROM domain_grant
    WHERE until < now() - interval '1 minute' ORDER BY domain_grant.until LIMIT ${limit}`;
}

const STORE = new RowStore<Grant, GrantKey>({
  name: 'domain_grant',
  key: DOMAIN_KEY,
  rest: {
    verdict: ['smallint', ({ verdict }) => verdict],
    until: ['timestamptz', ({ until }) => toTimeText(until)],
  },
  select: COLUMNS,
});

export function openGrants(tables: WorkingTables): RowsTable<Grant, GrantKey> {
  tables.of(WorkingProfiles.open);
  return new RowsTable(STORE);
}
