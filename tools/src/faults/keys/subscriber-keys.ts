import { KeyHistory } from '../history.js';
import type { Random } from '../../deployment/random.js';
import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import {
  FIXED_PROFILES,
  type Key,
  LISTED,
  loggedRecord,
  type LoggedRecords,
  MISSING_PROFILE,
  post,
  type Step,
} from './key.js';

/** A kind of record that identifies a subscriber. */
interface Kind {
  readonly collection: '/net/' | '/net6/' | '/napt/';
  readonly list: 'nets' | 'nets6' | 'napts';
  /** The fields other than the profile. They may change with the version. */
  draw(random: Random): Readonly<Record<string, unknown>>;
  path(fields: Readonly<Record<string, unknown>>): string;
  stored(fields: Readonly<Record<string, unknown>>, profileId: number): string;
  readonly logged: LoggedRecords;
}

/** A subscriber identified by an IPv4 address. */
export function ipv4NetworkKey(index: number): Key {
  const ip = `127.4.0.${index + 1}`;
  return subscriberKey(ip, `SELECT profile_id FROM ipv4_network WHERE address = '${ip}'`, {
    collection: '/net/',
    list: 'nets',
    draw: () => ({ ip }),
    path: () => `/net/${toInteger(ip)}`,
    stored: (_, profileId) => String(profileId),
    logged: loggedRecord('ipv4Network', [toInteger(ip)], ({ profileId }) => String(profileId)),
  });
}

/** A subscriber identified by an IPv6 prefix whose length changes. */
export function ipv6NetworkKey(index: number): Key {
  const ip = `2001:db8:6:${(index + 1).toString(16)}::1`;
  const sql = `SELECT concat_ws(' ', prefix_length, profile_id) FROM ipv6_network WHERE address = '${ip}'`;
  return subscriberKey(ip, sql, {
    collection: '/net6/',
    list: 'nets6',
    draw: (random) => ({ ip, prefix_len: random.integer(64, 128) }),
    path: () => `/net6/${ip}`,
    stored: ({ prefix_len }, profileId) => `${String(prefix_len)} ${profileId}`,
    logged: loggedRecord('ipv6Network', [0x2001_0db8, 0x0006_0000 + index + 1], (network) => {
      return `${network.prefixLength} ${network.profileId}`;
    }),
  });
}

/** A subscriber identified by a port range whose bounds change. Every source port of a query is within it. */
export function naptKey(index: number): Key {
  const ip = `127.5.0.${index + 1}`;
  const sql = `SELECT concat_ws(' ', lower_port, upper_port, profile_id) FROM napt_assignment WHERE address = '${ip}'`;
  return subscriberKey(ip, sql, {
    collection: '/napt/',
    list: 'napts',
    draw: (random) => ({
      ip,
      lower_port_bound: random.integer(0, 1_024),
      upper_port_bound: random.integer(65_000, 65_535),
    }),
    path: ({ lower_port_bound, upper_port_bound }) =>
      `/napt/${toInteger(ip)}/${String(lower_port_bound)}/${String(upper_port_bound)}`,
    stored: ({ lower_port_bound, upper_port_bound }, profileId) =>
      `${String(lower_port_bound)} ${String(upper_port_bound)} ${profileId}`,
    logged: loggedRecord('naptAssignment', [toInteger(ip)], (range) => {
      return `${range.lowerPort} ${range.upperPort} ${range.profileId}`;
    }),
  });
}

/** A subscriber that is created, deleted and moved between the fixed profiles. */
function subscriberKey(source: string, sql: string, kind: Kind): Key {
  let present: Readonly<Record<string, unknown>> | null = null;
  const drawVersion = (random: Random) => {
    const { id, blocked } = random.pick(FIXED_PROFILES);
    const fields = kind.draw(random);
    const after = { answers: [blocked], stored: kind.stored(fields, id) };
    return { fields, record: { ...fields, profile_id: id }, after };
  };
  const change = (record: unknown): Step => {
    if (present === null) return { ...post(kind.collection, record), alreadyDone: 409 };
    const path = kind.path(present);
    // A record whose key changed is not found at its old path.
    return { method: 'PATCH', path, body: record, answers: [], alreadyDone: 404 };
  };
  return {
    name: `subscriber ${source}`,
    history: new KeyHistory([UPSTREAM_ADDRESS]),
    probes: [{ source, qname: LISTED }],
    setUp: [],
    sql,
    logged: kind.logged,
    next: (random) => {
      const { fields, record, after } = drawVersion(random);
      if (random.chance(0.1)) {
        const refused = change({ ...record, profile_id: MISSING_PROFILE });
        return { ...refused, answers: ['nothing'], refusal: true };
      }
      if (present !== null && random.chance(0.3)) {
        const path = kind.path(present);
        present = null;
        const gone = { answers: [UPSTREAM_ADDRESS], stored: null, alreadyDone: 404 };
        return { method: 'DELETE', path, ...gone };
      }
      const step = { ...change(record), ...after };
      present = fields;
      return step;
    },
    replace: (random) => {
      const { fields, record, after } = drawVersion(random);
      present = random.chance(0.7) ? fields : null;
      if (present === null) return { part: {}, answers: [UPSTREAM_ADDRESS], stored: null };
      return { part: { [kind.list]: [record] }, ...after };
    },
  };
}

function toInteger(ip: string): number {
  return ip.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}
