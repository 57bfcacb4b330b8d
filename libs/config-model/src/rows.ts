import {
  ENTITY_KINDS,
  type Entities,
  type EntityKeys,
  type EntityKind,
  type Ipv6Words,
  KEY_FIELDS,
  MAX_DOMAIN_HASH,
  MAX_ID,
  MAX_ORDER_TEXT,
  MAX_UNTIL,
  RuleVerdict,
  WEEK_POINTS,
} from './entities.js';

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

/** The bit of each flag of a profile: in its row, and wherever the flags are kept as a number. */
export const ProfileFlag = {
  whiteListOnly: 1,
  emptyDnsAnswer: 2,
  appawarePriorityOverBwlists: 4,
} as const;

export type ProfileFlags = Readonly<Record<keyof typeof ProfileFlag, boolean>>;

export const ALL_PROFILE_FLAGS = Object.values(ProfileFlag).reduce((all, bit) => all | bit, 0);

const FLAGS = Object.entries(ProfileFlag) as [keyof ProfileFlags, number][];

export function encodeProfileFlags(profile: ProfileFlags): number {
  return FLAGS.reduce((flags, [name, bit]) => (profile[name] ? flags | bit : flags), 0);
}

export function decodeProfileFlags(flags: number): ProfileFlags {
  const entries = FLAGS.map(([name, bit]) => [name, (flags & bit) !== 0]);
  return Object.fromEntries(entries) as ProfileFlags;
}

/** A row, message or operation is not valid. The error message says where; it never contains texts of the input. */
export class RowError extends Error {
  override readonly name = 'RowError';
}

/** Reads the values of one row in order, each checked against its range. */
class RowReader {
  private position = 0;

  private constructor(
    private readonly kind: string,
    private readonly row: readonly unknown[],
  ) {}

  /** Reads a whole row. @throws RowError when the row is not an array, `read` fails, or values are left over. */
  static readAll<T>(kind: string, row: unknown, read: (reader: RowReader) => T): T {
    if (!Array.isArray(row)) throw new RowError(`${kind}: a row is an array`);
    const reader = new RowReader(kind, row as unknown[]);
    const result = read(reader);
    if (reader.position !== row.length) {
      throw new RowError(`${kind}: ${row.length} values instead of ${reader.position}`);
    }
    return result;
  }

  /** The next value, an integer from `lowest` to `highest`. */
  integer(name: string, lowest: number, highest: number): number {
    const value = this.row[this.position++];
    if (
      typeof value !== 'number' ||
      !Number.isInteger(value) ||
      value < lowest ||
      value > highest
    ) {
      throw new RowError(`${this.kind}: ${name} is an integer from ${lowest} to ${highest}`);
    }
    return value;
  }

  /** The next value, as `integer`, or null. */
  integerOrNull(name: string, lowest: number, highest: number): number | null {
    if (this.row[this.position] === null) {
      this.position++;
      return null;
    }
    return this.integer(name, lowest, highest);
  }

  /** The next values: how many items, then each as `item` reads it. */
  list<T>(name: string, item: () => T): T[] {
    const length = this.integer(`length of ${name}`, 0, this.row.length);
    return Array.from({ length }, item);
  }
}

interface RowCodec<K extends EntityKind> {
  readonly toRow: (entity: Entities[K]) => Row;
  readonly readKey: (reader: RowReader) => EntityKeys[K];
  /** Reads what follows the key. */
  readonly readRest: (reader: RowReader) => Omit<Entities[K], keyof EntityKeys[K]>;
}

const WORD = 0xffff_ffff;
const MAX_CODE_POINT = 0x10_ffff;

const CODECS: { readonly [K in EntityKind]: RowCodec<K> } = {
  blockPage: {
    toRow: (page) => [page.id, page.type],
    readKey: readIdKey,
    readRest: (r) => ({ type: r.integer('type', 0, 1) }),
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
    readKey: readIdKey,
    readRest: (r) => ({
      pageId: r.integerOrNull('pageId', 0, MAX_ID),
      ...decodeProfileFlags(r.integer('flags', 0, ALL_PROFILE_FLAGS)),
      categoryIds: r.list('categoryIds', () => r.integer('categoryId', 0, MAX_ID)),
      applicationRules: r.list('applicationRules', () => ({
        applicationId: r.integer('applicationId', 0, MAX_ID),
        verdict: readVerdict(r),
      })),
    }),
  },
  domainRule: {
    toRow: (rule) => [rule.profileId, rule.domainHash, rule.verdict],
    readKey: readDomainKey,
    readRest: (r) => ({ verdict: readVerdict(r) }),
  },
  ipv4Network: {
    toRow: (network) => [network.address, network.prefixLength, network.profileId],
    readKey: (r) => ({
      address: r.integer('address', 0, WORD),
      prefixLength: r.integer('prefixLength', 0, 32),
    }),
    readRest: readProfileId,
  },
  ipv6Network: {
    toRow: (network) => [...network.address, network.prefixLength, network.profileId],
    readKey: (r) => {
      const word = (): number => r.integer('address', 0, WORD);
      const address: Ipv6Words = [word(), word(), word(), word()];
      return { address, prefixLength: r.integer('prefixLength', 0, 128) };
    },
    readRest: readProfileId,
  },
  naptAssignment: {
    toRow: (napt) => [napt.address, napt.lowerPort, napt.upperPort, napt.profileId],
    readKey: (r) => {
      const address = r.integer('address', 0, WORD);
      const lowerPort = r.integer('lowerPort', 0, 65535);
      return { address, lowerPort, upperPort: r.integer('upperPort', lowerPort, 65535) };
    },
    readRest: readProfileId,
  },
  schedule: {
    toRow: ({ profileId, targetProfileId, periods }) => {
      const row = [profileId, targetProfileId, periods.length];
      for (const { start, end } of periods) row.push(start, end);
      return row;
    },
    readKey: readProfileId,
    readRest: (r) => ({
      targetProfileId: r.integer('profileId', 0, MAX_ID),
      periods: r.list('periods', () => ({
        start: r.integer('start', 0, WEEK_POINTS - 1),
        end: r.integer('end', 0, WEEK_POINTS - 1),
      })),
    }),
  },
  catalogue: {
    toRow: ({ version, sha256, sizeBytes }) => [version, ...sha256Words(sha256), sizeBytes],
    readKey: () => ({}),
    readRest: (r) => ({
      version: r.integer('version', 0, Number.MAX_SAFE_INTEGER),
      sha256: readSha256(r),
      sizeBytes: r.integer('sizeBytes', 0, Number.MAX_SAFE_INTEGER),
    }),
  },
  order: {
    toRow: ({ id, domainHash, until, authority, reference }) => {
      return [id, domainHash, until, ...textValues(authority), ...textValues(reference)];
    },
    readKey: readIdKey,
    readRest: (r) => ({
      domainHash: r.integer('domainHash', 0, MAX_DOMAIN_HASH),
      until: r.integerOrNull('until', 0, MAX_UNTIL),
      authority: readText(r, 'authority'),
      reference: readText(r, 'reference'),
    }),
  },
  grant: {
    toRow: (grant) => [grant.profileId, grant.domainHash, grant.verdict, grant.until],
    readKey: readDomainKey,
    readRest: (r) => ({ verdict: readVerdict(r), until: r.integer('until', 0, MAX_UNTIL) }),
  },
};

/** How many values at the beginning of a row are its key. Each field is one value; an IPv6 address is four. */
export const KEY_LENGTHS = Object.fromEntries(
  ENTITY_KINDS.map((kind) => [kind, KEY_FIELDS[kind].length + (kind === 'ipv6Network' ? 3 : 0)]),
) as Readonly<Record<EntityKind, number>>;

export function toRow<K extends EntityKind>(kind: K, entity: Entities[K]): Row {
  return CODECS[kind].toRow(entity);
}

/** @throws RowError when the row is too short or too long for its kind, or a value has the wrong type or range. */
export function fromRow<K extends EntityKind>(kind: K, row: unknown): Entities[K] {
  const { readKey, readRest } = CODECS[kind];
  return RowReader.readAll(kind, row, (r) => ({ ...readKey(r), ...readRest(r) }) as Entities[K]);
}

/** The row of a key; an entity serves as its own key. */
export function toKeyRow<K extends EntityKind>(kind: K, key: EntityKeys[K]): Row {
  const fields = key as Readonly<Record<string, number | readonly number[]>>;
  return KEY_FIELDS[kind].flatMap((name) => fields[name]);
}

/** The key of a key row. @throws RowError as `fromRow` does. */
export function fromKeyRow<K extends EntityKind>(kind: K, row: unknown): EntityKeys[K] {
  return RowReader.readAll(kind, row, CODECS[kind].readKey);
}

function readIdKey(r: RowReader): { id: number } {
  return { id: r.integer('id', 0, MAX_ID) };
}

function readProfileId(r: RowReader): { profileId: number } {
  return { profileId: r.integer('profileId', 0, MAX_ID) };
}

function readDomainKey(r: RowReader): EntityKeys['domainRule'] {
  return { ...readProfileId(r), domainHash: r.integer('domainHash', 0, MAX_DOMAIN_HASH) };
}

function readVerdict(r: RowReader): RuleVerdict {
  return r.integer('verdict', RuleVerdict.allow, RuleVerdict.deny) as RuleVerdict;
}

function readSha256(r: RowReader): string {
  let sha256 = '';
  for (let i = 0; i < 8; i++) sha256 += r.integer('sha256', 0, WORD).toString(16).padStart(8, '0');
  return sha256;
}

function sha256Words(sha256: string): number[] {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new RangeError('a sha256 is 64 hex digits');
  return Array.from({ length: 8 }, (_, i) => Number.parseInt(sha256.slice(i * 8, i * 8 + 8), 16));
}

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
