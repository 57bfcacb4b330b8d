import { Injectable } from '@nestjs/common';
import type { NaptAssignment } from '@weir/config-model';
import { conflict, notFound } from '../../../http/errors/errors.js';
import { type Fault, type FaultLocation, throwIfFaults } from '../../../http/validation/fault.js';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter, type Transaction } from '../../../revisions/configuration-writer.js';
import type { EntityChange } from '../../../revisions/entity-change.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import { profileFaults, unknownProfile, unknownProfiles } from '../../profiles/profile-store.js';
import { formatIpv4 } from '../addresses/ipv4.js';
import {
  deleteAssignments,
  findAssignment,
  findOfAddresses,
  insertAssignments,
  type NaptKey,
  updateAssignment,
} from './napt-store.js';
import { type Clash, findClashes, type OrderedRange, UPPER_BELOW_LOWER } from './port-ranges.js';

/** Where a request holds the parts of an assignment, for their faults. */
export interface NaptLocations {
  readonly item: FaultLocation;
  readonly profileId: FaultLocation;
  readonly upperPort: FaultLocation;
}

/** Order of stored ranges: before all submitted ones. */
const STORED_ORDER = -1;

@Injectable()
export class NaptService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  /** All assignments of an address, by lower port. An empty result is not an error (decisions §3). */
  listOf(address: number): Promise<WithRevision<NaptAssignment[]>> {
    return this.reader.read((tx) => findOfAddresses(tx, [address]));
  }

  get(key: NaptKey): Promise<WithRevision<NaptAssignment>> {
    return this.reader.read((tx) => requireAssignment(tx, key));
  }

  create(
    assignment: NaptAssignment,
    locations: NaptLocations,
  ): Promise<WithRevision<NaptAssignment>> {
    return this.writer.write(async (tx) => {
      throwIfFaults(await profileFaults(tx, assignment.profileId, locations.profileId));
      await checkNoClash(tx, assignment, null);
      await insertAssignments(tx, [assignment]);
      return { result: assignment, changes: [added(assignment)] };
    });
  }

  /** Adds all or none. */
  createAll(
    assignments: readonly NaptAssignment[],
    locationsOf: (i: number) => NaptLocations,
  ): Promise<WithRevision<readonly NaptAssignment[]>> {
    return this.writer.write(async (tx) => {
      throwIfFaults([
        ...(await batchProfileFaults(tx, assignments, locationsOf)),
        ...clashesByAddress(assignments, []).map(({ earlier, later }): Fault => {
          const msg = `Clashes with ${text(earlier)} in the same request`;
          return { loc: locationsOf(later.order).item, msg, type: 'duplicate' };
        }),
      ]);
      const stored = await findStored(tx, assignments);
      const [clash] = clashesByAddress(assignments, stored);
      if (clash !== undefined) throw clashConflict(clash);
      await insertAssignments(tx, assignments);
      return { result: assignments, changes: assignments.map(added) };
    });
  }

  /** Changes an assignment, and its key if the patch does. */
  update(
    key: NaptKey,
    patch: Partial<NaptAssignment>,
    locations: NaptLocations,
  ): Promise<WithRevision<NaptAssignment>> {
    return this.writer.write(async (tx) => {
      const before = await requireAssignment(tx, key);
      const after = { ...before, ...patch };
      throwIfFaults([
        ...(after.upperPort < after.lowerPort ? [upperBelowLower(locations)] : []),
        ...(await profileFaults(tx, after.profileId, locations.profileId)),
      ]);
      await checkNoClash(tx, after, before);
      await updateAssignment(tx, key, after);
      return { result: after, changes: [{ kind: 'naptAssignment', before, after }] };
    });
  }

  /** Deletes all or none. Duplicate keys are allowed. */
  remove(keys: readonly NaptKey[]): Promise<WithRevision<void>> {
    return this.writer.write(async (tx) => {
      const stored = await findOfAddresses(tx, distinctAddresses(keys));
      const byKey = new Map(stored.map((assignment) => [text(assignment), assignment]));
      const deleted = new Map<string, NaptAssignment>();
      for (const key of keys) {
        const assignment = byKey.get(text(key));
        if (assignment === undefined) throw notFound(`NAPT range ${text(key)}`);
        deleted.set(text(key), assignment);
      }
      await deleteAssignments(tx, [...deleted.values()]);
      return { result: undefined, changes: Array.from(deleted.values(), removed) };
    });
  }
}

function upperBelowLower({ upperPort }: NaptLocations): Fault {
  return { loc: upperPort, msg: UPPER_BELOW_LOWER, type: 'greater_than_equal' };
}

type OrderedAssignment = NaptAssignment & OrderedRange;

function added(after: NaptAssignment): EntityChange {
  return { kind: 'naptAssignment', before: null, after };
}

function removed(before: NaptAssignment): EntityChange {
  return { kind: 'naptAssignment', before, after: null };
}

async function requireAssignment(tx: Transaction, key: NaptKey): Promise<NaptAssignment> {
  const assignment = await findAssignment(tx, key);
  if (assignment === null) throw notFound(`NAPT range ${text(key)}`);
  return assignment;
}

async function batchProfileFaults(
  tx: Transaction,
  assignments: readonly NaptAssignment[],
  locationsOf: (i: number) => NaptLocations,
): Promise<Fault[]> {
  const unknown = await unknownProfiles(
    tx,
    assignments.map(({ profileId }) => profileId),
  );
  return assignments.flatMap(({ profileId }, i) =>
    unknown.has(profileId) ? [unknownProfile(profileId, locationsOf(i).profileId)] : [],
  );
}

/** @param own the stored assignment that is changed; null for a new one. @throws RequestError 409 */
async function checkNoClash(
  tx: Transaction,
  assignment: NaptAssignment,
  own: NaptAssignment | null,
): Promise<void> {
  const stored = await findStored(tx, [assignment]);
  const others = stored.filter((one) => own === null || text(one) !== text(own));
  const [clash] = clashesByAddress([assignment], others);
  if (clash !== undefined) throw clashConflict(clash);
}

function findStored(tx: Transaction, keys: readonly NaptKey[]): Promise<NaptAssignment[]> {
  return findOfAddresses(tx, distinctAddresses(keys));
}

function distinctAddresses(keys: readonly NaptKey[]): number[] {
  return [...new Set(keys.map(({ address }) => address))];
}

/**
 * Clashes among the submitted assignments, and between them and the stored ones. The order is the position in the
 * request.
 */
function clashesByAddress(
  submitted: readonly NaptAssignment[],
  stored: readonly NaptAssignment[],
): Clash<OrderedAssignment>[] {
  const ordered: OrderedAssignment[] = [
    ...stored.map((assignment) => ({ ...assignment, order: STORED_ORDER })),
    ...submitted.map((assignment, order) => ({ ...assignment, order })),
  ];
  const byAddress = Map.groupBy(ordered, ({ address }) => address);
  return [...byAddress.values()].flatMap((ranges) => findClashes(ranges));
}

function clashConflict({ earlier, later }: Clash<OrderedAssignment>): Error {
  const equal = text(earlier) === text(later);
  return conflict(
    equal
      ? `NAPT range ${text(later)} already exists`
      : `NAPT range ${text(later)} partly overlaps ${text(earlier)}; ranges may only nest`,
  );
}

function text({ address, lowerPort, upperPort }: NaptKey): string {
  return `${formatIpv4(address)} ${lowerPort}-${upperPort}`;
}
