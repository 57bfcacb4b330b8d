import type { Policy } from './policy.js';

/** Holds the policy in force; null before the first snapshot. */
export interface PolicySource {
  readonly policy: Policy | null;
}
