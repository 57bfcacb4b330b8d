import type { Policy } from './policy.js';

/** Where the policy in force is found; null before the first snapshot. */
export interface PolicySource {
  readonly policy: Policy | null;
}
