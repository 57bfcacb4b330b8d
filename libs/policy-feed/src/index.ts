export {
  type FollowedPolicy,
  followPolicy,
  type FollowPolicyOptions,
  type OwnStatus,
} from './follow-policy.js';
export { PolicyTarget, type PolicyTargetOptions } from './policy-target.js';
export * from './state.js';
