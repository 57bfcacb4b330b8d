export {
  type CatalogueIndex,
  type CategoryInfo,
  type CategoryRewrite,
  type Purpose,
  PURPOSES,
} from './catalogue-index.js';
export { type Client, ClientAddress, readIpv4, readIpv6, UNKNOWN_PORT } from './client-address.js';
export { Decision, isOfOrders, NO_TTL_CAP, Reason, Verdict } from './decision.js';
export { ChunkMemory } from './memory/chunk-memory.js';
export { countAsHeap, sharedBytes } from './memory/heap-weight.js';
export { Policy } from './policy.js';
export { type Explanation, PolicyReader, type PolicySource } from './policy-reader.js';
export { timelineOf } from './schedules/timeline.js';
export type { StepVerdict } from './rule-evaluator.js';
export { MatchedBy, SubscriberMatch } from './subscribers/subscriber-lookup.js';
export {
  type Invitation,
  type PolicyMessage,
  SharedPolicyWriter,
} from './sharing/shared-policy-writer.js';
export { createReaderLock, ReadSide, WriteSide } from './sharing/reader-lock.js';
export { SharedPolicy } from './sharing/shared-policy.js';
