/** What becomes of a query that is to be forwarded. */
export const ForwardResult = {
  /** An event follows. */
  taken: 0,
  /** Too many are in flight, or too many of this subscriber. */
  refused: 1,
  /** Nothing in its zone is answered. */
  deadZone: 2,
} as const;
export type ForwardResult = (typeof ForwardResult)[keyof typeof ForwardResult];
