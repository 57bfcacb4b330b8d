import type { EntityKeys, NaptAssignment } from '@weir/config-model';
import { Prisma } from '../../../generated/prisma/client.js';
import type { EntityTable } from '../../../platform/database/entity-table.js';
import type { Transaction } from '../../../revisions/configuration-writer.js';
import type { RowStore } from '../../../revisions/working-rows.js';
import { formatIpv4, parseIpv4 } from '../addresses/addresses.js';

export type NaptKey = EntityKeys['naptAssignment'];

export interface NaptRow {
  readonly address: string;
  readonly lower_port: number;
  readonly upper_port: number;
  readonly profile_id: number;
}

export const NAPT_ASSIGNMENTS: EntityTable<'naptAssignment', NaptRow> = {
  kind: 'naptAssignment',
  sql: `
    SELECT host(address) AS address, lower_port, upper_port, profile_id
    FROM napt_assignment ORDER BY napt_assignment.address, lower_port, upper_port`,
  toEntity: (row) => ({
    // The database checks the family of every address.
    address: parseIpv4(row.address) as number,
    lowerPort: row.lower_port,
    upperPort: row.upper_port,
    profileId: row.profile_id,
  }),
};

/** Reads all assignments of an address. */
export function assignmentsOf(address: number): Prisma.Sql {
  return Prisma.sql`
    SELECT host(address) AS address, lower_port, upper_port, profile_id FROM napt_assignment
    WHERE address = ${formatIpv4(address)}::inet`;
}

/** Reads the assignment with this key. */
export function assignmentOf({ address, lowerPort, upperPort }: NaptKey): Prisma.Sql {
  return Prisma.sql`
    ${assignmentsOf(address)} AND lower_port = ${lowerPort} AND upper_port = ${upperPort}`;
}

/** The assignments that share a port with one of the ranges. */
async function findOverlapping(
  tx: Transaction,
  ranges: readonly NaptKey[],
): Promise<NaptAssignment[]> {
  const rows = await tx.$queryRaw<NaptRow[]>`
    SELECT DISTINCT host(napt_assignment.address) AS address, lower_port, upper_port, profile_id
    FROM ${unnest(ranges)} AS range (address, lower, upper)
    JOIN napt_assignment ON napt_assignment.address = range.address
    AND lower_port <= range.upper AND upper_port >= range.lower`;
  return rows.map((row) => NAPT_ASSIGNMENTS.toEntity(row));
}

export const NAPT_STORE: RowStore<NaptAssignment, NaptKey> = {
  textOf: naptText,
  find: findOverlapping,
  insert: (tx, assignments, onConflict) => tx.$executeRaw`
    INSERT INTO napt_assignment (address, lower_port, upper_port, profile_id)
    SELECT * FROM ${unnest(
      assignments,
      Prisma.sql`, ${assignments.map(({ profileId }) => profileId)}::integer[]`,
    )}
    ${onConflict}`,
  replacing: Prisma.sql`
    ON CONFLICT (address, lower_port, upper_port) DO UPDATE SET profile_id = EXCLUDED.profile_id`,
  delete: (tx, keys) => tx.$executeRaw`
    DELETE FROM napt_assignment AS deleted
    USING ${unnest(keys)} AS key (address, lower_port, upper_port)
    WHERE (deleted.address, deleted.lower_port, deleted.upper_port)
        = (key.address, key.lower_port, key.upper_port)`,
};

/** Keys as rows. @param further columns. */
function unnest(keys: readonly NaptKey[], further: Prisma.Sql = Prisma.empty): Prisma.Sql {
  return Prisma.sql`unnest(
    ${keys.map(({ address }) => formatIpv4(address))}::inet[],
    ${keys.map(({ lowerPort }) => lowerPort)}::integer[],
    ${keys.map(({ upperPort }) => upperPort)}::integer[]${further})`;
}

/** A range as it is shown: `192.0.2.1 1024-2047`. */
export function naptText({ address, lowerPort, upperPort }: NaptKey): string {
  return `${formatIpv4(address)} ${lowerPort}-${upperPort}`;
}
