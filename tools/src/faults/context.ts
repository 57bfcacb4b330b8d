import type { Deployment } from '../deployment/deployment.js';
import type { AnswerChecker } from './answer-checker.js';
import type { Key } from './keys/key.js';
import type { RunStats } from './run-stats.js';
import type { SettledKey } from './verify-log.js';

/** A run, and what it knows. */
export interface RunContext {
  /** The folder of the previous release, ready to run. Null: the run is without it. */
  readonly previous: string | null;
  /** An empty folder for data and logs. */
  readonly folder: string;
  readonly deployment: Deployment;
  readonly checker: AnswerChecker;
  readonly stats: RunStats;
  /** Those of all writers. */
  readonly keys: readonly Key[];
  /** The keys that each acknowledged change settled, by its revision; none for one that sets the suite up. */
  readonly acknowledged: Map<number, readonly SettledKey[]>;
  /** What the database must hold of each key. */
  readonly stored: Map<Key, string | null>;
}
