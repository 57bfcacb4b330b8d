export { deploymentOf, speakerOf } from './deployment.js';
export { type PrivateRedis, startPrivateRedis } from './private-redis.js';
