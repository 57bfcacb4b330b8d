export { BatchReceiver, discard, MAX_DATAGRAM_BYTES } from './batch-receiver.js';
export { BatchSender } from './batch-sender.js';
export { MSG_DONTWAIT, MSG_WAITFORONE } from './constants.js';
export { kernelDropsOf } from './kernel-drops.js';
export { PortSpread } from './port-spread.js';
export { ROUTE_WORDS, routeTo } from './route.js';
export { SocketPoller } from './socket-poller.js';
export { loadSystemCalls, SystemError, type SystemCalls } from './system-calls.js';
export { BATCH, UdpSocket, type UdpSocketHandle, type UdpSocketOptions } from './udp-socket.js';
