export { ClientAddress } from './client-address.js';
export { ClientConnections } from './client-connections.js';
export type { Connection } from './connection.js';
export {
  BAD_PROXY_HEADER,
  mayBeProxyHeader,
  PARTIAL_PROXY_HEADER,
  readProxyHeader,
} from './proxy-header.js';
export { ProxyPreface, type ProxyPrefaceOptions } from './proxy-preface.js';
export { RateTable } from './rate-table.js';
export { SubscriberKey } from './subscriber-key.js';
