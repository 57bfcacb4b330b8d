/** Lets many pass together, or one alone. */
export class Gate {
  private inside = 0;
  private closed: Promise<void> | null = null;
  private emptied: () => void = () => undefined;

  async together<T>(task: () => Promise<T>): Promise<T> {
    while (this.closed !== null) await this.closed;
    this.inside++;
    try {
      return await task();
    } finally {
      if (--this.inside === 0) this.emptied();
    }
  }

  /** Waits for those inside; nobody else comes in meanwhile. One caller only. */
  async alone<T>(task: () => Promise<T>): Promise<T> {
    let open: () => void = () => undefined;
    this.closed = new Promise((resolve) => {
      open = resolve;
    });
    try {
      if (this.inside > 0) {
        await new Promise<void>((resolve) => {
          this.emptied = resolve;
        });
      }
      return await task();
    } finally {
      this.closed = null;
      this.emptied = () => undefined;
      open();
    }
  }
}
