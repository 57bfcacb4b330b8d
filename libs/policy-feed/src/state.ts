// What other threads than that of the follower need. It loads neither Redis nor HTTP.
export { ANSWER_VARIABLES } from './answer-variables.js';
export { BRAND_VARIABLES } from './brand-variables.js';
export { registerFeedMetrics } from './feed-metrics.js';
export { agedState, type FeedState, whatIsDegraded, whyNotReady } from './feed-state.js';
export { FEED_VARIABLES, type FeedConfiguration } from './feed-variables.js';
