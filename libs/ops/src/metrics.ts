// Health, metrics and their server. Apart, because prom-client takes two megabytes of each thread that loads it.
export * from './ops-calls.js';
export * from './ops-server.js';
export * from './read-metrics.js';
export { registerRuntimeMetrics } from './runtime-metrics.js';
