export { type FollowedPolicy, followPolicy, type OwnStatus } from './follow-policy.js';
export * from './state.js';
