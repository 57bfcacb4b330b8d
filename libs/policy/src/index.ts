export type { CatalogueIndex, CategoryRewrite } from './catalogue-index.js';
export type { Client } from './client.js';
export { Decision, NO_TTL_CAP, Reason, Verdict } from './decision.js';
export type { Explanation } from './explain.js';
export { Policy, type PolicyOptions } from './policy.js';
export { PolicyError } from './policy-error.js';
export type { PolicySource } from './policy-source.js';
export { MatchedBy, SubscriberMatch } from './subscribers/subscriber-match.js';
