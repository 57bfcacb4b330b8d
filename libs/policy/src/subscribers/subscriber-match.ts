/**
 * The kind of record that a client was found by. `outsideRanges`: none, but its address has NAPT ranges, which do not
 * have its port.
 */
export const MatchedBy = { nothing: 0, naptRange: 1, network: 2, outsideRanges: 3 } as const;
export type MatchedBy = (typeof MatchedBy)[keyof typeof MatchedBy];

/** The record that identifies the subscriber of a client. Reused; fields that do not belong to `by` are undefined. */
export class SubscriberMatch {
  by: MatchedBy = MatchedBy.nothing;
  /** The bounds of the NAPT range, both inclusive. */
  lowerPort = 0;
  upperPort = 0;
  /** The prefix length of the network, which is of the family of the client. */
  prefixLength = 0;
}
