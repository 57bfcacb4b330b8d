/** Numbers of the Linux headers; the same on x64 and arm64. */

export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_DGRAM = 2;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_RCVBUF = 8;
export const SO_RCVTIMEO = 20;
export const SO_SNDTIMEO = 21;
export const SO_REUSEPORT = 15;
export const SO_ATTACH_REUSEPORT_CBPF = 51;
/** Numbers about the memory of a socket, among them its drops. */
export const SO_MEMINFO = 55;
export const SK_MEMINFO_DROPS = 8;
export const SK_MEMINFO_VARS = 9;
export const IPPROTO_IP = 0;
export const IP_PKTINFO = 8;
export const IPPROTO_IPV6 = 41;
export const IPV6_V6ONLY = 26;
export const IPV6_RECVPKTINFO = 49;
export const IPV6_PKTINFO = 50;

export const POLLIN = 1;

export const MSG_TRUNC = 0x20;
export const MSG_DONTWAIT = 0x40;
/** recvmmsg only: waits for the first datagram, then takes what has arrived. */
export const MSG_WAITFORONE = 0x10000;

export const EAGAIN = 11;
export const EINTR = 4;
export const EDESTADDRREQ = 89;
