export { ClientAddress, readIpv4, readIpv6, UNKNOWN_PORT } from '@weir/policy';
export {
  type Connection,
  ConnectionPool,
  type ConnectionPoolOptions,
  type PooledConnection,
} from './connections.js';
export { type Incident, IncidentSeal } from './incident.js';
export {
  BAD_PROXY_HEADER,
  canBeProxyHeader,
  PARTIAL_PROXY_HEADER,
  readProxyHeader,
} from './proxy-header.js';
export { ProxyHeaderReader, type ProxyHeaderReaderOptions } from './proxy-header-reader.js';
export { RateTable } from './rate-table.js';
export { SubscriberKey } from './subscriber-key.js';
