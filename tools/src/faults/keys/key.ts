import type { EntityKind, Row } from '@weir/config-model';
import type { ExpectedAnswers, KeyHistory } from '../history.js';
import type { Random } from '../../deployment/random.js';

/** A DNS query whose answer shows which version of a key is in force. */
export interface Probe {
  readonly source: string;
  readonly qname: string;
}

/** One call of the management API that makes the next version of a key, or must be refused. */
export interface Step {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly answers: ExpectedAnswers;
  /** The result of `Key.sql` afterwards. */
  readonly stored?: string | null;
  readonly refusal?: boolean;
  /** After an attempt without an answer: the status that shows that this attempt had succeeded. */
  readonly alreadyDone?: number;
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

/** The next version of a key as part of `POST /init/`. */
export interface Replacement {
  readonly part: InitPart;
  readonly answers: ExpectedAnswers;
  /** The result of `Key.sql` afterwards. */
  readonly stored: string | null;
}

/** A record, or a group of records, that one writer changes again and again, and how to observe it. */
export interface Key {
  readonly name: string;
  readonly history: KeyHistory;
  readonly probes: readonly Probe[];
  /** Calls that make version 0. */
  readonly setUp: readonly Step[];
  /** SQL expression of one text, or null, that identifies the version in the database. */
  readonly sql: string;
  readonly logged: LoggedRecords;
  next(random: Random): Step;
  /** The database was taken back: what it has now is `stored`. Only for keys that `POST /init/` leaves as they are. */
  rewound?(stored: string | null): void;
  /** Makes the next version as part of a whole configuration. It is sent until it is accepted. */
  replace(random: Random): Replacement;
}

export function post(path: string, body: unknown): Step {
  return { method: 'POST', path, body, answers: [] };
}

/** Does not exist: a record that refers to it is refused. */
export const MISSING_PROFILE = 999_999;
