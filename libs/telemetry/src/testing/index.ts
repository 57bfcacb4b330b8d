export { OtlpReceiver, type ReceivedMetric, type ReceivedSpan } from './otlp-receiver.js';
export { loadedModulesHook } from './loaded-modules.js';
