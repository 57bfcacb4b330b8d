export { OtlpReceiver, type ReceivedMetric, type ReceivedSpan } from './otlp-receiver.js';
export { LOADED_MODULES_HOOK } from './loaded-modules.js';
