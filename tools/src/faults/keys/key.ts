import type { Appearance, KeyHistory } from '../history.js';
import type { Random } from '../../deployment/random.js';

/** A query that shows which version of a key is in force. */
export interface Probe {
  readonly source: string;
  readonly qname: string;
}

/** One call of the management API that makes the next version of a key, or must be refused. */
export interface Step {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly appearance: Appearance;
  /** What `Key.sql` finds afterwards. */
  readonly stored?: string | null;
  readonly refusal?: boolean;
  /** Status that says, after an attempt without an answer, that this attempt had succeeded. */
  readonly alreadyDone?: number;
}

/** What belongs to a key in a body of `POST /init/`; lists left out are empty. */
export type InitPart = Partial<Record<(typeof INIT_LISTS)[number], readonly unknown[]>>;

export const INIT_LISTS = ['blockpages', 'profiles', 'bw_lists', 'napts', 'nets', 'nets6'] as const;

/** The next version of a key where the whole configuration is replaced. */
export interface Restatement {
  readonly part: InitPart;
  readonly appearance: Appearance;
  /** What `Key.sql` finds afterwards. */
  readonly stored: string | null;
}

/** What one writer changes again and again, and how it can be seen. */
export interface Key {
  readonly name: string;
  readonly history: KeyHistory;
  readonly probes: readonly Probe[];
  /** Calls that make version 0. */
  readonly setUp: readonly Step[];
  /** Selects one text (or nothing) that tells the version in the database. */
  readonly sql: string;
  next(random: Random): Step;
  /** Makes the next version as part of a whole configuration, which is sent until it is accepted. */
  restate(random: Random): Restatement;
}

export function post(path: string, body: unknown): Step {
  return { method: 'POST', path, body, appearance: [] };
}

/** What refers to it is refused. */
export const MISSING_PROFILE = 999_999;
