import type { EntityKeys, NaptAssignment } from '@weir/config-model';
import type { EntityTable } from '../../../platform/database/entity-table.js';
import type { Transaction } from '../../../revisions/configuration-writer.js';
import { formatIpv4, parseIpv4 } from '../addresses/ipv4.js';

export type NaptKey = EntityKeys['naptAssignment'];

interface NaptRow {
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

/** All assignments of the addresses, ordered by address and lower port. */
export async function findOfAddresses(
  tx: Transaction,
  addresses: readonly number[],
): Promise<NaptAssignment[]> {
  const rows = await tx.$queryRaw<NaptRow[]>`
    SELECT host(address) AS address, lower_port, upper_port, profile_id FROM napt_assignment
    WHERE address = ANY (${addresses.map(formatIpv4)}::inet[])
    ORDER BY napt_assignment.address, lower_port, upper_port`;
  return rows.map((row) => NAPT_ASSIGNMENTS.toEntity(row));
}

export async function findAssignment(
  tx: Transaction,
  key: NaptKey,
): Promise<NaptAssignment | null> {
  const row = await tx.naptAssignment.findUnique({
    where: { address_lowerPort_upperPort: columns(key) },
    select: { profileId: true },
  });
  return row && { ...key, profileId: row.profileId };
}

export async function insertAssignments(
  tx: Transaction,
  assignments: readonly NaptAssignment[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO napt_assignment (address, lower_port, upper_port, profile_id)
    SELECT * FROM unnest(
      ${assignments.map(({ address }) => formatIpv4(address))}::inet[],
      ${assignments.map(({ lowerPort }) => lowerPort)}::integer[],
      ${assignments.map(({ upperPort }) => upperPort)}::integer[],
      ${assignments.map(({ profileId }) => profileId)}::integer[])`;
}

/** Replaces the assignment at `key`. The new assignment may have a different key. */
export async function updateAssignment(
  tx: Transaction,
  key: NaptKey,
  assignment: NaptAssignment,
): Promise<void> {
  await tx.naptAssignment.update({
    where: { address_lowerPort_upperPort: columns(key) },
    data: { ...columns(assignment), profileId: assignment.profileId },
  });
}

export async function deleteAssignments(tx: Transaction, keys: readonly NaptKey[]): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM napt_assignment AS deleted
    USING unnest(
      ${keys.map(({ address }) => formatIpv4(address))}::inet[],
      ${keys.map(({ lowerPort }) => lowerPort)}::integer[],
      ${keys.map(({ upperPort }) => upperPort)}::integer[]) AS key (address, lower_port, upper_port)
    WHERE (deleted.address, deleted.lower_port, deleted.upper_port) = (key.address, key.lower_port, key.upper_port)`;
}

function columns(key: NaptKey): { address: string; lowerPort: number; upperPort: number } {
  return {
    address: formatIpv4(key.address),
    lowerPort: key.lowerPort,
    upperPort: key.upperPort,
  };
}
