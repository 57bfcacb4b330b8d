import type { Policy } from './policy.js';
import type { PolicyReader } from './policy-reader.js';

/** What answering a query needs of a policy: in the thread that changes it, or in one that only reads. */
export type QueryPolicy = Readonly<
  Pick<
    PolicyReader,
    'catalogue' | 'decide' | 'hasOrders' | 'identify' | 'judge' | 'judgeOrders' | 'match' | 'orders'
  >
>;

/** Holds the policy in force; null before the first snapshot. */
export interface PolicySource<P extends QueryPolicy = Policy> {
  readonly policy: P | null;
}
