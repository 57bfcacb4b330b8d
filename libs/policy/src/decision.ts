import type { CategoryRewrite } from './catalogue-index.js';

/** What the policy says of a query. */
export const Verdict = {
  /** The client has no profile. Whether it is served at all is for the caller to decide (decisions §7). */
  unfiltered: 0,
  permit: 1,
  block: 2,
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

/** What decided, in the order of precedence (decisions §7). */
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
} as const;
export type Reason = (typeof Reason)[keyof typeof Reason];

/** The value of `ttlCapSeconds` when no schedule will switch. */
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
  /** The block page of the active profile; −1: the default page of the deployment. */
  pageId = -1;
  /** Whether a name that the active profile blocks gets an empty answer instead of the block page. */
  emptyDnsAnswer = false;
  /** Seconds to the next schedule switch, which no answer may outlive: at least 1. `NO_TTL_CAP`: there is none. */
  ttlCapSeconds: number = NO_TTL_CAP;

  /** Whether the client has no profile because its port is in none of the NAPT ranges of its address. */
  isOutsideRanges = false;

  // Set by judge.

  verdict: Verdict = Verdict.unfiltered;
  reason: Reason = Reason.noProfile;
  /** Whether a domain or application rule allows the name. Then its CNAME targets are not judged (decisions §7). */
  explicitAllow = false;
  /** Labels of the suffix that decided (1: the top-level domain); 0: no suffix did (noProfile, whiteListOnly, none). */
  matchedLabels = 0;
  /** The application or category that decided; −1: none. */
  matchedId = -1;

  /** Where a blocked category sends the name, which is permitted (decisions §7). Null: it stays as it is. */
  rewrite: CategoryRewrite | null = null;

  /** The slot of the active profile; −1: none. It is valid only in the policy that set it. */
  activeSlot = -1;
}
