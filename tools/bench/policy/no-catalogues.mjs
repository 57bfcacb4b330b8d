/** What a `PolicyTarget` without catalogues takes. */
export const NO_CATALOGUES = {
  want: () => undefined,
  missing: null,
  failures: 0,
  counters: { whole: 0, built: 0, deltaFaults: 0 },
  firstAttempt: async () => {},
  stop: async () => {},
};
