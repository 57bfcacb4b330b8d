/**
 * The configuration as followers know it: everything that decides a query, and nothing that only the API shows. Each
 * entity of the management API has one type here, in the form in which a resolver uses it.
 */

/** Largest id of a profile, block page, application or category (decisions §1). */
export const MAX_ID = 2_147_483_647;

/** Largest stored domain hash: 53 bits, so that every JSON reader keeps it exactly (decisions §4). */
export const MAX_DOMAIN_HASH = Number.MAX_SAFE_INTEGER;

/** Latest end of an order or a grant, in Unix seconds: the last second of the year 9999. */
export const MAX_UNTIL = 253_402_300_799;

/** Most code points of a text of an order (decisions §14). */
export const MAX_ORDER_TEXT = 200;

/** Half hours in a week; a week point is 0 (Monday 00:00) … 335 (Sunday 23:30), local time (decisions §5). */
export const WEEK_POINTS = 336;

/** What an explicit rule says. The numbers are the `cat_id` of a stored domain rule (decisions §4). */
export const RuleVerdict = { allow: 1, deny: 2 } as const;
export type RuleVerdict = (typeof RuleVerdict)[keyof typeof RuleVerdict];

export interface BlockPage {
  readonly id: number;
  /** 0: default block page, 1: custom block page. */
  readonly type: number;
}

export interface ApplicationRule {
  readonly applicationId: number;
  readonly verdict: RuleVerdict;
}

export interface Profile {
  readonly id: number;
  /** The assigned block page; null: the deployment's default page. */
  readonly pageId: number | null;
  readonly whiteListOnly: boolean;
  readonly emptyDnsAnswer: boolean;
  readonly appawarePriorityOverBwlists: boolean;
  /** Blocked categories, ascending, without duplicates. */
  readonly categoryIds: readonly number[];
  /** Ascending by application, each once. */
  readonly applicationRules: readonly ApplicationRule[];
}

export interface DomainRule {
  readonly profileId: number;
  /** 53-bit keyed hash of the domain. The domain itself is not stored. */
  readonly domainHash: number;
  readonly verdict: RuleVerdict;
}

export interface Ipv4Network {
  /** Masked network address, big-endian unsigned 32-bit. */
  readonly address: number;
  readonly prefixLength: number;
  readonly profileId: number;
}

/** An IPv6 address as four big-endian unsigned 32-bit words, most significant first. */
export type Ipv6Words = readonly [number, number, number, number];

export interface Ipv6Network {
  /** Masked network address. */
  readonly address: Ipv6Words;
  readonly prefixLength: number;
  readonly profileId: number;
}

export interface NaptAssignment {
  /** Shared address, big-endian unsigned 32-bit. */
  readonly address: number;
  /** First source port of the range, inclusive. */
  readonly lowerPort: number;
  /** Last source port of the range, inclusive. */
  readonly upperPort: number;
  readonly profileId: number;
}

/** Half-open in week points. `end` ≤ `start` wraps over Sunday midnight; `end` = `start` is the whole week. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

export interface Schedule {
  readonly profileId: number;
  readonly targetProfileId: number;
  /** In the submitted order. Periods may overlap or touch, and the list may be empty. */
  readonly periods: readonly Period[];
}

/** The catalogue image in force; there is at most one. */
export interface ActiveCatalogue {
  readonly version: number;
  /** Of the image: 64 lower-case hex digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A name that is denied to everybody, with all below it (decisions §14). */
export interface Order {
  readonly id: number;
  readonly domainHash: number;
  /** Unix seconds from which on it has no effect; null: it has no end. */
  readonly until: number | null;
  /** Who has ordered it: 1 to 200 code points. */
  readonly authority: string;
  /** How that authority refers to it: 1 to 200 code points. */
  readonly reference: string;
}

/** A name that a profile allows or denies for a while, with all below it (decisions §15). */
export interface Grant {
  readonly profileId: number;
  readonly domainHash: number;
  readonly verdict: RuleVerdict;
  /** Unix seconds from which on it has no effect. */
  readonly until: number;
}

export interface Entities {
  blockPage: BlockPage;
  profile: Profile;
  domainRule: DomainRule;
  ipv4Network: Ipv4Network;
  ipv6Network: Ipv6Network;
  naptAssignment: NaptAssignment;
  schedule: Schedule;
  catalogue: ActiveCatalogue;
  order: Order;
  grant: Grant;
}

export type EntityKind = keyof Entities;

/**
 * What identifies an entity among those of its kind: the fields with which its row begins. The kinds are in the order
 * of a snapshot: an entity comes before those that refer to it. The position of a kind is its number in the digest, so
 * new kinds must be added at the end.
 */
export const KEY_FIELDS = {
  blockPage: ['id'],
  profile: ['id'],
  domainRule: ['profileId', 'domainHash'],
  ipv4Network: ['address', 'prefixLength'],
  ipv6Network: ['address', 'prefixLength'],
  naptAssignment: ['address', 'lowerPort', 'upperPort'],
  schedule: ['profileId'],
  catalogue: [],
  order: ['id'],
  grant: ['profileId', 'domainHash'],
} as const satisfies { readonly [K in EntityKind]: readonly (keyof Entities[K])[] };

/** Every kind, in the order of `KEY_FIELDS`. */
export const ENTITY_KINDS = Object.keys(KEY_FIELDS) as readonly EntityKind[];

/** The key of an entity of each kind. An entity has all fields of its key, so it can be used as one. */
export type EntityKeys = {
  [K in EntityKind]: Pick<Entities[K], Extract<(typeof KEY_FIELDS)[K][number], keyof Entities[K]>>;
};
