export { ControlPlane, FEED_TOKEN } from './control-plane.js';
export { domainRule, HASH_KEY_HEX, loopback, policyOf, profile, put } from './policies.js';
