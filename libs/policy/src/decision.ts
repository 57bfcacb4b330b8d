import type { CategoryRewrite } from './catalogue-index.js';

export const Verdict = {
  /** The client has no profile. Whether it is served at all is for the caller to decide (decisions §7). */
  unfiltered: 0,
  permit: 1,
  block: 2,
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

/** What decided; by a profile in the order of precedence (decisions §7). */
export const Reason = {
  noProfile: 0,
  domainRule: 1,
  applicationRule: 2,
  whiteListOnly: 3,
  category: 4,
  /** Nothing matched: permitted. */
  none: 5,
  /** In place of `noProfile`: the address has NAPT ranges, but none has the port. The client is not served. */
  outsideRanges: 6,
  /** Before all others: an order denies the name to everybody (decisions §14). */
  order: 7,
  /** Next: a mandatory category does. */
  mandatoryCategory: 8,
  /** Next: the profile of the subscriber has a grant for the name (decisions §15). */
  grant: 9,
} as const;
export type Reason = (typeof Reason)[keyof typeof Reason];

/** Whether it is what everybody is denied (decisions §14). */
export function isOfOrders(reason: Reason): boolean {
  return reason === Reason.order || reason === Reason.mandatoryCategory;
}

/** The value of `ttlCapSeconds` when nothing will end. */
export const NO_TTL_CAP = 0x7fff_ffff;

/**
 * The answer of a policy. The caller reuses it, so a query allocates nothing. `identify` sets what depends on the
 * client alone, `judge` the verdict on one name. Judging another name (a CNAME target) overwrites only what `judge`
 * sets.
 */
export class Decision {
  // Set by identify.

  /** The subscriber's profile; −1: none. */
  profileId = -1;
  /** The profile that decides now: the subscriber's, or the target of its schedule; −1: none. */
  activeProfileId = -1;
  /**
   * Seconds to the next schedule switch, and to the end of the orders and grants that `judge` found: no answer may
   * outlive them. At least 1. `NO_TTL_CAP`: there is none.
   */
  ttlCapSeconds: number = NO_TTL_CAP;

  /** Whether the client has no profile because its port is in none of the NAPT ranges of its address. */
  isOutsideRanges = false;

  // Set by judge.

  verdict: Verdict = Verdict.unfiltered;
  reason: Reason = Reason.noProfile;
  /** When blocked: the block page of the profile that blocks; −1: the default page, or that of orders. */
  pageId = -1;
  /** When blocked: whether the answer is empty instead of the block page. */
  emptyDnsAnswer = false;
  /** Whether a grant or a rule allows the name. Then only orders are asked about its targets (decisions §7, §14). */
  explicitAllow = false;
  /** Labels of the suffix that decided (1: the top-level domain); 0: no suffix did (noProfile, whiteListOnly, none). */
  matchedLabels = 0;
  /** The order, application or category that decided; −1: none. */
  matchedId = -1;
  /** When an order decided: its number, for its texts (`OrderLookup`). Valid only in the policy that set it. */
  orderNumber = -1;

  /** Where a blocked category sends the name, which is permitted (decisions §7). Null: it stays as it is. */
  rewrite: CategoryRewrite | null = null;

  /** The slot of the subscriber's profile; −1: none. It is valid only in the policy that set it. */
  ownSlot = -1;
  /** The slot of the active profile; −1: none. It is valid only in the policy that set it. */
  activeSlot = -1;
}
