export { ClientAddress, readIpv4, readIpv6, UNKNOWN_PORT } from '@weir/policy';
export * from './connection-counts.js';
export * from './connections.js';
export * from './incident.js';
export {
  BAD_PROXY_HEADER,
  canBeProxyHeader,
  PARTIAL_PROXY_HEADER,
  readProxyHeader,
} from './proxy-header.js';
export * from './proxy-header-reader.js';
export { RateTable } from './rate-table.js';
export { SubscriberKey } from './subscriber-key.js';
