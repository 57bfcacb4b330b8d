export { loadSystemCalls, SystemError, type SystemCalls } from './system-calls.js';
export { ROUTE_WORDS } from './route.js';
export { UdpBatchSocket, type UdpBatchOptions } from './udp-batch-socket.js';
