export { type FollowedPolicy, followPolicy, type FollowPolicyOptions } from './follow-policy.js';
export { PolicyTarget, type PolicyTargetOptions } from './policy-target.js';
export * from './state.js';
