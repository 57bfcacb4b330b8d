import type { EntityKeys, NaptAssignment } from '@weir/config-model';
import { Prisma } from '../../../generated/prisma/client.js';
import type { EntityTable } from '../../../platform/database/snapshot.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import { RowsTable, RowStore, type WorkingTables } from '../../../revisions/working-tables.js';
import { WorkingProfiles } from '../../profiles/profile-store.js';
import { formatIpv4, parseIpv4 } from '../addresses/addresses.js';

export type NaptKey = EntityKeys['naptAssignment'];

export interface NaptRow extends Omit<NaptAssignment, 'address'> {
  readonly address: string;
}

const COLUMNS = `
  host(napt_assignment.address) AS address, lower_port AS "lowerPort", upper_port AS "upperPort",
  profile_id AS "profileId"`;

export const NAPT_ASSIGNMENTS: EntityTable<'naptAssignment', NaptRow> = {
  kind: 'naptAssignment',
  sql: `
    SELECT ${COLUMNS} FROM napt_assignment
    ORDER BY napt_assignment.address, lower_port, upper_port`,
  // The database checks the family of every address.
  toEntity: (row) => ({ ...row, address: parseIpv4(row.address) as number }),
};

export function assignmentsOf(address: string): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)} FROM napt_assignment
    WHERE address = ${address}::inet`;
}

export function assignmentOf({ address, lowerPort, upperPort }: NaptKey): Prisma.Sql {
  return Prisma.sql`
    ${assignmentsOf(formatIpv4(address))} AND lower_port = ${lowerPort} AND upper_port = ${upperPort}`;
}

const STORE = new RowStore<NaptAssignment, NaptKey>({
  name: 'napt_assignment',
  key: {
    address: ['inet', ({ address }) => formatIpv4(address)],
    lower_port: ['integer', ({ lowerPort }) => lowerPort],
    upper_port: ['integer', ({ upperPort }) => upperPort],
  },
  rest: { profile_id: ['integer', ({ profileId }) => profileId] },
  select: COLUMNS,
});

/** A range as it is shown: `192.0.2.1 1024-2047`. */
export function naptText({ address, lowerPort, upperPort }: NaptKey): string {
  return `${formatIpv4(address)} ${lowerPort}-${upperPort}`;
}

/** The NAPT ranges that a group of changes needs: all that overlap one of the needed ranges, and maybe others. */
export class WorkingNapts extends RowsTable<NaptAssignment, NaptKey> {
  static readonly open = (tables: WorkingTables): WorkingNapts => {
    tables.of(WorkingProfiles.open);
    return new WorkingNapts(STORE);
  };

  /** By address the least range that holds all needed ones. */
  private readonly ranges = new Map<number, NaptKey>();
  /** By address and key. */
  private readonly current = new Map<number, Map<string, NaptAssignment>>();

  override need(range: NaptKey): void {
    super.need(range);
    const { address } = range;
    const known = this.ranges.get(address) ?? range;
    this.ranges.set(address, {
      address,
      lowerPort: Math.min(known.lowerPort, range.lowerPort),
      upperPort: Math.max(known.upperPort, range.upperPort),
    });
  }

  /** The known ranges of an address. */
  of(address: number): Iterable<NaptAssignment> {
    return this.current.get(address)?.values() ?? [];
  }

  override put(assignment: NaptAssignment): void {
    super.put(assignment);
    this.show(assignment);
  }

  override delete(key: NaptKey): void {
    super.delete(key);
    this.current.get(key.address)?.delete(naptText(key));
  }

  /** Those that share a port with one of the ranges, not only those with the same key. */
  protected override async select(tx: Transaction): Promise<NaptAssignment[]> {
    const ranges = [...this.ranges.values()];
    const rows = await tx.$queryRaw<NaptRow[]>`
      SELECT ${Prisma.raw(COLUMNS)}
      FROM unnest(
        ${ranges.map(({ address }) => formatIpv4(address))}::inet[],
        ${ranges.map(({ lowerPort }) => lowerPort)}::integer[],
        ${ranges.map(({ upperPort }) => upperPort)}::integer[]) AS range (address, lower, upper)
      JOIN napt_assignment ON napt_assignment.address = range.address
      AND lower_port <= range.upper AND upper_port >= range.lower`;
    return rows.map((row) => NAPT_ASSIGNMENTS.toEntity(row));
  }

  protected override load(assignment: NaptAssignment): void {
    super.load(assignment);
    this.show(assignment);
  }

  private show(assignment: NaptAssignment): void {
    const ranges = this.current.get(assignment.address) ?? new Map<string, NaptAssignment>();
    this.current.set(assignment.address, ranges.set(naptText(assignment), assignment));
  }
}
