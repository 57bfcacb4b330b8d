/** What a client was found by. */
export const MatchedBy = { nothing: 0, naptRange: 1, network: 2 } as const;
export type MatchedBy = (typeof MatchedBy)[keyof typeof MatchedBy];

/** The record of the configuration that names a client's subscriber. Reused; fields that do not belong to `by` mean nothing. */
export class SubscriberMatch {
  by: MatchedBy = MatchedBy.nothing;
  /** Bounds of the NAPT range, both inclusive. */
  lowerPort = 0;
  upperPort = 0;
  /** Length of the network's prefix, of the client's family. */
  prefixLength = 0;
}
