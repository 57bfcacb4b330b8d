/**
 * Timeouts of questions that are no subject of a test. An upstream of the test answers at once, but a busy machine may
 * stall for many seconds.
 */
export const PATIENT = { attemptTimeoutMs: 60_000, queryTimeoutMs: 120_000 };
