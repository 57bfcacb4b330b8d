export { registerFeedMetrics } from './feed-metrics.js';
export { FEED_VARIABLES, type FeedConfiguration } from './feed-variables.js';
export { type FollowedPolicy, followPolicy, type FollowPolicyOptions } from './follow-policy.js';
export { PolicyTarget, type PolicyTargetOptions } from './policy-target.js';
