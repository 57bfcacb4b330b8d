import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import type { Random } from '../../deployment/random.js';
import {
  FIXED_PROFILES,
  type Key,
  LISTED,
  loggedRecord,
  type LoggedRecords,
  MISSING_PROFILE,
  post,
} from './key.js';
import { recordKey } from './record-key.js';

/** A kind of record that identifies a subscriber. */
interface Kind {
  readonly collection: '/net/' | '/net6/' | '/napt/';
  readonly list: 'nets' | 'nets6' | 'napts';
  /** The columns of `Key.sql`: those of the fields below, and the profile. */
  readonly columns: string;
  readonly table: string;
  /** The fields other than address and profile. They change with the version. */
  draw(random: Random): Readonly<Record<string, number>>;
  readonly path: (body: Readonly<Record<string, unknown>>) => string;
  readonly logged: LoggedRecords;
}

/** A subscriber identified by an IPv4 address. */
function ipv4NetworkKey(index: number): Key {
  const ip = `127.4.0.${index + 1}`;
  return subscriberKey(ip, {
    collection: '/net/',
    list: 'nets',
    table: 'ipv4_network',
    columns: 'profile_id',
    draw: () => ({}),
    path: () => `/net/${toInteger(ip)}`,
    logged: loggedRecord('ipv4Network', [toInteger(ip)], ({ profileId }) => String(profileId)),
  });
}

/** A subscriber identified by an IPv6 prefix whose length changes. */
function ipv6NetworkKey(index: number): Key {
  const ip = `2001:db8:6:${(index + 1).toString(16)}::1`;
  return subscriberKey(ip, {
    collection: '/net6/',
    list: 'nets6',
    table: 'ipv6_network',
    columns: 'prefix_length, profile_id',
    draw: (random) => ({ prefix_len: random.integer(64, 128) }),
    path: () => `/net6/${ip}`,
    logged: loggedRecord('ipv6Network', [0x2001_0db8, 0x0006_0000 + index + 1], (network) => {
      return `${network.prefixLength} ${network.profileId}`;
    }),
  });
}

/** A subscriber identified by a port range whose bounds change. Every source port of a query is within it. */
function naptKey(index: number): Key {
  const ip = `127.5.0.${index + 1}`;
  return subscriberKey(ip, {
    collection: '/napt/',
    list: 'napts',
    table: 'napt_assignment',
    columns: 'lower_port, upper_port, profile_id',
    draw: (random) => ({
      lower_port_bound: random.integer(0, 1_024),
      upper_port_bound: random.integer(65_000, 65_535),
    }),
    path: ({ lower_port_bound, upper_port_bound }) =>
      `/napt/${toInteger(ip)}/${String(lower_port_bound)}/${String(upper_port_bound)}`,
    logged: loggedRecord('naptAssignment', [toInteger(ip)], (range) => {
      return `${range.lowerPort} ${range.upperPort} ${range.profileId}`;
    }),
  });
}

/** A subscriber that is created, deleted and moved between the fixed profiles. */
function subscriberKey(ip: string, kind: Kind): Key {
  const { collection, list, columns, table, path, logged } = kind;
  return recordKey({
    name: `subscriber ${ip}`,
    probes: [{ source: ip, qname: LISTED }],
    setUp: [],
    sql: `SELECT concat_ws(' ', ${columns}) FROM ${table} WHERE address = '${ip}'`,
    logged,
    none: [UPSTREAM_ADDRESS],
    draw: (random) => {
      const { id, blocked } = random.pick(FIXED_PROFILES);
      const fields = kind.draw(random);
      const stored = [...Object.values(fields), id].join(' ');
      return { answers: [blocked], stored, body: { ip, ...fields, profile_id: id } };
    },
    put: (body, before) =>
      before === null
        ? { ...post(collection, body), alreadyDone: 409 }
        : // A record whose key changed is not found at its old path.
          { method: 'PATCH', path: path(before), body, alreadyDone: 404 },
    wrong: (body) => ({ ...body, profile_id: MISSING_PROFILE }),
    path,
    atInit: 'drawn',
    part: (body) => (body === null ? {} : { [list]: [body] }),
  });
}

function toInteger(ip: string): number {
  return ip.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

export const SUBSCRIBER_KEYS = [ipv4NetworkKey, ipv6NetworkKey, naptKey];
