/** Many shared holders at a time, or one exclusive holder. Exclusive ones wait for each other. */
export class ReadWriteLock {
  private sharedHolders = 0;
  private closed: Promise<void> | null = null;
  private emptied: () => void = () => undefined;

  async shared<T>(task: () => Promise<T>): Promise<T> {
    while (this.closed !== null) await this.closed;
    this.sharedHolders++;
    try {
      return await task();
    } finally {
      if (--this.sharedHolders === 0) this.emptied();
    }
  }

  /** Waits for the shared holders. New ones wait until the task is done. */
  async exclusive<T>(task: () => Promise<T>): Promise<T> {
    while (this.closed !== null) await this.closed;
    let open: () => void = () => undefined;
    this.closed = new Promise((resolve) => {
      open = resolve;
    });
    try {
      if (this.sharedHolders > 0) {
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
