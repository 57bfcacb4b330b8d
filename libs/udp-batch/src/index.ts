export { loadSystemCalls, SystemError, type SystemCalls } from './system-calls.js';
export { addressOfRoute, portOfRoute, ROUTE_WORDS } from './route.js';
export {
  BATCH,
  MAX_DATAGRAM_BYTES,
  UdpBatchSocket,
  type UdpBatchOptions,
} from './udp-batch-socket.js';
