import { type Entities, type EntityKind, fromRow, type Row } from '@weir/config-model';
import { MAX_PAGE_ID, pageAddress } from '../../deployment/deployment.js';
import type { ExpectedAnswers, KeyHistory } from '../history.js';
import type { Random } from '../../deployment/random.js';

/** A DNS query whose answer shows which version of a key is in force. */
export interface Probe {
  readonly source: string;
  readonly qname: string;
}

export interface Version {
  readonly answers: ExpectedAnswers;
  /** The result of `Key.sql` afterwards. */
  readonly stored: string | null;
}

/** One call of the management API. */
export interface Call {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** After an attempt without an answer: the status that shows that this attempt had succeeded. */
  readonly alreadyDone?: number | undefined;
}

/** A call that makes the next version of a key, or must be refused. */
export interface Step extends Call, Version {
  readonly refusal: boolean;
}

/** The records of a key in the body of `POST /init/`; missing lists are empty. */
export type InitPart = Partial<Record<(typeof INIT_LISTS)[number], readonly unknown[]>>;

export const INIT_LISTS = ['blockpages', 'profiles', 'bw_lists', 'napts', 'nets', 'nets6'] as const;

/** The records of a key in the change log. */
export interface LoggedRecords {
  readonly kind: EntityKind;
  /** Its rows begin so. */
  readonly prefix: readonly number[];
  /** The same text as the result of `Key.sql`. */
  text(rows: readonly Row[]): string | null;
}

/** Those of a key with one record. @param text as `Key.sql` says it of the table */
export function loggedRecord<K extends EntityKind>(
  kind: K,
  prefix: readonly number[],
  text: (entity: Entities[K]) => string,
): LoggedRecords {
  return {
    kind,
    prefix,
    text: (rows) => (rows.length === 0 ? null : text(fromRow(kind, rows[0]))),
  };
}

/** A record, or a group of records, that one writer changes again and again, and how to observe it. */
export interface Key {
  readonly name: string;
  readonly history: KeyHistory;
  readonly probes: readonly Probe[];
  /** Calls that make version 0. */
  readonly setUp: readonly Call[];
  /** SQL expression of one text, or null, that identifies the version in the database. */
  readonly sql: string;
  readonly logged: LoggedRecords;
  next(random: Random): Step;
  /**
   * The database was taken back: what it has now is `stored`. Only where `POST /init/` leaves the record as it is;
   * others ignore it.
   */
  rewound(stored: string | null): void;
  /** Makes the next version as part of a whole configuration. It is sent until it is accepted. */
  replace(random: Random): Version & { readonly part: InitPart };
}

export function post(path: string, body: unknown): Call {
  return { method: 'POST', path, body };
}

/** Does not exist: a record that refers to it is refused. */
export const MISSING_PROFILE = 999_999;

/** A profile with one subscriber, and the page of the first fixed profile. */
export interface ProfileFixture {
  readonly id: number;
  readonly source: string;
  readonly blocked: string;
  readonly setUp: readonly Call[];
  readonly part: Pick<InitPart, 'profiles' | 'nets'>;
}

export function profileFixture(id: number, source: string): ProfileFixture {
  const profile = { profile: { id, page_id: FIRST_FIXED_PAGE } };
  const network = { ip: source, profile_id: id };
  return {
    id,
    source,
    blocked: pageAddress(FIRST_FIXED_PAGE),
    setUp: [post('/profiles/', profile), post('/net/', network)],
    part: { profiles: [profile], nets: [network] },
  };
}

/** Versions of a profile's settings use these pages in turn. A run never goes back by a whole turn. */
export const MAX_VERSION_PAGE = 239;
const FIRST_FIXED_PAGE = MAX_VERSION_PAGE + 1;
/** Has an address but does not exist: a profile that refers to it is refused. */
export const MISSING_PAGE = MAX_PAGE_ID;
/** Blocked by every fixed profile. */
export const LISTED = 'listed.example';

const PAGES = Array.from({ length: MAX_PAGE_ID - 1 }, (_, i) => ({ id: i + 1, type: 1 }));

/** Profiles that never change. Each has its own page and blocks one name. */
export const FIXED_PROFILES = Array.from({ length: 10 }, (_, i) => ({
  id: 900 + i,
  page: FIRST_FIXED_PAGE + i,
  blocked: pageAddress(FIRST_FIXED_PAGE + i),
}));

export const PAGE_SETUP: readonly Call[] = PAGES.map((page) => post('/blockpage/', page));

export const FIXED_SETUP: readonly Call[] = FIXED_PROFILES.flatMap(({ id, page }) => [
  post('/profiles/', { profile: { id, page_id: page } }),
  post(`/profile/${id}/bw_list`, { type: 'deny', domain: LISTED }),
]);

/** The same for `POST /init/`. */
export const FIXED_PART: InitPart = {
  blockpages: PAGES,
  profiles: FIXED_PROFILES.map(({ id, page }) => ({ profile: { id, page_id: page } })),
  bw_lists: FIXED_PROFILES.map(({ id }) => ({ profile_id: id, type: 'deny', domains: [LISTED] })),
};
