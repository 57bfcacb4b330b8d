import { SK_MEMINFO_DROPS, SK_MEMINFO_VARS, SO_MEMINFO, SOL_SOCKET } from './constants.js';
import type { SystemCalls } from './system-calls.js';

/** Datagrams that the kernel has dropped because the receive buffer of the socket was full. 0 before Linux 4.12. */
export function kernelDropsOf(calls: SystemCalls, fd: number): number {
  const values = new Int32Array(SK_MEMINFO_VARS);
  const length = Int32Array.of(values.byteLength);
  calls.getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values, length);
  return values[SK_MEMINFO_DROPS] >>> 0;
}
