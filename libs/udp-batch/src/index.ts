export { BatchReceiver, discard, MAX_DATAGRAM_BYTES } from './batch-receiver.js';
export { BatchSender } from './batch-sender.js';
export { MSG_DONTWAIT } from './linux.js';
export { returnFreedBlocks, useHugePages } from './memory.js';
export { kernelDropsOf, BATCH, UdpSocket, type UdpSocketHandle } from './udp-socket.js';
export { PortSpread } from './port-spread.js';
export { ROUTE_WORDS, routeTo } from './socket-address.js';
export { SocketPoller } from './socket-poller.js';
export { loadSystemCalls, SystemError, type SystemCalls } from './system-calls.js';
