import type { Applied } from '@weir/change-feed';

/** A result together with the revision of the configuration that it belongs to. */
export class WithRevision<T> {
  constructor(
    readonly result: T,
    /** Of a change: the revision that it made. Of a read: the revision that was read. */
    readonly revision: number,
    /** How many resolvers have applied the change; null for a read. */
    readonly applied: Applied | null = null,
  ) {}

  map<U>(convert: (result: T) => U): WithRevision<U> {
    return new WithRevision(convert(this.result), this.revision, this.applied);
  }
}
