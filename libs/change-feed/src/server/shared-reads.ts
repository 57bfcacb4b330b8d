/** A read that is under way. */
interface Read<V> {
  readonly ended: Promise<unknown>;
  /** The read after it, for those that have asked meanwhile. */
  next: Promise<V> | null;
}

/**
 * Many that ask for the same at once share a few reads. Each gets a read that began after it asked, so it never sees
 * less than it would see alone.
 */
export class SharedReads<K, V> {
  private readonly current = new Map<K, Read<V>>();

  constructor(private readonly readNow: (key: K) => Promise<V>) {}

  read(key: K): Promise<V> {
    const current = this.current.get(key);
    if (current === undefined) return this.begin(key);
    current.next ??= current.ended.then(() => this.begin(key));
    return current.next;
  }

  private begin(key: K): Promise<V> {
    const read = this.readNow(key);
    const end = (): void => {
      this.current.delete(key);
    };
    this.current.set(key, { next: null, ended: read.then(end, end) });
    return read;
  }
}
