/** One open connection, as its listener sees it. */
export interface Connection {
  /** When the last whole query came or answer went, by the listener's clock. */
  readonly lastActiveMs: number;
  /** Reads no more; closes when what was read is answered. */
  drain(): void;
  destroy(): void;
}
