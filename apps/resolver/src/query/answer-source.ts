/** Where an answer came from. */
export const AnswerSource = {
  /** Made here: an error, a refusal, a special name, ANY. */
  local: 0,
  blocked: 1,
  cached: 2,
  /** An upstream was asked, whatever the result was. */
  upstream: 3,
} as const;
export type AnswerSource = (typeof AnswerSource)[keyof typeof AnswerSource];
