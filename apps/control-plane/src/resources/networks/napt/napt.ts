import { Body, Controller, Param } from '@nestjs/common';
import type { NaptAssignment } from '@weir/config-model';
import { conflict, orNotFound } from '../../../http/errors/errors.js';
import { type Answer, ApiEndpoint } from '../../../http/routing/endpoint.js';
import type { Json } from '../../../http/validation/dto.js';
import { type Fault, type FaultLocation, throwIfFaults } from '../../../http/validation/fault.js';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../../revisions/configuration-writer.js';
import { WorkingProfiles } from '../../profiles/profile-store.js';
import { formatIpv4 } from '../addresses/addresses.js';
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
  keyDto,
  NaptAddressPath,
  NaptDto,
  NaptKeyDto,
  NaptPath,
  PatchNaptDto,
  pathKey,
  toAssignment,
  toDto,
  toKey,
} from './napt.dto.js';
import { type Clash, findClashes, type OrderedRange, UPPER_BELOW_LOWER } from './port-ranges.js';

type OrderedAssignment = NaptAssignment & OrderedRange;

/** Order of stored ranges: before all submitted ones. */
const STORED_ORDER = -1;

/** Clashes among the submitted assignments, and with the stored ones. The order is the position in the request. */
function clashesByAddress(
  submitted: readonly NaptAssignment[],
  stored: readonly NaptAssignment[],
): Clash<OrderedAssignment>[] {
  const all: OrderedAssignment[] = [
    ...stored.map((one) => ({ ...one, order: STORED_ORDER })),
    ...submitted.map((one, order) => ({ ...one, order })),
  ];
  const byAddress = Map.groupBy(all, ({ address }) => address);
  return [...byAddress.values()].flatMap((ranges) => findClashes(ranges));
}

@Controller()
export class NaptController {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  @ApiEndpoint('POST /napt/', {
    body: NaptDto,
    summary: 'Attaches a port range to a profile',
    answer: NaptDto,
    errors: [409],
  })
  async create(@Body() body: NaptDto): Answer<NaptDto> {
    return (await this.add([body], () => ['body'])).map(([created]) => created);
  }

  @ApiEndpoint('POST /napt/batch', {
    body: [NaptDto],
    summary: 'Attaches several port ranges, all or none',
    answer: [NaptDto],
    errors: [409],
  })
  createAll(@Body() body: NaptDto[]): Answer<NaptDto[]> {
    return this.add(body, (i) => ['body', String(i)]);
  }

  /** Adds all or none. @param locationOf where the request has the assignment at a position. */
  private add(
    dtos: readonly NaptDto[],
    locationOf: (i: number) => FaultLocation,
  ): Answer<NaptDto[]> {
    const assignments = dtos.map(toAssignment);
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
        const changes = assignments.map((after) => {
          napts.put(after);
          return { kind: 'naptAssignment', before: null, after } as const;
        });
        return { result: assignments.map(toDto), changes };
      },
    });
  }

  @ApiEndpoint('DELETE /napt/batch', {
    body: [NaptKeyDto],
    summary: 'Deletes several port ranges, all or none',
    errors: [404],
  })
  removeAll(@Body() body: NaptKeyDto[]): Answer<void> {
    return this.delete(body.map(toKey));
  }

  /** An empty result is not an error (decisions §3). */
  @ApiEndpoint('GET /napt/:int_ip', {
    path: NaptAddressPath,
    summary: 'All port ranges of an address, by lower bound',
    answer: [NaptDto],
  })
  listOf(@Param() path: NaptAddressPath): Answer<NaptDto[]> {
    return this.reader.read(assignmentsOf(formatIpv4(path.int_ip)), (rows: NaptRow[]) =>
      rows
        .map((row) => NAPT_ASSIGNMENTS.toEntity(row))
        .sort((a, b) => a.lowerPort - b.lowerPort || a.upperPort - b.upperPort)
        .map(toDto),
    );
  }

  @ApiEndpoint('GET /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    summary: 'One port range',
    answer: NaptDto,
    errors: [404],
  })
  get(@Param() path: NaptPath): Answer<NaptDto> {
    const key = pathKey(path);
    return this.reader.read(assignmentOf(key), ([row]: NaptRow[]) =>
      toDto(existing(key, row && NAPT_ASSIGNMENTS.toEntity(row))),
    );
  }

  @ApiEndpoint('PATCH /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    body: PatchNaptDto,
    summary: 'Changes a port range; its key may change',
    answer: NaptDto,
    errors: [404, 409],
  })
  update(@Param() path: NaptPath, @Body() body: Json<PatchNaptDto>): Answer<NaptDto> {
    const key = pathKey(path);
    const { profile_id: profileId } = body;
    return this.writer.write({
      need: (tables) => {
        tables.of(WorkingNapts.open).need(key);
        tables.of(WorkingNapts.open).need(toKey({ ...keyDto(key), ...body }));
        if (profileId !== undefined) tables.of(WorkingProfiles.open).needId(profileId);
      },
      make: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        const before = existing(key, napts.find(key));
        const after = toAssignment({ ...toDto(before), ...body });
        throwIfFaults([
          ...(after.upperPort < after.lowerPort ? [UPPER_BELOW_LOWER_FAULT] : []),
          ...(profileId === undefined
            ? []
            : tables.of(WorkingProfiles.open).faults(profileId, ['body', 'profile_id'])),
        ]);
        checkNoClash(napts, [after], before);
        napts.delete(before);
        napts.put(after);
        return { result: toDto(after), changes: [{ kind: 'naptAssignment', before, after }] };
      },
    });
  }

  @ApiEndpoint('DELETE /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    summary: 'Deletes a port range',
    errors: [404],
  })
  remove(@Param() path: NaptPath): Answer<void> {
    return this.delete([pathKey(path)]);
  }

  /** Deletes all or none. Duplicate keys are allowed. */
  private delete(keys: readonly NaptKey[]): Answer<void> {
    return this.writer.write({
      items: keys.length,
      need: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        for (const key of keys) napts.need(key);
      },
      make: (tables) => {
        const napts = tables.of(WorkingNapts.open);
        const found = keys.map((key) => existing(key, napts.find(key)));
        const changes = Array.from(new Set(found), (before) => {
          napts.delete(before);
          return { kind: 'naptAssignment', before, after: null } as const;
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

function existing(key: NaptKey, assignment: NaptAssignment | null | undefined): NaptAssignment {
  return orNotFound(assignment, `NAPT range ${naptText(key)}`);
}

/** @param own the stored assignment that is changed; null for new ones. @throws RequestError 409 */
function checkNoClash(
  napts: WorkingNapts,
  assignments: readonly NaptAssignment[],
  own: NaptAssignment | null,
): void {
  const addresses = new Set(assignments.map(({ address }) => address));
  const stored = [...addresses].flatMap((address) => [...napts.of(address)]);
  const others = stored.filter((one) => one !== own);
  const [clash] = clashesByAddress(assignments, others);
  if (clash === undefined) return;
  const [earlier, later] = [naptText(clash.earlier), naptText(clash.later)];
  throw conflict(
    earlier === later
      ? `NAPT range ${later} already exists`
      : `NAPT range ${later} partly overlaps ${earlier}; ranges may only nest`,
  );
}
