/** What becomes of a query. */
export const Verdict = {
  /** The client has no profile: whether it is served at all is not the policy's question (decisions §7). */
  unfiltered: 0,
  permit: 1,
  block: 2,
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

/** What decided, in the order of the evaluator (decisions §7). */
export const Reason = {
  noProfile: 0,
  domainRule: 1,
  applicationRule: 2,
  whiteListOnly: 3,
  category: 4,
  /** Nothing matched: permitted. */
  none: 5,
} as const;
export type Reason = (typeof Reason)[keyof typeof Reason];

/** Value of `ttlCapSeconds` when no schedule switch lies ahead. */
export const NO_TTL_CAP = 0x7fff_ffff;

/**
 * The answer of a policy, filled in place so that a query allocates nothing. `identify` sets what depends on the client alone,
 * `judge` the verdict on one name; a name judged later (a CNAME target) overwrites only what `judge` sets.
 */
export class Decision {
  // Set by identify.

  /** The subscriber's profile; −1: none. */
  profileId = -1;
  /** The profile that decides: the subscriber's, or its schedule's target now; −1: none. */
  activeProfileId = -1;
  /** Block page of the active profile; −1: the deployment's default page. */
  pageId = -1;
  /** Of the active profile: a blocked name gets an empty answer instead of the block page. */
  emptyDnsAnswer = false;
  /** No answer may outlive the next schedule switch: at least 1; `NO_TTL_CAP` when there is none ahead. */
  ttlCapSeconds: number = NO_TTL_CAP;

  // Set by judge.

  verdict: Verdict = Verdict.unfiltered;
  reason: Reason = Reason.noProfile;
  /** The name is allowed by a domain or application rule: its CNAME targets do not undo that (decisions §7). */
  explicitAllow = false;
  /** Labels of the suffix that decided (1: the top-level domain); 0 when no name did (noProfile, whiteListOnly, none). */
  matchedLabels = 0;
  /** The application or category that decided; −1: none. */
  matchedId = -1;

  /** Where the policy keeps the active profile; −1: none. Meaningless to anyone else, another policy included. */
  activeSlot = -1;
}
