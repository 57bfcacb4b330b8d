/** One open connection, from the point of view of its listener. */
export interface Connection {
  /** Time of the last complete query or answer, on the clock of the listener. */
  readonly lastActiveMs: number;
  /** Reads no more; closes when everything that was read is answered. */
  drain(): void;
  destroy(): void;
}
