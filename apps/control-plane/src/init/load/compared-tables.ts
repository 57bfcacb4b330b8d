import type { Entities, NaptAssignment, RuleVerdict } from '@weir/config-model';
import { hash as digestOf } from 'node:crypto';
import { copyLine, FixedColumns } from '../../platform/database/copy.js';
import {
  type AddressFamily,
  formatIpv4,
  IPV4,
  IPV6,
} from '../../resources/networks/addresses/addresses.js';
import { toProfile } from '../../resources/profiles/profile-draft.js';
import type { Draft, DraftNetworks } from '../draft/draft.js';

/*
 * Sizes of PostgreSQL's types in the binary format of COPY. An address has four bytes before those of the address
 * itself: family, length of its mask, whether it is a cidr, and number of bytes.
 */
const SIZES = {
  ...{ tid: 6, boolean: 1, smallint: 2, integer: 4, bigint: 8 },
  ...{ sha256: 32, ipv4: 8, ipv6: 20 },
} as const;
const ADDRESS_AT = 4;
const TWO_TO_32 = 4_294_967_296;

/** The records of the tables. Networks have their host bits. */
export type ComparedRecords = Pick<
  Entities,
  'blockPage' | 'domainRule' | 'naptAssignment' | 'ipv4Network' | 'ipv6Network'
> & {
  readonly profile: { readonly id: number };
  readonly applicationRule: { readonly profileId: number };
};

export type ComparedKind = keyof ComparedRecords;
export type ComparedRecord = ComparedRecords[ComparedKind];

/** A table whose stored rows are compared with the rows of the draft. */
export interface ComparedTable<K extends ComparedKind = ComparedKind> {
  readonly kind: K;
  readonly name: string;
  /**
   * Whether rows of other tables refer to its `id`. A row with other values is updated then, because deleting it would
   * delete the rows that refer to it.
   */
  readonly isReferred?: true;
  /** The columns of `line`. */
  readonly columns: string;
  /** What is read of a stored row: its place in the table, then these expressions. */
  readonly selected: string;
  readonly stored: FixedColumns;
  /** The number of rows of the draft, and of those that repeat no other; undefined: all. */
  readonly count: number;
  readonly distinctCount?: number;
  /** Whether a row of the draft is equal to a stored row. */
  isEqual(row: number, stored: Buffer, at: number): boolean;
  /** The row of the draft with the key of a stored row; null: there is none. */
  find(stored: Buffer, at: number): number | null;
  /** Whether a row of the draft repeats an earlier one. Undefined: none does. */
  isRepeated?(row: number): boolean;
  /** The text for COPY of a row of the draft that repeats no other. */
  line(row: number): string;
  /** The record of such a row. */
  recordOf(row: number): ComparedRecords[K];
  /** The record of a stored row. */
  storedRecord(stored: Buffer, at: number): ComparedRecords[K];
}

/** In the order in which they are filled: a table comes after those that it refers to. */
export function comparedTables(draft: Draft): readonly ComparedTable[] {
  return [
    blockPages(draft),
    profiles(draft),
    applicationRules(draft),
    domainRules(draft),
    naptAssignments(draft),
    networks(IPV4, draft.ipv4Networks, 'ipv4', (bytes, at) => [bytes.readUInt32BE(at)]),
    networks(IPV6, draft.ipv6Networks, 'ipv6', (bytes, at) => [
      bytes.readUInt32BE(at),
      bytes.readUInt32BE(at + 4),
      bytes.readUInt32BE(at + 8),
      bytes.readUInt32BE(at + 12),
    ]),
  ];
}

/** @param types of the columns in their order; of expressions, if others than the columns are read. */
function columns(
  types: Readonly<Record<string, keyof typeof SIZES>>,
): Pick<ComparedTable, 'columns' | 'selected' | 'stored'> {
  const sizes = Object.values(types).map((type) => SIZES[type]);
  const names = Object.keys(types).join(', ');
  return {
    columns: names,
    selected: `ctid, ${names}`,
    stored: new FixedColumns([SIZES.tid, ...sizes]),
  };
}

function blockPages({ blockPages: pages }: Draft): ComparedTable<'blockPage'> {
  const own = columns({ id: 'integer', type: 'smallint' });
  const [, id, type] = own.stored.offsets;
  return {
    kind: 'blockPage',
    name: 'block_page',
    isReferred: true,
    ...own,
    count: pages.ids.length,
    isEqual: (row, bytes, at) =>
      pages.ids.at(row) === bytes.readInt32BE(at + id) &&
      pages.at(row).type === bytes.readInt16BE(at + type),
    find: (bytes, at) => pages.keys.find(bytes.readInt32BE(at + id)),
    line: (row) => copyLine(pages.ids.at(row), pages.at(row).type),
    recordOf: (row) => pages.at(row),
    storedRecord: (bytes, at) => ({
      id: bytes.readInt32BE(at + id),
      type: bytes.readInt16BE(at + type),
    }),
  };
}

/** In place of a profile's page: it has none. */
const NO_PAGE = -1;

/** Profiles without their rules. */
function profiles({ profiles: draft }: Draft): ComparedTable<'profile'> {
  const own = columns({
    id: 'integer',
    [`coalesce(page_id, ${NO_PAGE})`]: 'integer',
    white_list_only: 'boolean',
    empty_dns_answer: 'boolean',
    appaware_priority_over_bwlists: 'boolean',
    // A list has no fixed size.
    'sha256(category_ids::text::bytea)': 'sha256',
  });
  const [, id, page, whiteListOnly, emptyAnswer, appaware, categories] = own.stored.offsets;
  const textOf = (ids: readonly number[]): string => `{${ids.join(',')}}`;
  return {
    kind: 'profile',
    name: 'profile',
    isReferred: true,
    ...own,
    columns:
      'id, page_id, white_list_only, empty_dns_answer, appaware_priority_over_bwlists, category_ids',
    count: draft.ids.length,
    isEqual: (row, bytes, at) => {
      if (draft.ids.at(row) !== bytes.readInt32BE(at + id)) return false;
      const profile = toProfile(draft.at(row));
      return (
        (profile.pageId ?? NO_PAGE) === bytes.readInt32BE(at + page) &&
        Number(profile.whiteListOnly) === bytes[at + whiteListOnly] &&
        Number(profile.emptyDnsAnswer) === bytes[at + emptyAnswer] &&
        Number(profile.appawarePriorityOverBwlists) === bytes[at + appaware] &&
        digestOf('sha256', textOf(profile.categoryIds), 'buffer').equals(
          bytes.subarray(at + categories, at + categories + SIZES.sha256),
        )
      );
    },
    find: (bytes, at) => draft.keys.find(bytes.readInt32BE(at + id)),
    line: (row) => {
      const profile = toProfile(draft.at(row));
      return copyLine(
        profile.id,
        profile.pageId ?? '\\N',
        profile.whiteListOnly,
        profile.emptyDnsAnswer,
        profile.appawarePriorityOverBwlists,
        textOf(profile.categoryIds),
      );
    },
    recordOf: (row) => ({ id: draft.ids.at(row) }),
    storedRecord: (bytes, at) => ({ id: bytes.readInt32BE(at + id) }),
  };
}

/** Rules of applications are part of their profiles. */
function applicationRules({ profiles }: Draft): ComparedTable<'applicationRule'> {
  const own = columns({ profile_id: 'integer', application_id: 'integer', verdict: 'smallint' });
  const [, profile, application, verdict] = own.stored.offsets;
  return {
    kind: 'applicationRule',
    name: 'application_rule',
    ...own,
    count: profiles.applications.length,
    isEqual: (row, bytes, at) =>
      profiles.applications.at(row) === bytes.readInt32BE(at + application) &&
      profiles.applicationProfiles.at(row) === bytes.readInt32BE(at + profile) &&
      profiles.verdictOf(row) === bytes.readInt16BE(at + verdict),
    find: (bytes, at) =>
      profiles.applicationKeys.find(
        bytes.readInt32BE(at + profile),
        bytes.readInt32BE(at + application),
      ),
    line: (row) =>
      copyLine(
        profiles.applicationProfiles.at(row),
        profiles.applications.at(row),
        profiles.verdictOf(row),
      ),
    recordOf: (row) => ({ profileId: profiles.applicationProfiles.at(row) }),
    storedRecord: (bytes, at) => ({ profileId: bytes.readInt32BE(at + profile) }),
  };
}

function domainRules({ domainRules: rules }: Draft): ComparedTable<'domainRule'> {
  const own = columns({ profile_id: 'integer', domain_hash: 'bigint', verdict: 'smallint' });
  const [, profile, hash, verdict] = own.stored.offsets;
  // It has 53 bits at most.
  const hashAt = (bytes: Buffer, at: number): number =>
    bytes.readUInt32BE(at + hash) * TWO_TO_32 + bytes.readUInt32BE(at + hash + 4);
  return {
    kind: 'domainRule',
    name: 'domain_rule',
    ...own,
    count: rules.hashes.length,
    distinctCount: rules.distinctCount,
    isEqual: (row, bytes, at) =>
      rules.keys.is(row, [bytes.readInt32BE(at + profile), hashAt(bytes, at)]) &&
      rules.verdictOf(row) === bytes.readInt16BE(at + verdict),
    find: (bytes, at) => rules.keys.find(bytes.readInt32BE(at + profile), hashAt(bytes, at)),
    isRepeated: (row) => rules.isRepeated(row),
    line: (row) => copyLine(rules.profileIdOf(row), rules.hashes.at(row), rules.verdictOf(row)),
    recordOf: (row) => rules.at(row),
    storedRecord: (bytes, at) => ({
      profileId: bytes.readInt32BE(at + profile),
      domainHash: hashAt(bytes, at),
      verdict: bytes.readInt16BE(at + verdict) as RuleVerdict,
    }),
  };
}

function naptAssignments({ napts }: Draft): ComparedTable<'naptAssignment'> {
  const own = columns({
    address: 'ipv4',
    lower_port: 'integer',
    upper_port: 'integer',
    profile_id: 'integer',
  });
  const [, address, lower, upper, profile] = own.stored.offsets;
  const storedRecord = (bytes: Buffer, at: number): NaptAssignment => ({
    address: bytes.readUInt32BE(at + address + ADDRESS_AT),
    lowerPort: bytes.readInt32BE(at + lower),
    upperPort: bytes.readInt32BE(at + upper),
    profileId: bytes.readInt32BE(at + profile),
  });
  return {
    kind: 'naptAssignment',
    name: 'napt_assignment',
    ...own,
    count: napts.addresses.length,
    isEqual: (row, bytes, at) => {
      const { address, lowerPort, upperPort, profileId } = storedRecord(bytes, at);
      return (
        napts.keys.is(row, [address, lowerPort, upperPort]) &&
        napts.profileIds.at(row) === profileId
      );
    },
    find: (bytes, at) => {
      const { address, lowerPort, upperPort } = storedRecord(bytes, at);
      return napts.keys.find(address, lowerPort, upperPort);
    },
    line: (row) => {
      const napt = napts.at(row);
      return copyLine(formatIpv4(napt.address), napt.lowerPort, napt.upperPort, napt.profileId);
    },
    recordOf: (row) => napts.at(row),
    storedRecord,
  };
}

/** @param wordsAt reads the 32-bit words of an address. */
function networks<A>(
  family: AddressFamily<A>,
  draft: DraftNetworks<A>,
  type: 'ipv4' | 'ipv6',
  wordsAt: (bytes: Buffer, at: number) => readonly number[],
): ComparedTable {
  const own = columns({ address: type, prefix_length: 'smallint', profile_id: 'integer' });
  const [, address, length, profile] = own.stored.offsets;
  return {
    kind: family.kind,
    name: family.table,
    ...own,
    count: draft.profileIds.length,
    isEqual: (row, bytes, at) =>
      draft.is(
        row,
        wordsAt(bytes, at + address + ADDRESS_AT),
        bytes.readInt16BE(at + length),
        bytes.readInt32BE(at + profile),
      ),
    find: (bytes, at) => draft.keys.find(...wordsAt(bytes, at + address + ADDRESS_AT)),
    line: (row) => {
      const network = draft.at(row);
      return copyLine(family.format(network.address), network.prefixLength, network.profileId);
    },
    recordOf: (row) => draft.at(row),
    storedRecord: (bytes, at) =>
      ({
        address: draft.join(wordsAt(bytes, at + address + ADDRESS_AT)),
        prefixLength: bytes.readInt16BE(at + length),
        profileId: bytes.readInt32BE(at + profile),
      }) as never,
  };
}
