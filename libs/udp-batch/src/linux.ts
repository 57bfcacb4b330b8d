/** Numbers of the Linux headers; the same on x64 and arm64. */

export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_RCVBUF = 8;
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

export const EPOLL_CLOEXEC = 0x80000;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;
export const EPOLLIN = 1;

export const MADV_HUGEPAGE = 14;
/** Of malloc.h of glibc. */
export const M_MMAP_THRESHOLD = -3;

export const MSG_TRUNC = 0x20;
export const MSG_DONTWAIT = 0x40;

export const EAGAIN = 11;
export const EINTR = 4;
export const EDESTADDRREQ = 89;

/*
 * The structures of recvmmsg(2) and sendmmsg(2) on 64-bit little-endian Linux, as offsets in bytes.
 *
 *   struct mmsghdr { struct msghdr { void *name; u32 namelen; struct iovec *iov; u64 iovlen;
 *                                    void *control; u64 controllen; int flags }; u32 len }
 *   struct iovec   { void *base; u64 len }
 *   struct cmsghdr { u64 len; int level; int type }, then the data
 */

export const MESSAGE_BYTES = 64;
export const MSG_NAME = 0;
export const MSG_NAMELEN = 8;
export const MSG_IOV = 16;
export const MSG_IOVLEN = 24;
export const MSG_CONTROL = 32;
export const MSG_CONTROLLEN = 40;
/** Length of the datagram that was received. */
export const MSG_LEN = 56;

export const IOVEC_BYTES = 16;
export const IOVEC_BASE = 0;
export const IOVEC_LEN = 8;

/** Room for a socket address of either family: `sockaddr_in6` has 28 bytes. */
export const NAME_BYTES = 32;
export const SOCKADDR_IN_BYTES = 16;
export const SOCKADDR_IN6_BYTES = 28;
export const SOCKADDR_PORT = 2;
export const SOCKADDR_IN_ADDRESS = 4;
export const SOCKADDR_IN6_ADDRESS = 8;
export const SOCKADDR_IN6_SCOPE = 24;

/** Room for one control message of either family. */
export const CONTROL_BYTES = 64;
export const CMSG_LEN = 0;
export const CMSG_LEVEL = 8;
export const CMSG_TYPE = 12;
export const CMSG_DATA = 16;

/** `struct in_pktinfo { int ifindex; in_addr spec_dst; in_addr addr }` */
export const IN_PKTINFO_BYTES = 12;
export const IN_PKTINFO_LOCAL = CMSG_DATA + 4;
/** `struct in6_pktinfo { in6_addr addr; u32 ifindex }` */
export const IN6_PKTINFO_BYTES = 20;
export const IN6_PKTINFO_LOCAL = CMSG_DATA;
export const IN6_PKTINFO_IFINDEX = CMSG_DATA + 16;

/** Space of a control message, padded to 8 bytes (`CMSG_SPACE`). */
export function controlSpace(dataBytes: number): number {
  return CMSG_DATA + Math.ceil(dataBytes / 8) * 8;
}
