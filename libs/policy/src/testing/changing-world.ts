/*
 * A configuration that is another one at each revision, by a rule that a reader can check:
 *
 * - the rules for `left.example` and `right.example` of the profile both deny at odd revisions, and allow at even ones;
 * - rule n, for `r<n>.example`, exists from revision n until the next full thousand; so its tables grow for a long time
 *   and are gone at once;
 * - network n, 10.<n>, exists from revision n until the next full hundred.
 *
 * Sent to worker threads, which run compiled code, so it imports nothing.
 */

export const PROFILE = 1;
export const CLIENT = 0xc000_0201;
/** Rules of each revision, so that memory grows fast. */
export const RULES_EACH = 40;
const RULE_PERIOD = 1000;
const NETWORK_PERIOD = 100;

export function isDenied(revision: number): boolean {
  return revision % 2 === 1;
}

/** The first rule that exists. */
export function firstRule(revision: number): number {
  return revision - (revision % RULE_PERIOD);
}

/** The first network that exists. */
export function firstNetwork(revision: number): number {
  return revision - (revision % NETWORK_PERIOD);
}

export function addressOf(network: number): number {
  return 0x0a00_0000 + network;
}

export function ruleName(rule: number, i: number): string {
  return `r${rule}-${i}.example`;
}
