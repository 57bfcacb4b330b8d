import type { DomainRule, EntityKind, Grant, Order, PutOperation } from '@weir/config-model';
import { type Client, MatchedBy, type SubscriberMatch } from '@weir/policy';
import { Prisma } from '../generated/prisma/client.js';
import type { Json } from '../http/validation/dto.js';
import type { EntityTable } from '../platform/database/snapshot.js';
import { DOMAIN_RULES, domainRulesIn } from '../resources/domain-lists/domain-rule-store.js';
import { GRANTS, grantsIn } from '../resources/grants/grant-store.js';
import { type AddressFamily, IPV4, IPV6 } from '../resources/networks/addresses/addresses.js';
import {
  assignmentsOf,
  NAPT_ASSIGNMENTS,
  type NaptRow,
} from '../resources/networks/napt/napt-store.js';
import { toDto as toNaptDto } from '../resources/networks/napt/napt.dto.js';
import {
  fromRow,
  IPV4_NETWORKS,
  IPV6_NETWORKS,
  networksBy,
  type NetworkRow,
  prefixText,
} from '../resources/networks/prefixes/network-store.js';
import { toDto as toNetworkDto } from '../resources/networks/prefixes/network.dto.js';
import { ORDERS, ordersOf } from '../resources/orders/order-store.js';
import { type ProfileRow, PROFILES, profilesIn } from '../resources/profiles/profile-store.js';
import {
  type ScheduleRecord,
  SCHEDULES,
  schedulesIn,
} from '../resources/schedules/schedule-store.js';
import type { SubscriberDto } from './explain.dto.js';

/** The part of the configuration that decides about one client and one name. */
export interface SubscriberRows {
  /** Ranges that have the port of the client, and any one range of its address. */
  readonly napts: readonly NaptRow[];
  /** Networks that hold the client. */
  readonly networks: readonly NetworkRow[];
  /** Of the profiles of those. */
  readonly schedules: readonly ScheduleRecord[];
  /** The profiles of those, and the targets of their schedules. */
  readonly profiles: readonly ProfileRow[];
  /** Of these profiles, for the name and its parents. */
  readonly domainRules: readonly DomainRule[];
  /** Of these profiles, for the name and its parents. */
  readonly grants: readonly Grant[];
  /** For the name and its parents, and any one order: where there is one, targets are judged. */
  readonly orders: readonly Order[];
}

/**
 * Reads the `SubscriberRows` of a client as one row, all at one revision. Every look-up is by an index.
 * @param address text of the client's address.
 * @param domainHashes of the name and its parents.
 */
export function subscriberRows(
  { family, words, port }: Client,
  address: string,
  domainHashes: readonly number[],
): Prisma.Sql {
  const hashes = Prisma.sql`${domainHashes.map(String)}::bigint[]`;
  const owners = Prisma.sql`ARRAY (SELECT profile_id FROM owners)`;
  const ids = Prisma.sql`ARRAY (SELECT profile_id FROM ids)`;
  const range = assignmentsOf(address);
  const [a, b, c, d] = words;
  const networks =
    family === 4
      ? networksBy(IPV4, 'network', prefixesOf(IPV4, a))
      : networksBy(IPV6, 'network', prefixesOf(IPV6, [a, b, c, d]));
  return Prisma.sql`
    WITH napts AS MATERIALIZED (
      (${range} AND lower_port <= ${port} AND upper_port >= ${port}) UNION (${range} LIMIT 1)
    ), networks AS MATERIALIZED (${networks}
    ), owners AS MATERIALIZED (
      SELECT "profileId" AS profile_id FROM napts UNION SELECT "profileId" FROM networks
    ), schedules AS MATERIALIZED (${schedulesIn(owners)}
    ), ids AS MATERIALIZED (
      SELECT profile_id FROM owners UNION SELECT "targetProfileId" FROM schedules
    ), profiles AS (${profilesIn(ids)}
    ), "domainRules" AS (${domainRulesIn(ids, hashes)}
    ), grants AS (${grantsIn(owners, hashes)}
    ), orders AS (${ordersOf(hashes)}
    )
    SELECT ${Prisma.raw(PARTS.map(asList).join(', '))}`;
}

const PARTS: readonly (keyof SubscriberRows)[] = [
  ...(['napts', 'networks', 'schedules', 'profiles', 'domainRules', 'grants', 'orders'] as const),
];

function asList(part: string): string {
  return `(SELECT coalesce(json_agg("${part}"), '[]') FROM "${part}") AS "${part}"`;
}

/** The prefixes that a network with the client may have. */
function prefixesOf<A>(family: AddressFamily<A>, address: A): string[] {
  const [shortest, longest] = family.prefixLengths;
  return Array.from({ length: longest - shortest + 1 }, (_, i) =>
    prefixText(family, { address, prefixLength: shortest + i }),
  );
}

/** All entities of the rows. */
export function entitiesOf(rows: SubscriberRows, family: 4 | 6): PutOperation[] {
  const { napts, networks, schedules, profiles, domainRules, grants, orders } = rows;
  return [
    ...putAll(NAPT_ASSIGNMENTS, napts),
    ...(family === 4 ? putAll(IPV4_NETWORKS, networks) : putAll(IPV6_NETWORKS, networks)),
    ...putAll(SCHEDULES, schedules),
    ...putAll(PROFILES, profiles),
    ...putAll(DOMAIN_RULES, domainRules),
    ...putAll(GRANTS, grants),
    ...putAll(ORDERS, orders),
  ];
}

function putAll<K extends EntityKind, Row>(
  table: EntityTable<K, Row>,
  rows: readonly Row[],
): PutOperation[] {
  const { kind } = table;
  return rows.map((row) => ({ type: 'put', kind, entity: table.toEntity(row) }) as PutOperation);
}

/** The record by which the client was found, as its resource shows it; null: none. */
export function subscriberDto(
  { napts, networks }: SubscriberRows,
  family: 4 | 6,
  match: SubscriberMatch,
): Json<SubscriberDto> | null {
  if (match.by === MatchedBy.naptRange) {
    const { lowerPort, upperPort } = match;
    const row = napts.find((one) => one.lowerPort === lowerPort && one.upperPort === upperPort);
    return row === undefined
      ? null
      : { kind: 'napt', ...toNaptDto(NAPT_ASSIGNMENTS.toEntity(row)) };
  }
  if (match.by !== MatchedBy.network) return null;
  const row = networks.find((one) => one.prefixLength === match.prefixLength);
  if (row === undefined) return null;
  return family === 4
    ? { kind: 'net', ...toNetworkDto(IPV4, fromRow(IPV4, row)) }
    : { kind: 'net6', ...toNetworkDto(IPV6, fromRow(IPV6, row)) };
}
