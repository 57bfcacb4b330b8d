import type {
  ActiveCatalogue,
  ApplicationRule,
  Entities,
  EntityKeys,
  EntityKind,
  Ipv6Words,
  Period,
} from './entities.js';
import {
  MAX_DOMAIN_HASH,
  MAX_ID,
  MAX_ORDER_TEXT,
  MAX_UNTIL,
  RuleVerdict,
  WEEK_POINTS,
} from './entities.js';
import { ALL_PROFILE_FLAGS, decodeProfileFlags, encodeProfileFlags } from './profile-flags.js';
import { RowError, RowReader } from './row-reader.js';

/**
 * An entity on the wire, on disk and in the digest: a flat list of integers. A list is its length and then its items;
 * null is null. Flat rows parse fast and hash without recursion.
 *
 * | kind           | row                                                                                       |
 * | -------------- | ----------------------------------------------------------------------------------------- |
 * | blockPage      | id, type                                                                                  |
 * | profile        | id, pageId, flags, n, n × categoryId, m, m × (applicationId, verdict)                     |
 * | domainRule     | profileId, domainHash, verdict                                                            |
 * | ipv4Network    | address, prefixLength, profileId                                                          |
 * | ipv6Network    | word 0 … word 3, prefixLength, profileId                                                  |
 * | naptAssignment | address, lowerPort, upperPort, profileId                                                  |
 * | schedule       | profileId, targetProfileId, n, n × (start, end)                                           |
 * | catalogue      | version, 8 words of the sha256, sizeBytes                                                 |
 * | order          | id, domainHash, until, n, n × code point of authority, m, m × code point of reference     |
 * | grant          | profileId, domainHash, verdict, until                                                     |
 *
 * The flags of a profile are the bits of `ProfileFlag`.
 */
export type Row = readonly (number | null)[];

interface RowCodec<K extends EntityKind> {
  toRow(entity: Entities[K]): Row;
  read(reader: RowReader): Entities[K];
  toKeyRow(key: EntityKeys[K]): Row;
  readKey(reader: RowReader): EntityKeys[K];
}

const WORD = 0xffff_ffff;
const MAX_CODE_POINT = 0x10_ffff;

const CODECS: { readonly [K in EntityKind]: RowCodec<K> } = {
  blockPage: {
    toRow: (page) => [page.id, page.type],
    read: (r) => ({ id: r.integer('id', 0, MAX_ID), type: r.integer('type', 0, 1) }),
    toKeyRow: (key) => [key.id],
    readKey: (r) => ({ id: r.integer('id', 0, MAX_ID) }),
  },
  profile: {
    toRow: (profile) => {
      const { categoryIds, applicationRules } = profile;
      const row = [profile.id, profile.pageId, encodeProfileFlags(profile), categoryIds.length];
      for (const id of categoryIds) row.push(id);
      row.push(applicationRules.length);
      for (const { applicationId, verdict } of applicationRules) row.push(applicationId, verdict);
      return row;
    },
    read: (r) => {
      const id = r.integer('id', 0, MAX_ID);
      const pageId = r.integerOrNull('pageId', 0, MAX_ID);
      const flags = r.integer('flags', 0, ALL_PROFILE_FLAGS);
      return {
        id,
        pageId,
        ...decodeProfileFlags(flags),
        categoryIds: r.list('categoryIds', () => r.integer('categoryId', 0, MAX_ID)),
        applicationRules: r.list('applicationRules', () => readApplicationRule(r)),
      };
    },
    toKeyRow: (key) => [key.id],
    readKey: (r) => ({ id: r.integer('id', 0, MAX_ID) }),
  },
  domainRule: {
    toRow: (rule) => [rule.profileId, rule.domainHash, rule.verdict],
    read: (r) => ({ ...readDomainRuleKey(r), verdict: readVerdict(r) }),
    toKeyRow: (key) => [key.profileId, key.domainHash],
    readKey: readDomainRuleKey,
  },
  ipv4Network: {
    toRow: (network) => [network.address, network.prefixLength, network.profileId],
    read: (r) => ({ ...readIpv4Key(r), profileId: readProfileId(r) }),
    toKeyRow: (key) => [key.address, key.prefixLength],
    readKey: readIpv4Key,
  },
  ipv6Network: {
    toRow: (network) => [...network.address, network.prefixLength, network.profileId],
    read: (r) => ({ ...readIpv6Key(r), profileId: readProfileId(r) }),
    toKeyRow: (key) => [...key.address, key.prefixLength],
    readKey: readIpv6Key,
  },
  naptAssignment: {
    toRow: (napt) => [napt.address, napt.lowerPort, napt.upperPort, napt.profileId],
    read: (r) => ({ ...readNaptKey(r), profileId: readProfileId(r) }),
    toKeyRow: (key) => [key.address, key.lowerPort, key.upperPort],
    readKey: readNaptKey,
  },
  schedule: {
    toRow: ({ profileId, targetProfileId, periods }) => {
      const row = [profileId, targetProfileId, periods.length];
      for (const { start, end } of periods) row.push(start, end);
      return row;
    },
    read: (r) => ({
      profileId: readProfileId(r),
      targetProfileId: readProfileId(r),
      periods: r.list('periods', () => readPeriod(r)),
    }),
    toKeyRow: (key) => [key.profileId],
    readKey: (r) => ({ profileId: readProfileId(r) }),
  },
  catalogue: {
    toRow: (catalogue) => [
      catalogue.version,
      ...sha256Words(catalogue.sha256),
      catalogue.sizeBytes,
    ],
    read: readCatalogue,
    toKeyRow: () => [],
    readKey: () => ({}),
  },
  order: {
    toRow: ({ id, domainHash, until, authority, reference }) => {
      return [id, domainHash, until, ...textValues(authority), ...textValues(reference)];
    },
    read: (r) => ({
      id: r.integer('id', 0, MAX_ID),
      domainHash: r.integer('domainHash', 0, MAX_DOMAIN_HASH),
      until: r.integerOrNull('until', 0, MAX_UNTIL),
      authority: readText(r, 'authority'),
      reference: readText(r, 'reference'),
    }),
    toKeyRow: (key) => [key.id],
    readKey: (r) => ({ id: r.integer('id', 0, MAX_ID) }),
  },
  grant: {
    toRow: (grant) => [grant.profileId, grant.domainHash, grant.verdict, grant.until],
    read: (r) => ({
      ...readDomainRuleKey(r),
      verdict: readVerdict(r),
      until: r.integer('until', 0, MAX_UNTIL),
    }),
    toKeyRow: (key) => [key.profileId, key.domainHash],
    readKey: readDomainRuleKey,
  },
};

/** A row begins with the row of its key. This many values at its beginning are the key. */
export const KEY_LENGTHS: Readonly<Record<EntityKind, number>> = {
  blockPage: 1,
  profile: 1,
  domainRule: 2,
  ipv4Network: 2,
  ipv6Network: 5,
  naptAssignment: 3,
  schedule: 1,
  catalogue: 0,
  order: 1,
  grant: 2,
};

/** The row of an entity. */
export function toRow<K extends EntityKind>(kind: K, entity: Entities[K]): Row {
  return CODECS[kind].toRow(entity);
}

/**
 * The entity of a row.
 * @throws RowError when the row is too short or too long for its kind, or a value has the wrong type or range.
 */
export function fromRow<K extends EntityKind>(kind: K, row: unknown): Entities[K] {
  return RowReader.readAll(kind, row, (reader) => CODECS[kind].read(reader));
}

/** The row of a key; an entity serves as its own key. */
export function toKeyRow<K extends EntityKind>(kind: K, key: EntityKeys[K]): Row {
  return CODECS[kind].toKeyRow(key);
}

/** The key of a key row. @throws RowError as `fromRow` does. */
export function fromKeyRow<K extends EntityKind>(kind: K, row: unknown): EntityKeys[K] {
  return RowReader.readAll(kind, row, (reader) => CODECS[kind].readKey(reader));
}

function readProfileId(r: RowReader): number {
  return r.integer('profileId', 0, MAX_ID);
}

function readVerdict(r: RowReader): RuleVerdict {
  return r.integer('verdict', RuleVerdict.allow, RuleVerdict.deny) as RuleVerdict;
}

function readApplicationRule(r: RowReader): ApplicationRule {
  return { applicationId: r.integer('applicationId', 0, MAX_ID), verdict: readVerdict(r) };
}

function readPeriod(r: RowReader): Period {
  return {
    start: r.integer('start', 0, WEEK_POINTS - 1),
    end: r.integer('end', 0, WEEK_POINTS - 1),
  };
}

function readDomainRuleKey(r: RowReader): EntityKeys['domainRule'] {
  return { profileId: readProfileId(r), domainHash: r.integer('domainHash', 0, MAX_DOMAIN_HASH) };
}

function readIpv4Key(r: RowReader): EntityKeys['ipv4Network'] {
  return { address: r.integer('address', 0, WORD), prefixLength: r.integer('prefixLength', 0, 32) };
}

function readIpv6Key(r: RowReader): EntityKeys['ipv6Network'] {
  const word = (): number => r.integer('address', 0, WORD);
  const address: Ipv6Words = [word(), word(), word(), word()];
  return { address, prefixLength: r.integer('prefixLength', 0, 128) };
}

function readNaptKey(r: RowReader): EntityKeys['naptAssignment'] {
  const address = r.integer('address', 0, WORD);
  const lowerPort = r.integer('lowerPort', 0, 65535);
  return { address, lowerPort, upperPort: r.integer('upperPort', lowerPort, 65535) };
}

function readCatalogue(r: RowReader): ActiveCatalogue {
  const version = r.integer('version', 0, Number.MAX_SAFE_INTEGER);
  let sha256 = '';
  for (let i = 0; i < 8; i++) sha256 += r.integer('sha256', 0, WORD).toString(16).padStart(8, '0');
  return { version, sha256, sizeBytes: r.integer('sizeBytes', 0, Number.MAX_SAFE_INTEGER) };
}

function sha256Words(sha256: string): number[] {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new RangeError('a sha256 is 64 hex digits');
  return Array.from({ length: 8 }, (_, i) => Number.parseInt(sha256.slice(i * 8, i * 8 + 8), 16));
}

/** A list of code points. */
function textValues(text: string): number[] {
  const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  return [codePoints.length, ...codePoints];
}

function readText(r: RowReader, name: string): string {
  const codePoints = r.list(name, () => r.integer(name, 0, MAX_CODE_POINT));
  const text = String.fromCodePoint(...codePoints);
  if (codePoints.length > 0 && codePoints.length <= MAX_ORDER_TEXT && text.isWellFormed())
    return text;
  throw new RowError(`order: ${name} is a text of 1 to ${MAX_ORDER_TEXT} code points`);
}
