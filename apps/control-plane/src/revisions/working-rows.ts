/** What the changes of a group did to one row. Null: there is no such row. */
export interface RowChange<R> {
  readonly before: R | null;
  readonly after: R | null;
}

/** Rows by key: as they are stored, and as the changes of a group left them. */
export class WorkingRows<R, K extends string | number = string> {
  /** Every key that was asked for. Null: no such row. */
  private readonly stored = new Map<K, R | null>();
  private readonly current = new Map<K, R | null>();

  /** A key whose row, if there is one, `load` will bring. */
  need(key: K): void {
    this.stored.set(key, null);
  }

  get neededKeys(): K[] {
    return [...this.stored.keys()];
  }

  load(key: K, row: R): void {
    this.stored.set(key, row);
  }

  get(key: K): R | null {
    const current = this.current.get(key);
    if (current !== undefined) return current;
    const stored = this.stored.get(key);
    if (stored === undefined) throw new Error('a change did not name what it needs');
    return stored;
  }

  /** @param row null deletes it. */
  set(key: K, row: R | null): void {
    this.current.set(key, row);
  }

  /** The rows that are not as they are stored. */
  changes(): RowChange<R>[] {
    return Array.from(this.current, ([key, after]) => {
      return { before: this.stored.get(key) ?? null, after };
    }).filter(({ before, after }) => before !== after);
  }

  /** The same rows by what is to be done with them: those to delete as they are stored, the others as they will be. */
  split(): { deleted: R[]; inserted: R[]; replaced: R[] } {
    const deleted: R[] = [];
    const inserted: R[] = [];
    const replaced: R[] = [];
    for (const [key, after] of this.current) {
      const before = this.stored.get(key) ?? null;
      if (after === before) continue;
      if (after !== null) (before === null ? inserted : replaced).push(after);
      else if (before !== null) deleted.push(before);
    }
    return { deleted, inserted, replaced };
  }
}
