import { type EncodedOperation, type EntityKind, type Ipv6Words, MAX_ID } from '@weir/config-model';
import { IsOptional } from 'class-validator';
import { Example, exampleOf, type Json } from '../http/validation/dto.js';
import {
  InPlaceOf,
  IsAnswered,
  IntegerParameter,
  IsInteger,
  IsNestedList,
  IsOneOf,
  IsText,
  IsTime,
  Optional,
} from '../http/validation/rules.js';
import { formatIpv4, formatIpv6 } from '../resources/networks/addresses/addresses.js';

const MAX_REVISION = Number.MAX_SAFE_INTEGER;
const MAX_CHANGES = 1_000;

const IsRevision = (): PropertyDecorator => IntegerParameter(0, 10 ** 15 - 1);

@Example<ChangesQuery>({ after: 0, limit: 100 })
export class ChangesQuery {
  /** The revision after which to begin. */
  @Optional() @IsRevision() after = 0;
  @Optional() @IntegerParameter(1, MAX_CHANGES) limit = 100;
  @Optional() @IntegerParameter(0, MAX_ID) profile_id?: number;

  @Optional()
  @IsText('a name of a token', (text) => /^[\w.-]+$/.test(text))
  token?: string;

  /** The newest ones, at most this many, from the oldest to the newest. */
  @Optional()
  @InPlaceOf('after', 'limit')
  @IntegerParameter(1, MAX_CHANGES)
  last?: number;
}

/** How each kind is called in GET /changes/, and how its key is written there and in the dry run of POST /init/. */
export const RESOURCES = {
  blockPage: ['blockpage', ([id]) => id],
  profile: ['profile', ([id]) => id],
  domainRule: ['bw_list', ([profile, hash]) => ({ profile_id: profile, domain_hash: hash })],
  ipv4Network: ['net', ([address, length]) => `${formatIpv4(address)}/${length}`],
  ipv6Network: [
    'net6',
    (row) => `${formatIpv6(row.slice(0, 4) as unknown as Ipv6Words)}/${row[4]}`,
  ],
  naptAssignment: ['napt', ([address, lower, upper]) => `${formatIpv4(address)}:${lower}-${upper}`],
  schedule: ['schedule', ([profile]) => profile],
  catalogue: ['catalogue', () => null],
  order: ['orders', ([id]) => id],
  grant: ['grants', ([profile, hash]) => ({ profile_id: profile, domain_hash: hash })],
  // A list that was held; its key is a text.
  catalogueSource: ['catalogue_source', ([name]) => name],
} satisfies Record<
  EntityKind | 'catalogueSource',
  readonly [name: string, key: (row: readonly number[]) => unknown]
>;
/** Everything, and what is beyond the keys of a record. */
const OTHER_RESOURCES = ['configuration', 'more'] as const;

@Example<ChangedDto>({ resource: 'net', key: '192.0.2.7/24', action: 'set', count: 1 })
class ChangedDto {
  @IsOneOf([...Object.values(RESOURCES).map(([name]) => name), ...OTHER_RESOURCES])
  resource!: string;

  @IsAnswered({
    description:
      'An id; 192.0.2.7/24; 192.0.2.1:1024-2047; profile_id and domain_hash; null where there is none.',
  })
  key!: unknown;

  @IsOneOf(['set', 'deleted']) action!: string;

  /** How many; more than one only of `more`. */
  @IsInteger(1, MAX_REVISION) count!: number;
}

@Example<ChangeDto>({
  revision: 42,
  time: '2026-11-24T12:00:00.000Z',
  token: 'billing',
  source: '198.51.100.7',
  request_id: 'ticket-4711',
  method: 'POST',
  route: '/net/',
  changed: [exampleOf(ChangedDto)],
})
export class ChangeDto {
  @IsInteger(1, MAX_REVISION) revision!: number;
  @IsTime() time!: string;

  /** This and the next four are null when no call made the change. */
  @IsOptional() @IsText('a name') token!: string | null;
  @IsOptional() @IsText('an address') source!: string | null;
  @IsOptional() @IsText('an id') request_id!: string | null;
  @IsOptional() @IsText('a method') method!: string | null;
  @IsOptional() @IsText('a pattern of a path') route!: string | null;
  @IsNestedList(() => ChangedDto) changed!: ChangedDto[];
}

@Example<ChangesDto>({ changes: [exampleOf(ChangeDto)], next: 42 })
export class ChangesDto {
  @IsNestedList(() => ChangeDto, Infinity) changes!: ChangeDto[];

  /** The last revision given, or `after`: where to go on. */
  @IsInteger(0, MAX_REVISION) next!: number;
}

export interface RecordRow {
  readonly revision: number;
  readonly created_at: Date;
  readonly token: string | null;
  readonly source: string | null;
  readonly request_id: string | null;
  readonly method: string | null;
  readonly route: string | null;
  /** The keys that it changed, as people know them, not more than a record has room for. */
  readonly keys: readonly EncodedOperation[];
  readonly key_count: number;
}

export function toDto(row: RecordRow): Json<ChangeDto> {
  const { revision, token, source, request_id, method, route, keys, key_count: count } = row;
  const changed = keys.map(toChanged);
  if (count > keys.length) {
    changed.push({ resource: 'more', key: null, action: 'set', count: count - keys.length });
  }
  const time = row.created_at.toISOString();
  return { revision, time, token, source, request_id, method, route, changed };
}

function toChanged(operation: EncodedOperation): Json<ChangedDto> {
  if (operation[0] === 'reload') {
    return { resource: 'configuration', key: null, action: 'set', count: 1 };
  }
  const [type, kind, row] = operation;
  const [resource, key] = RESOURCES[kind];
  const action = type === 'put' ? 'set' : 'deleted';
  return { resource, key: key(row as readonly number[]), action, count: 1 };
}
