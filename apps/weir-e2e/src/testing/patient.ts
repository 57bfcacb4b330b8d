/**
 * Variables of a stack on a machine that may stall for many seconds: a change waits for all resolvers all the same, so
 * that a test can say that it is in force.
 */
export const PATIENT = { PROPAGATION_TIMEOUT_MS: '60000' };
