/** Counts the open connections of all listeners: over TCP, TLS and HTTPS, on all addresses. */
export class ConnectionTotal {
  private open = 0;

  constructor(private readonly maxConnections: number) {}

  /** Whether so many are open that idle ones should go earlier (RFC 7766 §6.2.3). */
  get isHalfFull(): boolean {
    return this.open * 2 > this.maxConnections;
  }

  /** Counts one more. @returns false (nothing is counted) when the limit is reached */
  acquire(): boolean {
    if (this.open >= this.maxConnections) return false;
    this.open++;
    return true;
  }

  release(): void {
    this.open--;
  }
}
