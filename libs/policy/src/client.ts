/**
 * The client of a query: its source address and port. Mutable, so that one object serves all queries of a thread. The
 * policy reads it during a call and keeps no reference.
 */
export interface Client {
  /** An IPv4-mapped IPv6 address is family 4 (decisions §8); the caller maps it. */
  family: 4 | 6;
  /**
   * The address in big-endian 32-bit words, most significant first: one for IPv4 (`words[0]`), four for IPv6. Length
   * 4.
   */
  readonly words: Uint32Array;
  /** Source port, 0–65535. */
  port: number;
}
