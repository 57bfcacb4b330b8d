import type { SpaceChanges } from '../policy-spaces.js';

/*
 * What the sharing thread sends to its readers, in order. All of it can be cloned to another thread.
 *
 * A word counts the messages that were sent (`SENT`), another one is the number of the policy in force (`IN_FORCE`;
 * 0: none). The words change only while nobody reads, except for `SENT` when a policy is announced. A reader has all
 * it needs when it has received as many messages as `SENT` says.
 */

export const SENT = 0;
export const IN_FORCE = 1;
export const CONTROL_BYTES = 8;

/** Memory of a policy: all of it when the number is new, else what was added or dropped. */
export interface PolicyMessage {
  /** Counts the policies from 1. */
  readonly policy: number;
  /** Of a new policy: another one, with which it has all else in common. */
  readonly origin?: number;
  readonly timeZone: string;
  readonly changes: SpaceChanges;
  /** What the catalogue is opened from; null: there is no catalogue; undefined: it is the one of before. */
  readonly catalogue?: unknown;
}

/** What a reader starts with, to be sent to its thread. */
export interface Invitation {
  readonly lock: SharedArrayBuffer;
  /** The number of the reader. */
  readonly reader: number;
  readonly control: SharedArrayBuffer;
  /** Messages that were sent to others before. */
  readonly sent: number;
  /** The policies that there are. */
  readonly policies: readonly PolicyMessage[];
}
