export { type PrivateRedis, startPrivateRedis } from './private-redis.js';
