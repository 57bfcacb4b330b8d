/** How many connections each client has open, over all stream transports. */
export class ClientConnections {
  /** Of each client that has any. */
  private readonly counts = new Map<string, number>();

  /** @param most connections that one client may have */
  constructor(private readonly most: number) {}

  /** Counts one more. @returns false, and counts nothing, when it is one too many. */
  enter(client: string): boolean {
    const others = this.counts.get(client) ?? 0;
    if (others >= this.most) return false;
    this.counts.set(client, others + 1);
    return true;
  }

  /** One that has entered is closed. */
  leave(client: string): void {
    const left = (this.counts.get(client) ?? 1) - 1;
    if (left === 0) this.counts.delete(client);
    else this.counts.set(client, left);
  }
}
