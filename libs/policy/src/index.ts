export type { CatalogueIndex } from './catalogue-index.js';
export type { Client } from './client.js';
export { Decision, NO_TTL_CAP, Reason, Verdict } from './decision.js';
export type { Explanation } from './explain.js';
export { Policy } from './policy.js';
export { PolicyError } from './policy-error.js';
export { type PolicyOptions, PolicyReader } from './policy-reader.js';
export type { PolicySource } from './policy-source.js';
export { MatchedBy, SubscriberMatch } from './subscribers/subscriber-match.js';
