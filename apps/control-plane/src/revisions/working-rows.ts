/** What the changes of a group did to one row. Null: there is no such row. */
export interface RowChange<R> {
  readonly before: R | null;
  readonly after: R | null;
}

/** Rows by key: as they are stored, and as the changes of a group left them. */
export class WorkingRows<R> {
  /** Every key that was asked for. Null: no such row. */
  private readonly stored = new Map<string, R | null>();
  private readonly current = new Map<string, R | null>();

  /** A key whose row, if there is one, `load` will bring. */
  need(key: string): void {
    this.stored.set(key, null);
  }

  get neededKeys(): Iterable<string> {
    return this.stored.keys();
  }

  load(key: string, row: R): void {
    this.stored.set(key, row);
  }

  get(key: string): R | null {
    const current = this.current.get(key);
    if (current !== undefined) return current;
    const stored = this.stored.get(key);
    if (stored === undefined) throw new Error('a change did not name what it needs');
    return stored;
  }

  /** @param row null deletes it. */
  set(key: string, row: R | null): void {
    this.current.set(key, row);
  }

  /** The rows that are not as they are stored. */
  changes(): RowChange<R>[] {
    return Array.from(this.current, ([key, after]) => {
      return { before: this.stored.get(key) ?? null, after };
    }).filter(({ before, after }) => before !== after);
  }
}
