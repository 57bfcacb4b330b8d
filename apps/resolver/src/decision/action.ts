/** What to do with a query. */
export const Action = {
  /** REFUSED: the client is not served here, or the question is not one that is answered here. */
  refuse: 0,
  /**
   * SERVFAIL: there is no configuration yet, and no client is served unfiltered because of that. Also the answer to a
   * health check while the resolver is not ready.
   */
  notReady: 1,
  block: 2,
  /** The minimal answer to ANY. */
  answerAny: 3,
  /** A special name, which is answered here. `SpecialMatch` describes it. */
  answerSpecial: 4,
  /** Permitted: answer from the cache or ask an upstream. */
  resolve: 5,
  /** The identity of this server. */
  answerIdentity: 6,
  /** A name with local records, which are the whole answer. */
  answerLocal: 7,
  /** The name leads to another one, which is permitted: resolve that. */
  rewrite: 8,
} as const;
export type Action = (typeof Action)[keyof typeof Action];
