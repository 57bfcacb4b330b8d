import type { Decision } from './decision.js';
import type { StepVerdict } from './rule-evaluator.js';
import type { SubscriberMatch } from './subscribers/subscriber-lookup.js';

/** The time for which the target of a schedule stays active without a break, in milliseconds. Null: for good. */
export interface SchedulePeriod {
  readonly targetProfileId: number;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

/** A decision, and what it was made of. No part of it names a domain, as the policy knows only hashes. */
export interface Explanation {
  readonly decision: Decision;
  /** The record that identifies the subscriber. */
  readonly subscriber: SubscriberMatch;
  /** Null: no period of a schedule holds now. */
  readonly period: SchedulePeriod | null;
  /** The next switch of its schedule; null: there will be none. */
  readonly nextSwitchMs: number | null;
  /**
   * What each step says, in order of precedence. The first that says anything has decided; if none does, the name is
   * permitted. The first step is `order` or `mandatoryCategory`; for a client without a profile there are no others. Of
   * a secret category neither the suffix nor the id is known.
   */
  readonly steps: readonly StepVerdict[];
}
