export * from './arbitraries.js';
export * from './policy-oracle.js';
export { WallClock } from './wall-clock.js';
