/** What to think of an answer that has the right address, port, id and question. */
export const Trust = {
  good: 0,
  /** It may be forged: the question is asked again over TCP. */
  suspect: 1,
  /** It is not from the upstream. */
  forged: 2,
} as const;
export type Trust = (typeof Trust)[keyof typeof Trust];
