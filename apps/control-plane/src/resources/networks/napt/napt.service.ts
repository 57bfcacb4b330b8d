import { Injectable } from '@nestjs/common';
import type { NaptAssignment } from '@weir/config-model';
import { formatIpv4 } from '../addresses/ipv4.js';
import { conflict, notFound } from '../../../http/errors/errors.js';
import { profileFaults, unknownProfile, unknownProfiles } from '../../profiles/profile-store.js';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter, type Transaction } from '../../../revisions/configuration-writer.js';
import type { EntityChange } from '../../../revisions/entity-change.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import { type Fault, type FaultLocation, throwIfFaults } from '../../../http/validation/fault.js';
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

/** Order of what stands already: before everything submitted. */
const STORED_ORDER = -1;

@Injectable()
export class NaptService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  /** All assignments of an address, by lower bound; none is no failure (decisions §3). */
  listOf(address: number): Promise<WithRevision<NaptAssignment[]>> {
    return this.reader.read((tx) => findOfAddresses(tx, [address]));
  }

  get(key: NaptKey): Promise<WithRevision<NaptAssignment>> {
    return this.reader.read((tx) => existing(tx, key));
  }

  create(assignment: NaptAssignment, locations: NaptLocations): Promise<WithRevision<NaptAssignment>> {
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
      const standing = await findStored(tx, assignments);
      const [clash] = clashesByAddress(assignments, standing);
      if (clash !== undefined) throw clashConflict(clash);
      await insertAssignments(tx, assignments);
      return { result: assignments, changes: assignments.map(added) };
    });
  }

  /** Changes an assignment; another key moves it. */
  update(
    key: NaptKey,
    patch: Partial<NaptAssignment>,
    locations: NaptLocations,
  ): Promise<WithRevision<NaptAssignment>> {
    return this.writer.write(async (tx) => {
      const before = await existing(tx, key);
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

  /** Removes all or none; the same key twice is the same removal. */
  remove(keys: readonly NaptKey[]): Promise<WithRevision<void>> {
    return this.writer.write(async (tx) => {
      const standing = await findOfAddresses(tx, distinctAddresses(keys));
      const byKey = new Map(standing.map((assignment) => [text(assignment), assignment]));
      const gone = new Map<string, NaptAssignment>();
      for (const key of keys) {
        const assignment = byKey.get(text(key));
        if (assignment === undefined) throw notFound(`NAPT range ${text(key)}`);
        gone.set(text(key), assignment);
      }
      await deleteAssignments(tx, [...gone.values()]);
      return { result: undefined, changes: Array.from(gone.values(), removed) };
    });
  }
}

function upperBelowLower({ upperPort }: NaptLocations): Fault {
  return { loc: upperPort, msg: UPPER_BELOW_LOWER, type: 'greater_than_equal' };
}

type Placed = NaptAssignment & OrderedRange;

function added(after: NaptAssignment): EntityChange {
  return { kind: 'naptAssignment', before: null, after };
}

function removed(before: NaptAssignment): EntityChange {
  return { kind: 'naptAssignment', before, after: null };
}

async function existing(tx: Transaction, key: NaptKey): Promise<NaptAssignment> {
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

/** @param own the assignment as it stands; null when it is new. */
async function checkNoClash(
  tx: Transaction,
  assignment: NaptAssignment,
  own: NaptAssignment | null,
): Promise<void> {
  const standing = await findStored(tx, [assignment]);
  const others = standing.filter((one) => own === null || text(one) !== text(own));
  const [clash] = clashesByAddress([assignment], others);
  if (clash !== undefined) throw clashConflict(clash);
}

function findStored(tx: Transaction, keys: readonly NaptKey[]): Promise<NaptAssignment[]> {
  return findOfAddresses(tx, distinctAddresses(keys));
}

function distinctAddresses(keys: readonly NaptKey[]): number[] {
  return [...new Set(keys.map(({ address }) => address))];
}

/** Clashes of submitted assignments, each with its position as order, among each other and with those that stand. */
function clashesByAddress(
  submitted: readonly NaptAssignment[],
  standing: readonly NaptAssignment[],
): Clash<Placed>[] {
  const placed: Placed[] = [
    ...standing.map((assignment) => ({ ...assignment, order: STORED_ORDER })),
    ...submitted.map((assignment, order) => ({ ...assignment, order })),
  ];
  const byAddress = Map.groupBy(placed, ({ address }) => address);
  return [...byAddress.values()].flatMap((ranges) => findClashes(ranges));
}

function clashConflict({ earlier, later }: Clash<Placed>): Error {
  const equal = text(earlier) === text(later);
  return conflict(
    equal
      ? `NAPT range ${text(later)} exists already`
      : `NAPT range ${text(later)} overlaps ${text(earlier)} in part; ranges may only nest`,
  );
}

function text({ address, lowerPort, upperPort }: NaptKey): string {
  return `${formatIpv4(address)} ${lowerPort}-${upperPort}`;
}
