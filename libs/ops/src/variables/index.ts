export { isBlockedPort } from './blocked-ports.js';
export type { VariableOptions } from './define-variable.js';
export { type Endpoint, showUpstream, type TlsPeer, type UpstreamEndpoint } from './endpoint.js';
export * from './network-kinds.js';
export * from './plain-kinds.js';
export * from './reference.js';
export * from './secret-kinds.js';
export * from './variable.js';
