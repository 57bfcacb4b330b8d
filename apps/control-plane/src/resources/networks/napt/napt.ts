import { Body, Controller, Injectable, Param } from '@nestjs/common';
import type { NaptAssignment } from '@weir/config-model';
import { conflict, notFound } from '../../../http/errors/errors.js';
import { ApiEndpoint } from '../../../http/routing/endpoint.js';
import type { Json } from '../../../http/validation/dto.js';
import { type Fault, type FaultLocation, throwIfFaults } from '../../../http/validation/fault.js';
import type { EntityChange } from '../../../revisions/change-record.js';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../../revisions/configuration-writer.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import { WorkingProfiles } from '../../profiles/profile-store.js';
import {
  assignmentOf,
  assignmentsOf,
  NAPT_ASSIGNMENTS,
  type NaptKey,
  type NaptRow,
  naptText,
  WorkingNapts,
} from './napt-store.js';
import {
  NaptAddressPath,
  NaptDto,
  NaptKeyDto,
  NaptPath,
  PatchNaptDto,
  pathKey,
  toAssignment,
  toDto,
  toKey,
  toPatch,
} from './napt.dto.js';
import { type Clash, findClashes, type OrderedRange, UPPER_BELOW_LOWER } from './port-ranges.js';

type OrderedAssignment = NaptAssignment & OrderedRange;

/** Order of stored ranges: before all submitted ones. */
const STORED_ORDER = -1;

/**
 * Clashes among the submitted assignments, and between them and the stored ones. The order is the position in the
 * request.
 */
function clashesByAddress(
  submitted: readonly NaptAssignment[],
  stored: readonly NaptAssignment[],
): Clash<OrderedAssignment>[] {
  const byAddress = new Map<number, OrderedAssignment[]>();
  const add = (assignment: NaptAssignment, order: number): void => {
    const ranges = byAddress.get(assignment.address) ?? [];
    if (ranges.length === 0) byAddress.set(assignment.address, ranges);
    ranges.push({ ...assignment, order });
  };
  for (const one of stored) add(one, STORED_ORDER);
  submitted.forEach(add);
  return [...byAddress.values()].flatMap((ranges) => findClashes(ranges));
}

@Injectable()
export class NaptService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  /** All assignments of an address, by lower port. An empty result is not an error (decisions §3). */
  listOf(address: number): Promise<WithRevision<NaptAssignment[]>> {
    return this.reader.read(assignmentsOf(address), (rows: NaptRow[]) =>
      rows
        .map((row) => NAPT_ASSIGNMENTS.toEntity(row))
        .sort((a, b) => a.lowerPort - b.lowerPort || a.upperPort - b.upperPort),
    );
  }

  get(key: NaptKey): Promise<WithRevision<NaptAssignment>> {
    return this.reader.read(assignmentOf(key), ([row]: NaptRow[]) =>
      existing(key, row ? NAPT_ASSIGNMENTS.toEntity(row) : null),
    );
  }

  async create(assignment: NaptAssignment): Promise<WithRevision<NaptAssignment>> {
    const created = await this.add([assignment], () => ['body']);
    return created.map(() => assignment);
  }

  /** Adds all or none. */
  createAll(
    assignments: readonly NaptAssignment[],
  ): Promise<WithRevision<readonly NaptAssignment[]>> {
    return this.add(assignments, (i) => ['body', String(i)]);
  }

  /** @param locationOf where the request has the assignment at a position. */
  private add(
    assignments: readonly NaptAssignment[],
    locationOf: (i: number) => FaultLocation,
  ): Promise<WithRevision<readonly NaptAssignment[]>> {
    return this.writer.write({
      items: assignments.length,
      need: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        const profiles = tables.of(WorkingProfiles.open);
        for (const assignment of assignments) {
          napts.need(assignment);
          profiles.needId(assignment.profileId);
        }
      },
      make: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        const profiles = tables.of(WorkingProfiles.open);
        const clashes = clashesByAddress(assignments, []);
        throwIfFaults([
          ...assignments.flatMap(({ profileId }, i) =>
            profiles.faults(profileId, [...locationOf(i), 'profile_id']),
          ),
          ...clashes.map(({ earlier, later }): Fault => {
            const msg = `Clashes with ${naptText(earlier)} in the same request`;
            return { loc: locationOf(later.order), msg, type: 'duplicate' };
          }),
        ]);
        checkNoClash(napts, assignments, null);
        const changes = assignments.map((assignment) => {
          napts.put(assignment);
          return added(assignment);
        });
        return { result: assignments, changes };
      },
    });
  }

  /** Changes an assignment, and its key if the patch does. */
  update(key: NaptKey, patch: Partial<NaptAssignment>): Promise<WithRevision<NaptAssignment>> {
    const { profileId } = patch;
    return this.writer.write({
      need: (tables) => {
        tables.of(WorkingNapts.open).need(key);
        tables.of(WorkingNapts.open).need({ ...key, ...patch });
        if (profileId !== undefined) tables.of(WorkingProfiles.open).needId(profileId);
      },
      make: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        const before = existing(key, napts.find(key));
        const after = { ...before, ...patch };
        throwIfFaults([
          ...(after.upperPort < after.lowerPort ? [UPPER_BELOW_LOWER_FAULT] : []),
          ...(profileId === undefined
            ? []
            : tables.of(WorkingProfiles.open).faults(profileId, ['body', 'profile_id'])),
        ]);
        checkNoClash(napts, [after], before);
        napts.delete(before);
        napts.put(after);
        return { result: after, changes: [{ kind: 'naptAssignment', before, after }] };
      },
    });
  }

  /** Deletes all or none. Duplicate keys are allowed. */
  remove(keys: readonly NaptKey[]): Promise<WithRevision<void>> {
    return this.writer.write({
      items: keys.length,
      need: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        for (const key of keys) napts.need(key);
      },
      make: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        const found = keys.map((key) => existing(key, napts.find(key)));
        const changes = Array.from(new Set(found), (assignment) => {
          napts.delete(assignment);
          return removed(assignment);
        });
        return { result: undefined, changes };
      },
    });
  }
}

const UPPER_BELOW_LOWER_FAULT: Fault = {
  loc: ['body', 'upper_port_bound'],
  msg: UPPER_BELOW_LOWER,
  type: 'greater_than_equal',
};

function added(after: NaptAssignment): EntityChange {
  return { kind: 'naptAssignment', before: null, after };
}

function removed(before: NaptAssignment): EntityChange {
  return { kind: 'naptAssignment', before, after: null };
}

function existing(key: NaptKey, assignment: NaptAssignment | null): NaptAssignment {
  if (assignment === null) throw notFound(`NAPT range ${naptText(key)}`);
  return assignment;
}

/** @param own the stored assignment that is changed; null for new ones. @throws RequestError 409 */
function checkNoClash(
  napts: WorkingNapts,
  assignments: readonly NaptAssignment[],
  own: NaptAssignment | null,
): void {
  const addresses = new Set(assignments.map(({ address }) => address));
  const stored = [...addresses].flatMap((address) => [...napts.of(address)]);
  const [clash] = clashesByAddress(
    assignments,
    stored.filter((one) => one !== own),
  );
  if (clash !== undefined) throw clashConflict(clash);
}

function clashConflict({ earlier, later }: Clash<OrderedAssignment>): Error {
  const equal = naptText(earlier) === naptText(later);
  return conflict(
    equal
      ? `NAPT range ${naptText(later)} already exists`
      : `NAPT range ${naptText(later)} partly overlaps ${naptText(earlier)}; ranges may only nest`,
  );
}

@Controller()
export class NaptController {
  constructor(private readonly napt: NaptService) {}

  @ApiEndpoint('POST /napt/', {
    body: NaptDto,
    summary: 'Attaches a port range to a profile',
    answer: NaptDto,
    errors: [409],
  })
  async create(@Body() body: NaptDto): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.create(toAssignment(body))).map(toDto);
  }

  @ApiEndpoint('POST /napt/batch', {
    body: [NaptDto],
    summary: 'Attaches several port ranges, all or none',
    answer: [NaptDto],
    errors: [409],
  })
  async createAll(@Body() body: NaptDto[]): Promise<WithRevision<Json<NaptDto>[]>> {
    const created = await this.napt.createAll(body.map(toAssignment));
    return created.map((assignments) => assignments.map(toDto));
  }

  @ApiEndpoint('DELETE /napt/batch', {
    body: [NaptKeyDto],
    summary: 'Deletes several port ranges, all or none',
    errors: [404],
  })
  removeAll(@Body() body: NaptKeyDto[]): Promise<WithRevision<void>> {
    return this.napt.remove(body.map(toKey));
  }

  @ApiEndpoint('GET /napt/:int_ip', {
    path: NaptAddressPath,
    summary: 'All port ranges of an address, by lower bound',
    answer: [NaptDto],
  })
  async listOf(@Param() path: NaptAddressPath): Promise<WithRevision<Json<NaptDto>[]>> {
    const found = await this.napt.listOf(path.int_ip);
    return found.map((assignments) => assignments.map(toDto));
  }

  @ApiEndpoint('GET /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    summary: 'One port range',
    answer: NaptDto,
    errors: [404],
  })
  async get(@Param() path: NaptPath): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.get(pathKey(path))).map(toDto);
  }

  @ApiEndpoint('PATCH /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    body: PatchNaptDto,
    summary: 'Changes a port range; its key may change',
    answer: NaptDto,
    errors: [404, 409],
  })
  async update(
    @Param() path: NaptPath,
    @Body() body: PatchNaptDto,
  ): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.update(pathKey(path), toPatch(body))).map(toDto);
  }

  @ApiEndpoint('DELETE /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    summary: 'Deletes a port range',
    errors: [404],
  })
  remove(@Param() path: NaptPath): Promise<WithRevision<void>> {
    return this.napt.remove([pathKey(path)]);
  }
}
