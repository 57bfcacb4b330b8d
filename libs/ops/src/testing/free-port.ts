import { findFreePort } from '../free-port.js';

/** A port of this test alone, free for UDP and TCP. */
export function freePort(): Promise<number> {
  // Below the kernel's range for outgoing connections, which would take the port on all addresses.
  return findFreePort([20_000, 31_999]);
}
